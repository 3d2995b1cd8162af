// A store's folder: made for its owner alone, and only ever with a whole database in it.

import CPlatform

/// The folder of a LocalStorage.
///
/// Directories that it makes have mode 0700, files 0600.
struct StoreFolder {
  let path: String
  /// For tests: what `statfs` would say.
  var fileSystem: FileSystem?

  init(path: String, on fileSystem: FileSystem? = nil) {
    self.path = path
    self.fileSystem = fileSystem
  }

  /// Makes the folder where there is none.
  init(preparing path: String) throws(StoreError) {
    self.path = path
    try Self.makeDirectories(path)
  }

  /// The same folder, also after the program has changed its working directory.
  func absolute() throws(StoreError) -> StoreFolder {
    guard !path.hasPrefix("/") else { return self }
    guard let here = getcwd(nil, 0) else { throw .system("find the working directory for", path) }
    defer { free(here) }
    return StoreFolder(path: String(cString: here) + "/" + path)
  }

  var database: String { path + "/values.sqlite" }

  /// Makes sure that the folder and a database in it are there.
  ///
  /// A new database is made whole under a name of its own and then linked into place: whoever opens the folder
  /// meanwhile, or finds it after a kill in the middle, sees either none or a complete one.
  func prepare(_ fill: (_ path: String) throws(StoreError) -> Void) throws(StoreError) {
    let isThere = access(database, F_OK) == 0
    if !isThere { try Self.makeDirectories(path) }
    let fileSystem = if let fileSystem { fileSystem } else { try FileSystem(of: path) }
    try fileSystem.checkLocal(path)
    guard !isThere else { return }
    let draft = draftName()
    defer { for suffix in ["", "-wal", "-shm"] { unlink(draft + suffix) } }
    try Self.makeFile(draft)
    try fill(draft)
    try Self.sync(draft)
    // Somebody else may have been first: theirs stays.
    guard link(draft, database) == 0 || kept_errno() == EEXIST else { throw .system("put the database into", path) }
    try Self.sync(path)
  }

  /// A name that nobody else uses, for what is made whole before it is linked into place.
  func draftName() -> String { path + "/.new-\(getpid())-\(UInt32.random(in: 0 ... .max))" }

  /// Which folder this is, whatever path or symbolic link led to it; it is made where there is none.
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
    // A folder that was removed may leave its inode number to the next one.
    let made: Int64
  }

  private static func makeDirectories(_ path: String) throws(StoreError) {
    if try makeDirectory(path) { return }
    let above = parent(of: path)
    if above != path { try makeDirectories(above) }
    // Once more and no longer: in /proc, and in a working directory that was removed, it is missing for ever.
    guard try makeDirectory(path) else { throw .system("make the folder", path, errno: ENOENT) }
  }

  /// - Returns: false where the folder that it belongs into is missing.
  private static func makeDirectory(_ path: String) throws(StoreError) -> Bool {
    if mkdir(path, 0o700) == 0 {
      try sync(parent(of: path))
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

  static func parent(of path: String) -> String {
    let parts = path.split(separator: "/", omittingEmptySubsequences: true)
    let start = path.hasPrefix("/") ? "/" : ""
    let parent = start + parts.dropLast().joined(separator: "/")
    return parent.isEmpty ? "." : parent
  }

  static func makeFile(_ path: String) throws(StoreError) {
    let file = kept_open_file(path, O_RDWR | O_CREAT | O_EXCL, 0o600)
    guard file >= 0 else { throw .system("make a file in", parent(of: path)) }
    close(file)
  }

  /// Syncs a file, or the names in a folder, to the disk.
  static func sync(_ path: String) throws(StoreError) {
    let file = kept_open_file(path, O_RDONLY, 0)
    guard file >= 0 else { throw .system("open", path) }
    defer { close(file) }
    guard fsync(file) == 0 else { throw .system("sync", path) }
  }
}

extension StoreError {
  /// The error for a system call that has just failed.
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
