// The users that Kept trusts with files. docs/decisions/08-trust-and-secrets.md states the rules; every refusal names
// the file, what was found and what to do.

import CPlatform

enum Trust {
  /// The user that this process acts as.
  static var user: uid_t { geteuid() }

  /// Throws unless a folder belongs to the user and no one else may write it.
  static func check(ownFolder folder: FileStatus, _ path: String) throws(StoreError) {
    guard folder.owner == user else {
      throw StoreError(
        .denied,
        "\(path) belongs to the user with the id \(folder.owner), and this process acts as \(user); "
          + "give a folder of its own")
    }
    try check(sharedFolder: folder, path)
  }

  /// Throws if users other than a folder's owner may write to it.
  static func check(sharedFolder folder: FileStatus, _ path: String) throws(StoreError) {
    guard !folder.othersMayWrite else {
      throw StoreError(
        .denied,
        "other users may write to the folder \(path) (mode \(folder.octalMode)), and could exchange what is in it; "
          + "chmod go-w it")
    }
  }

  /// Throws unless a file is a regular file.
  static func check(regular file: FileStatus, _ path: String) throws(StoreError) {
    guard let other = file.otherKind else { return }
    throw StoreError(.unavailable, "\(path) is \(other), not a regular file; move it away")
  }

  /// Throws unless a file is a regular file that belongs to the user and no one else may write it.
  static func check(ownFile file: FileStatus, _ path: String) throws(StoreError) {
    try check(regular: file, path)
    guard file.owner == user else {
      throw StoreError(
        .denied,
        "\(path) belongs to the user with the id \(file.owner), and this process acts as \(user); "
          + "give it to the folder's owner, or move it away")
    }
    try check(sharedFile: file, path)
  }

  /// Throws if users other than a file's owner may write it.
  static func check(sharedFile file: FileStatus, _ path: String) throws(StoreError) {
    guard !file.othersMayWrite else {
      throw StoreError(.denied, "other users may write \(path) (mode \(file.octalMode)); chmod go-w it")
    }
  }

  /// Throws unless a file in another user's folder is regular and trusted.
  ///
  /// It must belong to that user, to root or to the user of this process, and no one else may write it.
  static func check(sharedFile file: FileStatus, _ path: String, ofFolder folder: FileStatus) throws(StoreError) {
    try check(regular: file, path)
    try check(shared: file, path, ofFolder: folder)
  }

  /// Does the same check for a file or a folder.
  static func check(shared file: FileStatus, _ path: String, ofFolder folder: FileStatus) throws(StoreError) {
    try check(sharedFile: file, path)
    guard file.owner == folder.owner || file.owner == 0 || file.owner == user else {
      throw StoreError(
        .denied,
        "\(path) belongs to the user with the id \(file.owner), and its folder to \(folder.owner); "
          + "give both to the same user")
    }
  }

  /// Throws if a file has a second name, under which other programs may open it without the files beside it.
  static func check(oneName file: FileStatus, _ path: String) throws(StoreError) {
    guard !file.hasOtherNames else {
      throw StoreError(
        .denied, "\(path) has another name (a hard link), under which it could be changed; remove that name")
    }
  }
}
