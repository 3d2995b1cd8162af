// A backup that is read: it is checked completely before it is used, and never written.

import CPlatform
import CSQLite
import KeptSchema
import KeptSystem
import KeptValues

/// The content of a backup.
struct BackupFile {
  let entries: [KeyName: Entry]
  let schemaVersion: UInt32

  /// Reads a backup: a file, or a folder with a store.
  ///
  /// Throws `unavailable` if there is none, `unsupported` for a file of another kind or a backup of a later version,
  /// and `corrupt` for a backup that is not completely readable.
  init(at path: String) throws(StoreError) {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw StoreError(.invalid, "the path of a backup must not be empty or contain a NUL")
    }
    let file = try Self.file(kept_is_folder(path) == 1 ? StoreFolder(path: path).database : path)
    let found: BackupFile?
    do throws(StoreError) { found = try Self.read(file) } catch {
      // The remedies for a damaged store do not apply to a backup.
      let isDamaged = error.code == .corrupt && error.key == nil
      let reason = isDamaged ? "it is damaged or truncated; use another backup" : error.description
      throw StoreError(error.code, "the backup \(file) cannot be read: \(reason)")
    }
    guard let found else {
      throw StoreError(
        .corrupt,
        "the backup \(file) cannot be read: commits in it are damaged or missing; open it as a store, or use another "
          + "backup")
    }
    self = found
  }

  /// Returns nil if commits are missing in the database and in the journal, which may be commits that a process has
  /// moved from one to the other in between.
  private init?(_ reader: LocalReader, at file: String) throws(StoreError) {
    let found = try reader.inOneTransaction { () throws(StoreError) -> ([KeyName: Entry], UInt32)? in
      reader.connection.limitWork(steps: LocalSchema.mostSteps)
      try LocalSchema.check(reader.connection, path: file)
      try LocalSchema.checkOwner(reader.connection, path: file)
      // From here on the size bounds the work: a row takes a dozen steps, and no byte belongs to two rows.
      let size = try reader.connection.integer("PRAGMA page_count") * reader.connection.integer("PRAGMA page_size")
      reader.connection.limitWork(steps: size * 10 + LocalSchema.mostSteps)
      try reader.checkTables()
      guard try reader.connection.damage() == nil, try reader.connection.hasAllPages() else {
        throw StoreError(.corrupt, "the database is damaged or truncated")
      }
      guard let patched = try Self.patched(reader, at: file) else { return nil }
      return (try Self.entries(patched), patched.schemaVersion)
    }
    guard let found else { return nil }
    (entries, schemaVersion) = found
  }

  /// The database of a store with the frames of its journal; nil if commits are missing.
  private static func patched(_ reader: LocalReader, at file: String) throws(StoreError) -> PatchedReader? {
    let settled = try SettledPlace.read(reader.connection)
    guard file.ends(with: "/" + StoreFiles.database) else {
      return PatchedReader(reader, JournalPatches(), settled, revision: settled.revision)
    }
    guard let folder = OpenFolder(holding: PathWalk.parent(of: file)) else { throw .system("read", file) }
    let owner = FileStatus(of: file)?.owner
    let tail = try JournalTail(folder, after: settled, in: reader) { found, path throws(StoreError) in
      if let other = found.otherKind { throw otherKind(other, path) }
      guard found.owner == owner else {
        throw StoreError(
          .denied, "\(path) belongs to a different user than the database; remove it, or use another backup")
      }
    }
    return tail.isDamaged ? nil : PatchedReader(reader, tail.patches, settled, revision: tail.revision)
  }

  /// The error for a file next to the database that is not a regular one.
  private static func otherKind(_ kind: String, _ path: String) -> StoreError {
    StoreError(.unsupported, "\(path) is \(kind); remove it, or use another backup")
  }

  /// Reads a file: as a copy, or through SQLite if this process has it open as a store; nil if commits are missing.
  private static func read(_ file: String) throws(StoreError) -> BackupFile? {
    // A child forked during this would inherit a connection that it cannot close.
    Fork.gate.enter()
    defer { Fork.gate.leave() }
    for attempt in 0..<mostAttempts {
      let connection = try connect(file)
      defer { withExtendedLifetime(connection) {} }
      do throws(StoreError) {
        if let backup = try BackupFile(LocalReader(connection), at: file) { return backup }
      } catch {
        guard !connection.hasHeader, error.code == .corrupt else { throw error }
        throw StoreError(
          .unsupported, "it does not start with a backup header; use a file that was created as a backup")
      }
      MonotonicTime.backOff(attempt: attempt)
    }
    return nil
  }

  /// A store that is in use is settled once a second at most, or when much is written.
  private static let mostAttempts = 8

  private static func connect(_ file: String) throws(StoreError) -> SQLiteConnection {
    guard let status = FileStatus(of: file) else { throw .system("access", file) }
    if let database = FilesInUse.database(with: status.identity) {
      // By its own path SQLite shares an open database; by another name it uses neither its log nor its locks.
      guard FolderAnchor.shown(database) == file else {
        throw StoreError(
          .invalid,
          "\(file) belongs to the store \(shown: database), which is open in this program; use another file")
      }
      return try SQLiteConnection(path: database, busyTimeoutMilliseconds: 1000, access: SQLITE_OPEN_READONLY)
    }
    guard let folder = OpenFolder(holding: PathWalk.parent(of: file)) else { throw .system("read", file) }
    let name = String(file.utf8.split(separator: UInt8(ascii: "/")).last.map { Substring($0) } ?? "")
    let end = MonotonicTime.milliseconds + 1000
    let copy = try DatabaseCopy(
      name, in: folder, calling: file,
      { found, path throws(StoreError) in
        if let other = found.otherKind { throw otherKind(other, path) }
        // If others may create files in the folder, a log next to the backup may be another user's.
        guard found.owner == status.owner else {
          throw StoreError(
            .denied, "\(path) belongs to a different user than the backup; remove it, or use another backup")
        }
      }, until: { MonotonicTime.milliseconds >= end })
    return try SQLiteConnection(copy, of: file)
  }

  /// Returns the path of a readable file with symbolic links resolved: its log is next to the file itself.
  private static func file(_ path: String) throws(StoreError) -> String {
    guard let file = try UserLinks.resolve(path), let status = FileStatus(of: file),
      faccessat(AT_FDCWD, file, R_OK, AT_EACCESS) == 0
    else {
      throw .system("read the backup", path)
    }
    // Opening some kinds of file would block forever.
    if let other = status.otherKind {
      throw StoreError(.unsupported, "\(file) is \(other); use the file or folder of a backup")
    }
    return file
  }

  private static func entries(_ reader: PatchedReader) throws(StoreError) -> [KeyName: Entry] {
    let stored = try reader.entries(in: [.prefix("")])
    if let unreadable = stored.unreadable.first { throw unreadable.reason }
    var entries = [KeyName: Entry](minimumCapacity: stored.entries.count)
    for keyed in stored.entries {
      try keyed.entry.declaration?.checkText(of: keyed.key)
      entries[keyed.key] = keyed.entry
    }
    return entries
  }
}
