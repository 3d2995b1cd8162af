// The users that Kept trusts with files. docs/decisions/08-trust-and-secrets.md states the rules; every refusal names
// the file, the reason and the remedy.

package import CPlatform
package import KeptValues

package enum Trust {
  /// The user that this process acts as.
  package static var user: uid_t { geteuid() }

  /// Throws unless a folder belongs to the user and no one else may write it.
  package static func check(ownFolder folder: FileStatus, _ path: String) throws(StoreError) {
    guard folder.owner == user else {
      throw StoreError(
        .denied,
        "\(shown: path) belongs to user \(folder.owner), but this process runs as user \(user); "
          + "run the program as that user, or use another folder")
    }
    try check(sharedFolder: folder, path)
  }

  /// Throws if users other than a folder's owner may write to it.
  package static func check(sharedFolder folder: FileStatus, _ path: String) throws(StoreError) {
    guard !folder.othersMayWrite else {
      throw StoreError(
        .denied,
        "other users can write to the folder \(shown: path) (mode \(folder.octalMode)) and could replace its "
          + "contents; run chmod go-w on it")
    }
  }

  /// Throws unless a file is a regular file.
  package static func check(regular file: FileStatus, _ path: String) throws(StoreError) {
    guard let other = file.otherKind else { return }
    throw StoreError(.unavailable, "\(shown: path) is \(other), not a regular file; move it away")
  }

  /// Throws unless a file is a regular file that belongs to the user and no one else may write it.
  package static func check(ownFile file: FileStatus, _ path: String) throws(StoreError) {
    try check(regular: file, path)
    guard file.owner == user else {
      throw StoreError(
        .denied,
        "\(shown: path) belongs to user \(file.owner), but this process runs as user \(user); "
          + "change its owner to the folder's, or move it away")
    }
    try check(sharedFile: file, path)
  }

  /// Throws if users other than a file's owner may write it.
  package static func check(sharedFile file: FileStatus, _ path: String) throws(StoreError) {
    guard !file.othersMayWrite else {
      throw StoreError(
        .denied, "other users can write to \(shown: path) (mode \(file.octalMode)); run chmod go-w on it")
    }
  }

  /// Throws unless a file in another user's folder is regular and trusted.
  ///
  /// It must belong to that user, to root or to the user of this process, and no one else may write it.
  package static func check(sharedFile file: FileStatus, _ path: String, ofFolder folder: FileStatus) throws(StoreError)
  {
    try check(regular: file, path)
    try check(shared: file, path, ofFolder: folder)
  }

  /// Does the same check for a file or a folder.
  package static func check(shared file: FileStatus, _ path: String, ofFolder folder: FileStatus) throws(StoreError) {
    try check(sharedFile: file, path)
    guard file.owner == folder.owner || file.owner == 0 || file.owner == user else {
      throw StoreError(
        .denied,
        "\(shown: path) belongs to user \(file.owner), but its folder belongs to user \(folder.owner); "
          + "change its owner to the folder's")
    }
  }

  /// Throws if a file has a second name, under which other programs may open it without the files next to it.
  package static func check(oneName file: FileStatus, _ path: String) throws(StoreError) {
    guard !file.hasOtherNames else {
      throw StoreError(
        .denied, "\(shown: path) has another hard link through which it could be changed; remove that link")
    }
  }
}
