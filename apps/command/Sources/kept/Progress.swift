// A bar on standard error while something long goes on; only on a terminal, and only after a short time.

import Glibc
import Kept

enum Progress {
  static func bar(_ name: String) -> TransferProgress? {
    guard isatty(2) == 1 else { return nil }
    let began = Clock.seconds
    return { done, total in
      guard total > 0, Clock.seconds - began > 0.3 else { return true }
      let width = 30
      let full = width * done / total
      let bar = String(repeating: "█", count: full) + String(repeating: "░", count: width - full)
      let end = done == total ? "\r\u{1B}[K" : ""
      let text = "\r\(name) \(bar) \(100 * done / total) %\(end)"
      _ = text.utf8.withContiguousStorageIfAvailable { Glibc.write(2, $0.baseAddress, $0.count) }
      return true
    }
  }
}

enum Clock {
  /// The seconds of a clock that cannot be set back.
  static var seconds: Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
