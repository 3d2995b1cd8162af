// Opens and creates the files of a store, in a folder held by a descriptor, and only files that Kept trusts.

import CPlatform
package import KeptValues

/// An open folder: whatever happens to its path, names are looked up in this folder.
package struct OpenFolder: ~Copyable {
  package let path: String
  package let descriptor: Int32

  /// Opens a folder; nil, with errno, if that fails.
  ///
  /// Symbolic links in the path are followed, but not another user's by root.
  package init?(holding path: String) {
    let descriptor = UserLinks.hold(folder: path)
    guard descriptor >= 0 else { return nil }
    self.path = path
    self.descriptor = descriptor
  }

  /// Opens a folder that belongs to the user and that no other user may write.
  package static func own(_ path: String) throws(StoreError) -> OpenFolder {
    guard let folder = OpenFolder(holding: path) else { throw .system("open the folder", path) }
    try Trust.check(ownFolder: try folder.status(), path)
    return folder
  }

  /// Duplicates the descriptor.
  package func again() throws(StoreError) -> OpenFolder {
    let copy = kept_hold_at(descriptor, ".", O_DIRECTORY)
    guard copy >= 0 else { throw .system("open the folder", path) }
    return OpenFolder(path, taking: copy)
  }

  /// Opens a folder inside it, without following links; nil, with errno, if that fails.
  package func enter(_ name: String) -> OpenFolder? {
    let entered = kept_hold_at(descriptor, name, O_DIRECTORY | O_NOFOLLOW)
    return entered >= 0 ? OpenFolder(path + "/" + name, taking: entered) : nil
  }

  /// Takes ownership of a descriptor.
  package init(_ path: String, taking descriptor: Int32) {
    self.path = path
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  package func status() throws(StoreError) -> FileStatus {
    guard let status = FileStatus(of: descriptor) else { throw .system("access", path) }
    return status
  }

  /// The status of a name in it; nil, with errno, if there is none.
  package func status(of name: String, hasTimes: Bool = true) -> FileStatus? {
    FileStatus(of: name, in: descriptor, hasTimes: hasTimes)
  }

  /// Opens a file of the store; nil if it does not exist.
  ///
  /// Throws `unavailable` if it is not a regular file, and `denied` if it does not belong to the user, others may write
  /// it, or it has another name.
  package func open(_ name: String, _ access: Int32) throws(StoreError) -> Int32? { try open(name, access, Self.check) }

  /// Opens a file that a check accepts; nil if it does not exist.
  ///
  /// - Parameter check: throws if a file with this status, at this path, must not be opened.
  package func open(
    _ name: String, _ access: Int32, _ check: (FileStatus, String) throws(StoreError) -> Void
  ) throws(StoreError) -> Int32? {
    let place = path + "/" + name
    // Checked before opening, so that no device is opened.
    guard let before = status(of: name) else {
      guard kept_errno() == ENOENT else { throw .system("access", place) }
      return nil
    }
    try check(before, place)
    let file = kept_open_at(descriptor, name, access, 0)
    guard file >= 0 else {
      if kept_errno() == ENOENT { return nil }
      throw .system("open", place)
    }
    do throws(StoreError) {
      guard let status = FileStatus(of: file) else { throw .system("access", place) }
      try check(status, place)
      return file
    } catch {
      close(file)
      throw error
    }
  }

  /// Opens a file of the store, and creates it empty if it does not exist.
  package func openOrMake(_ name: String, _ access: Int32) throws(StoreError) -> Int32 {
    for _ in 1...100 {
      if let file = try open(name, access) { return file }
      let made = kept_make_at(descriptor, name)
      if made >= 0 { return made }
      guard kept_errno() == EEXIST else { throw .system("create the file", path + "/" + name) }
    }
    throw StoreError(.busy, "\(shown: path)/\(name) keeps appearing and disappearing; try again")
  }

  /// Creates a file of mode 0600 that does not exist yet.
  package func make(_ name: String) throws(StoreError) -> Int32 {
    let file = kept_make_at(descriptor, name)
    guard file >= 0 else { throw .system("create a file in", path) }
    return file
  }

  package func remove(_ name: String) { unlinkat(descriptor, name, 0) }

  /// Creates a folder of mode 0700 that does not exist yet, and opens it.
  package func makeFolder(_ name: String) throws(StoreError) -> OpenFolder {
    let place = path + "/" + name
    guard kept_make_folder_at(descriptor, name) == 0 else { throw .system("create a folder in", path) }
    let made = kept_hold_at(descriptor, name, O_DIRECTORY | O_NOFOLLOW)
    guard made >= 0 else { throw .system("open the folder", place) }
    let folder = OpenFolder(place, taking: made)
    // If others may write the parent, they could have replaced the new folder.
    try Trust.check(ownFolder: try folder.status(), place)
    return folder
  }

  package func removeFolder(_ name: String) { unlinkat(descriptor, name, AT_REMOVEDIR) }

  /// Renames a draft in this folder, or in another folder of the same file system.
  ///
  /// Returns false, with the draft still there, if the name exists already.
  package func putInPlace(_ draft: String, of source: Int32? = nil, as name: String) throws(StoreError) -> Bool {
    if kept_rename_new_at(source ?? descriptor, draft, descriptor, name) == 0 { return true }
    guard kept_errno() == EEXIST else { throw .system("put \(name) into", path) }
    return false
  }

  /// Syncs the names in the folder to the disk.
  package func sync() throws(StoreError) {
    let folder = kept_open_at(descriptor, ".", O_RDONLY, 0)
    guard folder >= 0 else { throw .system("open", path) }
    defer { close(folder) }
    guard kept_sync(folder) == 0 else { throw .system("sync", path) }
  }

  /// The names in the folder, in no order; those that are not UTF-8 are left out.
  package func names() throws(StoreError) -> [String] {
    let opened = kept_open_at(descriptor, ".", O_RDONLY | O_DIRECTORY, 0)
    guard opened >= 0, let listing = fdopendir(opened) else {
      let error = kept_errno()
      close(opened)
      throw .system("list", path, errno: error)
    }
    defer { closedir(listing) }
    var names: [String] = []
    while let name = kept_next_name(listing) {
      let bytes = UnsafeRawBufferPointer(start: name, count: strlen(name))
      if let text = String(exactly: bytes.bindMemory(to: UInt8.self)) { names.append(text) }
    }
    guard kept_errno() == 0 else { throw .system("list", path) }
    return names
  }

  private static func check(_ file: FileStatus, _ place: String) throws(StoreError) {
    try Trust.check(ownFile: file, place)
    try Trust.check(oneName: file, place)
  }
}
