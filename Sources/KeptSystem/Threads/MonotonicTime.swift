// Monotonic time, for timeouts. No test depends on how much of it passes.

import CPlatform
package import KeptValues

package enum MonotonicTime {
  /// Milliseconds since a fixed point in time.
  package static var milliseconds: Int64 { nanoseconds(CLOCK_MONOTONIC) / 1_000_000 }

  /// Seconds since 1970, by the clock of the machine.
  package static var secondsSince1970: Int64 { nanoseconds(CLOCK_REALTIME) / 1_000_000_000 }

  /// Nanoseconds since 1970, by the clock of the machine.
  package static var nanosecondsSince1970: Int64 { nanoseconds(CLOCK_REALTIME) }

  private static func nanoseconds(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return kept_nanoseconds(Int64(time.tv_sec), Int64(time.tv_nsec))
  }

  /// Sleeps for a short random time, longer with each attempt, so that conflicting writers do not collide again.
  package static func backOff(attempt: Int) {
    let ceiling: Int = 20_000 << min(attempt, 8)
    letPass(microseconds: .random(in: 0...ceiling) / 1000)
  }

  package static func letPass(microseconds: Int) {
    var pause = timespec(tv_sec: microseconds / 1_000_000, tv_nsec: microseconds % 1_000_000 * 1000)
    nanosleep(&pause, nil)
  }
}

extension Timestamp {
  /// The present, by the clock of the machine.
  package static var now: Timestamp { Timestamp(nanosecondsSince1970: MonotonicTime.nanosecondsSince1970) }
}
