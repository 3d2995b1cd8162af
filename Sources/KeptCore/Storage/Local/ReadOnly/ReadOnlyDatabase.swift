// How a database is opened where nothing may be written, and when that has to be done anew.

import CPlatform
import CSQLite

extension StoreFolder {
  /// Whether there is a database that may be read, in a place where nothing may be written, or that is another user's:
  /// root could write there, and would leave files of its own.
  var isReadOnly: Bool {
    guard FileStatus(of: database) != nil else { return false }
    return isForeign || faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0
      || faccessat(AT_FDCWD, database, W_OK, AT_EACCESS) != 0
  }

  /// Whether it belongs to another user.
  var isForeign: Bool { FileStatus(of: path).map { $0.owner != Trust.user } == true }

  /// Throws where others than its owner may change what is read.
  func checkShared() throws(StoreError) {
    guard let folder = FileStatus(of: path) else { throw .system("look at", path) }
    try Trust.check(sharedFolder: folder, path)
    guard let file = FileStatus(of: database) else { throw .system("look at", database) }
    try Trust.check(regular: file, database)
    try Trust.check(sharedFile: file, database)
    guard file.owner == folder.owner || file.owner == 0 || file.owner == Trust.user else {
      throw StoreError(
        .denied,
        "\(database) belongs to the user with the id \(file.owner), and its folder to \(folder.owner); "
          + "give both to the same user")
    }
  }
}

/// The database file of a store that may only be read.
struct ReadOnlyDatabase: Sendable {
  let folder: StoreFolder

  /// What tells whether a connection still fits.
  ///
  /// Without a log SQLite is told that nobody writes, so it takes no locks and keeps what it has read. A writer makes
  /// a log before it changes the database, and the database has changed when the log is gone again.
  struct Files: Equatable {
    var hasLog: Bool
    // Of the database; irrelevant while there is a log.
    var inode: UInt64 = 0
    var size: Int64 = 0
    var changed: Int64 = 0
  }

  func files() throws(StoreError) -> Files {
    // An empty log says nothing.
    if let log = FileStatus(of: folder.database + "-wal"), log.size > 0 { return Files(hasLog: true) }
    guard let status = FileStatus(of: folder.database) else { throw .system("look at", folder.database) }
    return Files(
      hasLog: false, inode: status.identity.inode, size: Int64(status.size),
      changed: withUnsafePointer(to: status.system) { kept_changed_nanoseconds($0) })
  }

  func connect(_ files: Files) throws(StoreError) -> LocalReader {
    let connection = try SQLiteConnection(
      reading: folder.database, isAtRest: !files.hasLog, busyTimeoutMilliseconds: 1000)
    connection.limitWork(steps: LocalSchema.mostSteps)
    defer { connection.limitWork(steps: 0) }
    try connection.run("PRAGMA cell_size_check = ON")
    let reader = LocalReader(connection)
    try reader.atOneMoment { () throws(StoreError) in
      try LocalSchema.check(connection, path: folder.path)
      try reader.checkTables()
      guard try connection.hasAllPages() else {
        throw StoreError(.corrupt, "the database in \(folder.path) was cut off; a user who may write must open it")
      }
    }
    return reader
  }
}

extension SQLiteConnection {
  /// Opens a database file that exists, for reading, and leaves no file of its own beside it.
  ///
  /// - Parameter isAtRest: nobody writes, and there is no log: SQLite takes no locks, and keeps what it has read.
  convenience init(reading path: String, isAtRest: Bool, busyTimeoutMilliseconds: Int) throws(StoreError) {
    // Beside a database of another user's no shared memory is made, and that which is there is only read.
    let folder = StoreFolder(path: StoreFolder.parent(of: path))
    let word = isAtRest ? "?immutable=1" : folder.isForeign ? "?readonly_shm=1" : ""
    try self.init(
      path: path, parameters: word, busyTimeoutMilliseconds: busyTimeoutMilliseconds, access: SQLITE_OPEN_READONLY,
      takesLocks: !isAtRest)
  }

  /// A path as SQLite's URIs have it.
  static func escaped(_ path: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in path.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"):
        bytes.append(byte)
      default:
        bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
