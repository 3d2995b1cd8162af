// A store's folder, created for its owner alone.

import CPlatform
import KeptSystem
import KeptValues

/// The folder of a store.
///
/// Directories that it creates have mode 0700, files 0600.
struct StoreFolder {
  /// The path for system calls; messages to users have ``shown``.
  let path: String
  /// Holds the folder if another user could replace what its path leads to.
  let anchor: FolderAnchor?
  /// For tests: the result of `statfs`.
  var fileSystem: FileSystem?
  private let isResolved: Bool

  /// The path by which the folder was opened.
  var shown: String { anchor?.shown ?? path }

  init(path: String, on fileSystem: FileSystem? = nil) { self.init(path: path, on: fileSystem, isResolved: false) }

  private init(path: String, on fileSystem: FileSystem?, isResolved: Bool) {
    self.path = path
    anchor = nil
    self.fileSystem = fileSystem
    self.isResolved = isResolved
  }

  /// Uses a folder that is held, whatever happens to its path from now on.
  ///
  /// - Parameter folder: with a path that has no symbolic links.
  init(_ folder: consuming OpenFolder, on fileSystem: FileSystem? = nil) throws(StoreError) {
    let path = folder.path
    anchor = try FolderAnchor.hold(folder)
    self.path = anchor?.path ?? path
    self.fileSystem = fileSystem
    isResolved = true
  }

  /// Creates the folder if it does not exist.
  init(preparing path: String) throws(StoreError) {
    self.init(path: path)
    try Self.makeDirectories(path)
  }

  /// Returns the folder with an absolute path, which remains valid if the program changes its working directory.
  func absolute() throws(StoreError) -> StoreFolder {
    path.begins(with: "/") ? self : StoreFolder(path: try PathWalk.absolute(path))
  }

  /// The path of the checkpoint.
  var values: String { path + "/" + StoreFiles.values }

  /// Whether there is a store that can only be read: the folder is not writable, or belongs to another user.
  ///
  /// Root could write in a folder of another user, but would leave files of its own there.
  var isReadOnly: Bool {
    guard FileStatus(of: values) != nil else { return false }
    return FileStatus(of: path).map { $0.owner != Trust.user } == true
      || faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0
      || faccessat(AT_FDCWD, values, W_OK, AT_EACCESS) != 0
  }

  /// Returns the folder by its path without symbolic links; the folder is created if it does not exist.
  func resolved() throws(StoreError) -> StoreFolder {
    if isResolved { return self }
    var found = try UserLinks.resolve(path)
    if found == nil {
      try Self.makeDirectories(absolute().path)
      found = try UserLinks.resolve(path)
    }
    guard let resolved = found else { throw .system("access the folder", path) }
    return StoreFolder(path: resolved, on: fileSystem, isResolved: true)
  }

  /// Returns the folder, which must be the user's own, held if another user could replace what its path leads to.
  ///
  /// - Returns: the folder by a path that has no symbolic links.
  func held() throws(StoreError) -> StoreFolder {
    if anchor != nil { return self }
    return try StoreFolder(try OpenFolder.own(path), on: fileSystem)
  }

  /// Whether its path leads to it; for a folder that is not held this is always true.
  var isInPlace: Bool { anchor?.isInPlace ?? true }

  /// Throws if the path now leads to another folder, or to none.
  func checkInPlace() throws(StoreError) {
    guard !isInPlace else { return }
    throw StoreError(.unavailable, "\(shown) was removed or replaced by another folder; open the store again")
  }

  /// Returns which folder this is, independent of its path and symbolic links; it is created if it does not exist.
  func identity() throws(StoreError) -> Identity {
    var identity = kept_folder_identity()
    if kept_identify_folder(path, &identity) != 0 {
      try Self.makeDirectories(path)
      guard kept_identify_folder(path, &identity) == 0 else { throw .system("access the folder", path) }
    }
    return Identity(device: identity.device, inode: identity.inode, made: identity.made)
  }

  struct Identity: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64
    // A new folder may have the inode number of a removed one.
    let made: Int64
  }

  static func makeDirectories(_ path: String) throws(StoreError) {
    try UserLinks.check(path)
    if try makeDirectory(path) { return }
    let above = PathWalk.parent(of: path)
    if above != path { try makeDirectories(above) }
    // Retry only once: in /proc, and in a removed working directory, the folder stays missing.
    guard try makeDirectory(path) else { throw .system("create the folder", path, errno: ENOENT) }
  }

  /// Creates one directory.
  ///
  /// - Returns: false if its parent is missing.
  private static func makeDirectory(_ path: String) throws(StoreError) -> Bool {
    if kept_make_folder(path) == 0 {
      try sync(folder: PathWalk.parent(of: path))
      return true
    }
    switch kept_errno() {
    case EEXIST:
      guard kept_is_folder(path) == 1 else {
        throw StoreError(.unavailable, "\(shown: path) is not a folder; use another location")
      }
      return true
    case ENOENT: return false
    default: throw .system("create the folder", path)
    }
  }

  static func makeFile(_ path: String) throws(StoreError) {
    let file = kept_make_at(AT_FDCWD, path)
    guard file >= 0 else { throw .system("create a file in", PathWalk.parent(of: path)) }
    close(file)
  }

  /// Syncs the directory entries of a folder to the disk; symbolic links are followed.
  static func sync(folder path: String) throws(StoreError) { try sync(path + "/.") }

  /// Syncs a file to the disk.
  static func sync(_ path: String) throws(StoreError) {
    let file = kept_open_at(AT_FDCWD, path, O_RDONLY, 0)
    guard file >= 0 else { throw .system("open", path) }
    defer { close(file) }
    guard kept_sync(file) == 0 else { throw .system("sync", path) }
  }
}
