// A backup that is read: it is judged as a whole before anything is done with it, and never written.

import CPlatform
import CSQLite

/// What a backup holds.
struct BackupFile {
  let entries: [KeyName: Entry]
  let schemaVersion: UInt32

  /// Reads a backup: a file, or a folder with a store.
  ///
  /// Throws `unavailable` where there is none, `unsupported` for what is none, or one of a later version, and `corrupt`
  /// for one that cannot be read whole.
  init(at path: String) throws(StoreError) {
    let file = kept_is_folder(path) == 1 ? StoreFolder(path: path).database : path
    guard access(file, R_OK) == 0 else { throw .system("read the backup", file) }
    var status = stat()
    // A store that is open somewhere has a log, and counts with it.
    let hasLog = stat(file + "-wal", &status) == 0 && status.st_size > 0
    Fork.gate.enter()
    defer { Fork.gate.leave() }
    let connection = try SQLiteConnection(
      path: hasLog ? file : "file:" + ReadOnlyDatabase.escaped(file) + "?immutable=1", busyTimeoutMilliseconds: 1000,
      access: SQLITE_OPEN_READONLY | (hasLog ? 0 : SQLITE_OPEN_URI))
    defer { withExtendedLifetime(connection) {} }
    let reader = LocalReader(connection)
    do throws(StoreError) {
      (entries, schemaVersion) = try reader.atOneMoment { () throws(StoreError) in
        try LocalSchema.check(connection, path: file)
        try Self.judge(reader)
        return (try Self.entries(reader), try reader.schemaVersion())
      }
    } catch {
      throw error.said { "the backup \(file) cannot be restored: \($0)" }
    }
  }

  private static func judge(_ reader: LocalReader) throws(StoreError) {
    let check = try reader.connection.statement("PRAGMA integrity_check(1)")
    let answer = try check.first { check.string(0) ?? "" } ?? ""
    guard answer == "ok", try reader.connection.hasAllPages() else {
      throw StoreError(.corrupt, "it is damaged (\(answer)); take another backup")
    }
  }

  private static func entries(_ reader: LocalReader) throws(StoreError) -> [KeyName: Entry] {
    var entries: [KeyName: Entry] = [:]
    for key in try reader.keys(prefix: "") { entries[key] = try reader.entry(for: key) }
    for (key, declaration) in try reader.declarations(prefix: "") {
      entries[key, default: Entry(value: nil, revision: 0)].declaration = declaration
    }
    return entries
  }
}
