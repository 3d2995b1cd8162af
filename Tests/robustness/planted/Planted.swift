// The faults that scripts/planted plants: it copies this file into a copy of the sources, which call it, and builds a
// library of that. KEPT_PLANTED in the environment names the fault that a process has.

import CPlatform

enum Planted {
  private static let chosen = getenv("KEPT_PLANTED").flatMap { String(validatingCString: $0) }

  static func has(_ fault: String) -> Bool { chosen == fault }

  /// Lengthens the time when a fault does harm.
  static func pause(milliseconds: Int) {
    var time = timespec(tv_sec: 0, tv_nsec: milliseconds * 1_000_000)
    nanosleep(&time, nil)
  }
}
