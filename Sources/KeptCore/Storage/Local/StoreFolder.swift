// A store's folder: created for its owner alone, and never with an incomplete database in it.

import CPlatform

/// The folder of a LocalStorage.
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

  var database: String { path + "/" + StoreFiles.database }

  /// Returns the folder by its path without symbolic links; the folder is created if it does not exist.
  func resolved() throws(StoreError) -> StoreFolder {
    if isResolved { return self }
    if try UserLinks.resolve(path) == nil { try Self.makeDirectories(absolute().path) }
    guard let resolved = try UserLinks.resolve(path) else { throw .system("look at the folder", path) }
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
    throw StoreError(.unavailable, "\(shown) was removed, or another folder has taken its place; open it again")
  }

  /// Creates the folder and a database in it if they do not exist, and checks that they are the user's own.
  ///
  /// A new database is created completely under a unique name and then linked into place. Processes that open the
  /// folder at the same time, or after a kill in the middle, find either none or a complete one. A journal without its
  /// database gets an empty one: opening it salvages the commits in the journal.
  func prepare(_ fill: (_ path: String) throws(StoreError) -> Void) throws(StoreError) {
    if FileStatus(of: database) == nil { try Self.makeDirectories(path) }
    let fileSystem = if let fileSystem { fileSystem } else { try FileSystem(of: path) }
    try fileSystem.checkLocal(path)
    let folder = try OpenFolder.own(path)
    if try checkDatabase(in: folder) { return }
    let draft = Self.draftName()
    defer { for suffix in DatabaseFiles.suffixes { folder.remove(draft + suffix) } }
    close(try folder.make(draft))
    // Looked at after the database: a process that creates a store creates the database first.
    let isLost = folder.status(of: StoreFiles.journal).map { $0.size > 0 } ?? false
    if !isLost { try fill(path + "/" + draft) }
    try Self.sync(path + "/" + draft)
    // Another process may have been first: its database stays.
    if try folder.putInPlace(draft, as: StoreFiles.database) { try folder.sync() }
  }

  /// Whether there is a database; throws if it has another name, or if another user may be able to change it.
  private func checkDatabase(in folder: borrowing OpenFolder) throws(StoreError) -> Bool {
    guard let found = folder.status(of: StoreFiles.database) else {
      guard kept_errno() == ENOENT else { throw .system("look at", database) }
      return false
    }
    try Trust.check(ownFile: found, database)
    if found.hasOtherNames { removeDrafts(of: found) }
    try checkNames(in: folder)
    return true
  }

  /// Throws if the database has a second name that no salvage has given it.
  ///
  /// A salvage creates `quarantine` before the second name, and if it gives up it removes `quarantine` after that name.
  /// It may do either between two checks.
  private func checkNames(in folder: borrowing OpenFolder) throws(StoreError) {
    for attempt in 0... {
      guard let now = folder.status(of: StoreFiles.database), now.hasOtherNames,
        folder.status(of: "quarantine") == nil
      else { return }
      if attempt >= 10 { try Trust.check(oneName: now, database) }
      MonotonicTime.backOff(attempt: attempt)
    }
  }

  /// Whether the database is empty and its log is not.
  func isCutToNothing() throws(StoreError) -> Bool {
    guard let file = FileStatus(of: database) else { throw .system("look at", database) }
    return file.size == 0 && FileStatus(of: database + "-wal").map { $0.size > 0 } == true
  }

  /// Removes the draft names of a file: the process that created it was killed before it could do that.
  func removeDrafts(of file: FileStatus) {
    for name in (try? FolderListing.names(in: path)) ?? [] where name.begins(with: Self.draftPrefix) {
      let draft = path + "/" + name
      if FileStatus(of: draft)?.identity == file.identity { unlink(draft) }
    }
  }

  private static let draftPrefix = ".new-"

  static func isDraft(_ name: String) -> Bool { name.begins(with: draftPrefix) }

  /// Returns a unique name for a file that is completed before it gets its final name.
  static func draftName() -> String { "\(draftPrefix)\(getpid())-\(UInt32.random(in: 0 ... .max))" }

  /// Returns the path of a new draft in the folder.
  func draftPath() -> String { path + "/" + Self.draftName() }

  /// Returns which folder this is, independent of its path and symbolic links; it is created if it does not exist.
  func identity() throws(StoreError) -> Identity {
    var identity = kept_folder_identity()
    if kept_identify_folder(path, &identity) != 0 {
      try Self.makeDirectories(path)
      guard kept_identify_folder(path, &identity) == 0 else { throw .system("look at the folder", path) }
    }
    return Identity(device: identity.device, inode: identity.inode, made: identity.made)
  }

  struct Identity: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64
    // A new folder may have the inode number of a removed one.
    let made: Int64
  }

  private static func makeDirectories(_ path: String) throws(StoreError) {
    try UserLinks.check(path)
    if try makeDirectory(path) { return }
    let above = PathWalk.parent(of: path)
    if above != path { try makeDirectories(above) }
    // Retry only once: in /proc, and in a removed working directory, the folder stays missing.
    guard try makeDirectory(path) else { throw .system("make the folder", path, errno: ENOENT) }
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
        throw StoreError(.unavailable, "\(path) is not a folder; give another location")
      }
      return true
    case ENOENT: return false
    default: throw .system("make the folder", path)
    }
  }

  static func makeFile(_ path: String) throws(StoreError) {
    let file = kept_make_at(AT_FDCWD, path)
    guard file >= 0 else { throw .system("make a file in", PathWalk.parent(of: path)) }
    close(file)
  }

  /// Syncs the directory entries of a folder to the disk; symbolic links are followed.
  static func sync(folder path: String) throws(StoreError) { try sync(path + "/.") }

  /// Syncs a file to the disk that is not open in SQLite.
  static func sync(_ path: String) throws(StoreError) {
    let file = kept_open_at(AT_FDCWD, path, O_RDONLY, 0)
    guard file >= 0 else { throw .system("open", path) }
    defer { close(file) }
    guard fsync(file) == 0 else { throw .system("sync", path) }
  }
}

extension StoreError {
  /// Returns the error for a path from the system that is not UTF-8: a repaired path would name another file, or none.
  static func notUTF8(_ subject: String) -> StoreError {
    StoreError(.unavailable, "\(subject) is not UTF-8, and Kept takes no other path; rename it, or give another path")
  }

  /// Returns the error for a system call that has just failed.
  static func system(_ what: String, _ path: String, errno error: Int32 = kept_errno()) -> StoreError {
    let words = String(cString: strerror(error))
    return switch error {
    case ENOSPC, EDQUOT:
      StoreError(.noSpace, "could not \(what) \(path): \(words); free some space, nothing was changed")
    case EFBIG:
      StoreError(
        .noSpace,
        "could not \(what) \(path): \(words), this process may not write so large a file (ulimit -f); raise that limit")
    case EACCES, EPERM, EROFS:
      StoreError(.denied, "could not \(what) \(path): \(words); check who owns it and whether it may be written")
    case ENOMEM:
      StoreError(.failed, "could not \(what) \(path): \(words); free some memory, nothing was changed")
    default:
      StoreError(.unavailable, "could not \(what) \(path): \(words); check the path")
    }
  }
}
