// Errors about paths: what a failed system call means to a program that uses Kept, and what the program can do.

import CPlatform
package import KeptValues

extension StoreError {
  /// Returns the error for a path from the system that is not UTF-8: a repaired path would name another file, or none.
  package static func notUTF8(_ subject: String) -> StoreError {
    StoreError(
      .unavailable, "\(subject) is not UTF-8, and Kept accepts only UTF-8 paths; rename it, or use another path")
  }

  /// Returns the error for a system call that has just failed.
  package static func system(_ what: String, _ path: String, errno error: Int32 = kept_errno()) -> StoreError {
    let (path, words) = (FolderAnchor.shown(path), String(cString: strerror(error)))
    return switch error {
    case ENOSPC, EDQUOT:
      StoreError(
        .noSpace, "could not \(what) \(path), and nothing was changed: \(words); free some space and try again")
    case EFBIG:
      StoreError(
        .noSpace,
        "could not \(what) \(path): \(words), because this process may not write a file of this size (ulimit -f); "
          + "raise that limit"
      )
    case EACCES, EPERM, EROFS:
      StoreError(.denied, "could not \(what) \(path): \(words); check its owner and permissions")
    case ENOMEM:
      StoreError(
        .failed, "could not \(what) \(path), and nothing was changed: \(words); free some memory and try again")
    case EMFILE, ENFILE:
      StoreError(.unavailable, "could not \(what) \(path): \(words); close some files and try again")
    case EIO:
      StoreError(.unavailable, "could not \(what) \(path): \(words); check the disk")
    default:
      StoreError(.unavailable, "could not \(what) \(path): \(words); check the path")
    }
  }
}
