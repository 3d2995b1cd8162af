// A path that Kept writes a file to: an export or a backup. Only a regular file is ever replaced there, and never a
// file of a store.

import CPlatform

/// A name in an open folder.
struct FileTarget: ~Copyable {
  let path: String
  /// The folder, with a path without symbolic links.
  let folder: OpenFolder
  private let name: String

  init(_ path: String) throws(StoreError) {
    guard !path.isEmpty, !path.utf8.contains(0), !path.ends(with: "/") else {
      throw StoreError(.invalid, "\"\(path)\" is not the path of a file: it is empty, holds a NUL or ends in /")
    }
    let parent = PathWalk.parent(of: path)
    guard let resolved = try UserLinks.resolve(parent), let folder = OpenFolder(holding: resolved) else {
      throw .system("make a file in", parent)
    }
    try Self.checkNotInStore(path, folder)
    self.init(path, in: folder)
  }

  /// Throws `invalid` for a path whose folder is that of a store.
  static func checkNotInStore(_ path: String, _ folder: borrowing OpenFolder) throws(StoreError) {
    for name in [StoreFiles.database, StoreFiles.keyFilesLock] where folder.status(of: name) != nil {
      throw StoreError(.invalid, "\(path) is in the folder of a store; give a path elsewhere")
    }
  }

  /// A file in an open folder, which may be the folder of a store.
  init(_ path: String, in folder: consuming OpenFolder) {
    self.path = path
    self.folder = folder
    name = String(path.utf8.split(separator: UInt8(ascii: "/")).last.map { Substring($0) } ?? "")
  }

  /// Throws `invalid` if the path has something that must not be replaced.
  func check(replacing: Bool) throws(StoreError) {
    let held = kept_hold_at(folder.descriptor, name, O_NOFOLLOW)
    guard held >= 0 else {
      guard kept_errno() == ENOENT else { throw .system("look at", path) }
      return
    }
    defer { close(held) }
    guard let status = FileStatus(of: held) else { throw .system("look at", path) }
    if let other = status.otherKind {
      throw StoreError(.invalid, "\(path) is \(other), and not a file that may be replaced; give another path")
    }
    guard replacing else {
      throw StoreError(.invalid, "\(path) is there already; give another path, or say that it may be replaced")
    }
    try FilesInUse.checkForeign(status.identity, path)
  }

  /// Renames a draft in this folder, or in another folder of the same file system, to the target name.
  func place(_ draft: String, of source: Int32? = nil, replacing: Bool) throws(StoreError) {
    try check(replacing: replacing)
    if replacing {
      guard renameat(source ?? folder.descriptor, draft, folder.descriptor, name) == 0 else {
        throw .system("put the file at", path)
      }
    } else if try !folder.putInPlace(draft, of: source, as: name) {
      try check(replacing: false)
    }
  }

  func remove() { folder.remove(name) }
}
