// How a database is opened where nothing may be written, and when that has to be done anew.

import CPlatform
import CSQLite

extension StoreFolder {
  /// Whether there is a database that may be read, in a place where nothing may be written.
  var isReadOnly: Bool {
    let mayWrite =
      faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0
      && (faccessat(AT_FDCWD, database, W_OK, AT_EACCESS) == 0 || kept_errno() == ENOENT)
    return !mayWrite && access(database, F_OK) == 0
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
    var status = stat()
    // An empty log says nothing.
    if stat(folder.database + "-wal", &status) == 0, status.st_size > 0 { return Files(hasLog: true) }
    guard stat(folder.database, &status) == 0 else { throw .system("look at", folder.database) }
    return Files(
      hasLog: false, inode: UInt64(status.st_ino), size: Int64(status.st_size),
      changed: kept_changed_nanoseconds(&status))
  }

  func connect(_ files: Files) throws(StoreError) -> LocalReader {
    let connection = try SQLiteConnection(
      path: files.hasLog ? folder.database : "file:" + Self.escaped(folder.database) + "?immutable=1",
      busyTimeoutMilliseconds: 1000,
      access: SQLITE_OPEN_READONLY | (files.hasLog ? 0 : SQLITE_OPEN_URI))
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
