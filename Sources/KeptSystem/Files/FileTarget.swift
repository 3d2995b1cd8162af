// A path that Kept writes a file to: an export or a backup. Only a regular file is ever replaced there, and never a
// file of a store.

import CPlatform
package import KeptValues

/// A name in an open folder.
package struct FileTarget: ~Copyable {
  package let path: String
  /// The folder, with a path without symbolic links.
  package let folder: OpenFolder
  private let name: String

  package init(_ path: String) throws(StoreError) {
    guard !path.isEmpty, !path.utf8.contains(0), !path.ends(with: "/") else {
      throw StoreError(.invalid, "\"\(path)\" is not the path of a file: it is empty, contains a NUL or ends in /")
    }
    let parent = PathWalk.parent(of: path)
    guard let resolved = try UserLinks.resolve(parent), let folder = OpenFolder(holding: resolved) else {
      throw .system("create a file in", parent)
    }
    try Self.checkNotInStore(path, folder)
    self.init(path, in: folder)
  }

  /// Throws `invalid` for a path whose folder is that of a store.
  package static func checkNotInStore(_ path: String, _ folder: borrowing OpenFolder) throws(StoreError) {
    for name in [StoreFiles.pulse, StoreFiles.keyFilesLock] where folder.status(of: name) != nil {
      throw StoreError(.invalid, "\(shown: path) is in the folder of a store; choose a path elsewhere")
    }
  }

  /// A file in an open folder, which may be the folder of a store.
  package init(_ path: String, in folder: consuming OpenFolder) {
    self.path = path
    self.folder = folder
    name = String(path.utf8.split(separator: UInt8(ascii: "/")).last.map { Substring($0) } ?? "")
  }

  /// Throws `invalid` if the path has something that must not be replaced.
  package func check(replacing: Bool) throws(StoreError) {
    let held = kept_hold_at(folder.descriptor, name, O_NOFOLLOW)
    guard held >= 0 else {
      guard kept_errno() == ENOENT else { throw .system("access", path) }
      return
    }
    defer { close(held) }
    guard let status = FileStatus(of: held) else { throw .system("access", path) }
    if let other = status.otherKind {
      throw StoreError(.invalid, "\(shown: path) is \(other), which cannot be replaced; use another path")
    }
    guard replacing else {
      throw StoreError(.invalid, "\(shown: path) already exists; choose another path or allow replacing it")
    }
  }

  /// Renames a draft in this folder, or in another folder of the same file system, to the target name.
  package func place(_ draft: String, of source: Int32? = nil, replacing: Bool) throws(StoreError) {
    try check(replacing: replacing)
    if replacing {
      guard renameat(source ?? folder.descriptor, draft, folder.descriptor, name) == 0 else {
        throw .system("put the file at", path)
      }
    } else if try !folder.putInPlace(draft, of: source, as: name) {
      try check(replacing: false)
    }
  }

  package func remove() { folder.remove(name) }
}
