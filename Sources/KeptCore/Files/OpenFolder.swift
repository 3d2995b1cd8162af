// How files of a store are opened and made: in a folder that is held by a descriptor, and only such as Kept trusts.

import CPlatform

/// A folder that is held: whatever happens to its path, names are looked up in this one.
struct OpenFolder: ~Copyable {
  let path: String
  let descriptor: Int32

  /// Holds a folder; nil, with errno, where that fails.
  ///
  /// Links that lead to it are followed.
  init?(holding path: String) {
    let descriptor = kept_hold_at(AT_FDCWD, path, O_DIRECTORY)
    guard descriptor >= 0 else { return nil }
    self.path = path
    self.descriptor = descriptor
  }

  /// Holds a folder of the user's own, to which no other user may write.
  static func own(_ path: String) throws(StoreError) -> OpenFolder {
    guard let folder = OpenFolder(holding: path) else { throw .system("open the folder", path) }
    try Trust.check(ownFolder: try folder.status(), path)
    return folder
  }

  /// Holds it a second time.
  func again() throws(StoreError) -> OpenFolder {
    let copy = kept_hold_at(descriptor, ".", O_DIRECTORY)
    guard copy >= 0 else { throw .system("open the folder", path) }
    return OpenFolder(path, taking: copy)
  }

  /// Holds a folder in it, through no link; nil, with errno, where that fails.
  func enter(_ name: String) -> OpenFolder? {
    let entered = kept_hold_at(descriptor, name, O_DIRECTORY | O_NOFOLLOW)
    return entered >= 0 ? OpenFolder(path + "/" + name, taking: entered) : nil
  }

  /// Takes over a descriptor.
  init(_ path: String, taking descriptor: Int32) {
    self.path = path
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  func status() throws(StoreError) -> FileStatus {
    guard let status = FileStatus(of: descriptor) else { throw .system("look at", path) }
    return status
  }

  /// What has a name in it; nil, with errno, where nothing has.
  func status(of name: String) -> FileStatus? { FileStatus(of: name, in: descriptor) }

  /// Opens a file of the store; nil where there is none.
  ///
  /// Throws `unavailable` for what is no regular file, and `denied` for one that is not the user's own, that others may
  /// write, or that has another name.
  func open(_ name: String, _ access: Int32) throws(StoreError) -> Int32? {
    let place = path + "/" + name
    // Looked at first: a descriptor of a file that is in use elsewhere must not be closed.
    guard let before = status(of: name) else {
      guard kept_errno() == ENOENT else { throw .system("look at", place) }
      return nil
    }
    try Self.check(before, place)
    let file = kept_open_at(descriptor, name, access, 0)
    guard file >= 0 else {
      if kept_errno() == ENOENT { return nil }
      throw .system("open", place)
    }
    do throws(StoreError) {
      guard let status = FileStatus(of: file) else { throw .system("look at", place) }
      try Self.check(status, place)
      return file
    } catch {
      close(file)
      throw error
    }
  }

  /// The same, and the file is made, empty, where there is none.
  func openOrMake(_ name: String, _ access: Int32) throws(StoreError) -> Int32 {
    for _ in 1...100 {
      if let file = try open(name, access) { return file }
      let made = kept_make_at(descriptor, name)
      if made >= 0 { return made }
      guard kept_errno() == EEXIST else { throw .system("make the file", path + "/" + name) }
    }
    throw StoreError(.busy, "\(path)/\(name) comes and goes all the time; try again")
  }

  /// Makes a file of mode 0600 that is not there yet.
  func make(_ name: String) throws(StoreError) -> Int32 {
    let file = kept_make_at(descriptor, name)
    guard file >= 0 else { throw .system("make a file in", path) }
    return file
  }

  func remove(_ name: String) { unlinkat(descriptor, name, 0) }

  /// Makes a folder of mode 0700 that is not there yet, and holds it.
  func makeFolder(_ name: String) throws(StoreError) -> OpenFolder {
    let place = path + "/" + name
    guard kept_make_folder_at(descriptor, name) == 0 else { throw .system("make a folder in", path) }
    let made = kept_hold_at(descriptor, name, O_DIRECTORY | O_NOFOLLOW)
    guard made >= 0 else { throw .system("open the folder", place) }
    let folder = OpenFolder(place, taking: made)
    // Where others may write, they could have put another one there.
    try Trust.check(ownFolder: try folder.status(), place)
    return folder
  }

  func removeFolder(_ name: String) { unlinkat(descriptor, name, AT_REMOVEDIR) }

  /// Gives a draft in this folder, or in another one of the same file system, its name; false, with the draft still
  /// there, if something has that name already.
  func putInPlace(_ draft: String, of source: Int32? = nil, as name: String) throws(StoreError) -> Bool {
    if kept_rename_new_at(source ?? descriptor, draft, descriptor, name) == 0 { return true }
    guard kept_errno() == EEXIST else { throw .system("put \(name) into", path) }
    return false
  }

  /// Brings the names in it to the disk.
  func sync() throws(StoreError) {
    let folder = kept_open_at(descriptor, ".", O_RDONLY, 0)
    guard folder >= 0 else { throw .system("open", path) }
    defer { close(folder) }
    guard fsync(folder) == 0 else { throw .system("sync", path) }
  }

  private static func check(_ file: FileStatus, _ place: String) throws(StoreError) {
    try Trust.check(ownFile: file, place)
    try Trust.check(oneName: file, place)
  }
}
