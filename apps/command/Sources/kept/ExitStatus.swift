// What the program's exit status says to scripts.

import Kept

enum ExitStatus: Int32, Error {
  case done = 0
  /// There is no such key; for a comparison: there are differences; for an import: done, but not with all values.
  case absent = 1
  case usage = 2
  /// The store is fine, and does not permit it.
  case refused = 3
  /// The store cannot be reached, or is damaged.
  case unavailable = 4
  /// Done, and the report of it could not be written.
  case unreported = 5

  init(_ code: StoreError.Code) {
    switch code {
    case .absent: self = .absent
    case .corrupt, .unavailable, .denied, .noSpace, .busy, .failed, .unsupported, .closed, .forked:
      self = .unavailable
    default: self = .refused
    }
  }
}
