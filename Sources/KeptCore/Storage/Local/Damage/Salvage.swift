// Recovery of a damaged database: it is set aside untouched, and its readable content goes into a new one.
//
// The process may be killed after each step:
//   1. `quarantine/<date>/` gets a second name for each file of the database, which is never written again, and a copy
//      of the journal, which is. The log of another database loses its first name: SQLite would read it.
//   2. A new database is completed under a temporary name, synced, and renamed to `salvaged.sqlite`. From here on it is
//      the store's database: the next process that opens the folder continues with step 3.
//   3. The old `-wal` and `-shm` are removed, then `salvaged.sqlite` is renamed to `values.sqlite`: the new database is
//      never next to an old log.
// All steps run under the exclusive lock of the journal, which ends with its process.

import CPlatform
import KeptSchema
import KeptSystem
import KeptValues

struct Salvage {
  private let folder: StoreFolder
  private let busyTimeoutMilliseconds: Int

  /// Creates the salvage of a folder.
  ///
  /// - Parameter busyTimeoutMilliseconds: how long it waits for other programs that have the damaged database locked.
  init(_ folder: StoreFolder, busyTimeoutMilliseconds: Int = 0) {
    self.folder = folder
    self.busyTimeoutMilliseconds = busyTimeoutMilliseconds
  }

  private var salvaged: String { folder.path + "/salvaged.sqlite" }

  /// Whether a process was killed in step 3.
  static func isUnfinished(in folder: StoreFolder) throws(StoreError) -> Bool {
    let salvaged = Salvage(folder).salvaged
    if FileStatus(of: salvaged) != nil { return true }
    // If this is unknown, the old database must not be used.
    guard kept_errno() == ENOENT else { throw .system("find", salvaged) }
    return false
  }

  /// Salvages the database.
  ///
  /// It throws, and replaces nothing, unless everything that is not damaged was read.
  func run() throws(StoreError) {
    let place = try setAside()
    var isLogRemoved = false
    do throws(StoreError) {
      if try hasForeignLog() {
        isLogRemoved = true
        try removeLog()
      }
      try replace { draft throws(StoreError) in try fill(draft, notedAs: place) }
    } catch {
      // A log that was removed is nowhere else.
      if !isLogRemoved, try !Self.isUnfinished(in: folder) { leave(place) }
      throw error
    }
  }

  /// Performs steps 2 and 3: puts a database that `fill` completes in the place of the store's.
  private func replace(_ fill: (_ draft: String) throws(StoreError) -> Void) throws(StoreError) {
    let draft = folder.draftPath()
    defer { for suffix in ["", "-wal", "-shm"] { unlink(draft + suffix) } }
    try StoreFolder.makeFile(draft)
    try fill(draft)
    try StoreFolder.sync(draft)
    guard rename(draft, salvaged) == 0 else { throw .system("put the new database into", folder.path) }
    try StoreFolder.sync(folder: folder.path)
    try finish()
  }

  /// Performs step 3.
  func finish() throws(StoreError) {
    guard try Self.isUnfinished(in: folder) else { return }
    try removeLog()
    try StoreFolder.sync(folder: folder.path)
    guard rename(salvaged, folder.database) == 0 else { throw .system("put the new database into", folder.path) }
    try StoreFolder.sync(folder: folder.path)
  }

  private func removeLog() throws(StoreError) {
    for suffix in ["-wal", "-shm", "-journal"] {
      guard unlink(folder.database + suffix) == 0 || kept_errno() == ENOENT else {
        throw .system("remove", folder.database + suffix)
      }
    }
  }

  /// Whether the log next to the database belongs to another one, whose pages would hide the database's own.
  private func hasForeignLog() throws(StoreError) -> Bool {
    let connection = try SQLiteConnection(path: folder.database, busyTimeoutMilliseconds: busyTimeoutMilliseconds)
    connection.leaveLog()
    // SQLite opens the log when a transaction begins, which is refused while another program writes.
    do throws(StoreError) {
      try connection.ignoringChecksums { () throws(StoreError) in try connection.beginSalvage() }
    } catch {
      guard error.code == .corrupt else { throw error }
    }
    return try connection.isLogForeign()
  }

  /// Performs step 1; returns the path of the quarantine inside the folder.
  private func setAside() throws(StoreError) -> String {
    let quarantine = folder.path + "/quarantine"
    let date = try Timestamp(seconds: MonotonicTime.secondsSince1970).description
    var place = quarantine + "/" + date
    guard kept_make_folder(quarantine) == 0 || kept_errno() == EEXIST else {
      throw .system("create the folder", quarantine)
    }
    var number = 1
    while kept_make_folder(place) != 0 {
      guard kept_errno() == EEXIST else { throw .system("create the folder", place) }
      number += 1
      place = "\(quarantine)/\(date)-\(number)"
    }
    do throws(StoreError) {
      for name in Self.names {
        guard link(folder.path + "/" + name, place + "/" + name) == 0 || kept_errno() == ENOENT else {
          throw .system("set aside \(name) in", place)
        }
      }
      try copyJournal(into: place)
      for path in [place, quarantine, folder.path] { try StoreFolder.sync(folder: path) }
    } catch {
      leave(String(Substring(place.utf8.dropFirst(folder.path.utf8.count + 1))))
      throw error
    }
    return String(Substring(place.utf8.dropFirst(folder.path.utf8.count + 1)))
  }

  private static var names: [String] { ["values.sqlite", "values.sqlite-wal"] }

  private func copyJournal(into place: String) throws(StoreError) {
    guard let descriptor = try OpenFolder.own(folder.path).open(StoreFiles.journal, O_RDONLY) else { return }
    defer { close(descriptor) }
    try JournalFile.copy(descriptor, folder.path + "/" + StoreFiles.journal, to: place + "/" + StoreFiles.journal)
  }

  /// Removes a quarantine that is not needed: the files still have their first names.
  private func leave(_ place: String) {
    for name in Self.names + [StoreFiles.journal] { unlink("\(folder.path)/\(place)/\(name)") }
    rmdir("\(folder.path)/\(place)")
    rmdir("\(folder.path)/quarantine")
  }

  private func fill(_ draft: String, notedAs place: String) throws(StoreError) {
    let connection = try SQLiteConnection(path: draft, busyTimeoutMilliseconds: 0)
    try LocalSchema.create(on: connection)
    try connection.write { () throws(StoreError) in
      let damaged = try DamagedDatabase.open(
        in: folder, connection, busyTimeoutMilliseconds: busyTimeoutMilliseconds)
      try damaged.forEachEntry { entry throws(StoreError) in try put(entry, connection) }
      let lost = try damaged.forEachDeclaration { key, declaration throws(StoreError) in
        let row = try connection.statement(
          "INSERT OR REPLACE INTO declaration (key, schema, revision) VALUES (?1, ?2, 0)")
        try row.bind(1, text: key.exact)
        try row.bind(2, text: ExactString(declaration.json))
        try row.finish()
      }
      if let lost { try hide(lost, connection) }
      let last = try settleFrames(after: damaged, lost, connection)
      let version = try damaged.schemaVersion() ?? 0
      let limits = try damaged.historyLimits()
      try damaged.noteLostKeys(in: connection)
      try damaged.checkReadings()
      try resume(
        above: max(damaged.highestRevision, last.revision), schemaVersion: last.schemaVersion ?? version, connection)
      // The history itself begins anew: what it says cannot be checked against the values.
      if let limits {
        try HistoryTable(connection).set(limits, after: try SettledPlace.read(connection).revision, at: 0)
      }
      try SalvageNote.write(quarantine: place, connection)
    }
    // The file is renamed without its log.
    try connection.copyLog()
  }

  /// Adds the commits that were not in the database yet; returns the last revision, and the schema version that they
  /// set.
  private func settleFrames(
    after damaged: DamagedDatabase, _ lost: KeyStretch?, _ connection: SQLiteConnection
  ) throws(StoreError) -> (revision: Revision, schemaVersion: UInt32?) {
    let held = try OpenFolder.own(folder.path)
    guard let descriptor = try held.open(StoreFiles.journal, O_RDONLY) else { return (0, nil) }
    defer { close(descriptor) }
    let known = try damaged.settledPlace()
    let path = folder.path + "/" + StoreFiles.journal
    guard let file = try JournalFile.read(descriptor, path: path, evenCut: true),
      file.header.store == known?.0 ?? file.header.store
    else { return (0, nil) }
    try damaged.copyBodies(to: connection)
    let marked = try file.markedPlace()
    let place = known.flatMap { file.header.place(after: $0.1) }
    // In a ring that was never lapped, settled frames may be found too.
    var fromTheFirst = JournalCursor(at: file.header.firstPlace, revision: 0)
    try fromTheFirst.readAll(file) { _ in true }
    let isWhole = fromTheFirst.place.position >= max(marked.position, place?.position ?? 0)
    let start = isWhole ? file.header.firstPlace : place ?? marked
    var cursor = JournalCursor(at: start, revision: known?.1.revision ?? 0)
    var settling = try Settling(connection: connection, after: nil)
    let damagedJournal = try DamagedJournal(file, end: PulseFile.end(of: file.header.store, held))
    while true {
      try cursor.readAll(file) { frame throws(StoreError) in
        try settling.add(frame)
        return true
      }
      if let next = damagedJournal.place(behind: cursor.place) {
        cursor.skip(to: next, revision: cursor.revision)
      } else if marked.position > cursor.place.position {
        cursor.skip(to: marked, revision: cursor.revision)
      } else {
        break
      }
    }
    let version = try settling.finish()
    // The content of a frame was not secret when it was set, but a body staged for one may have been.
    if let lost {
      for key in try damaged.keysWithBodies() where lost.contains(key) {
        try hide(KeyStretch(low: key, high: key + [0]), connection)
      }
    }
    return (cursor.revision, version)
  }

  /// Stores an entry; of two entries for one key, the one with the higher revision is kept.
  private func put(_ entry: KeyedEntry, _ connection: SQLiteConnection) throws(StoreError) {
    guard let value = entry.entry.value else { return }
    let row = try connection.statement(
      """
      INSERT INTO entry (key, kind, value, revision) VALUES (?1, ?2, ?3, ?4)
      ON CONFLICT (key) DO UPDATE SET kind = ?2, value = ?3, revision = ?4 WHERE ?4 > revision
      """)
    try row.bind(1, text: entry.key.exact)
    try row.bind(2, kindAnd: value)
    try row.bind(4, Int64(clamping: entry.entry.revision))
    try row.finish()
  }

  /// Stores a lost declaration for each value in a stretch that has no other: it may be a secret.
  private func hide(_ lost: KeyStretch, _ connection: SQLiteConnection) throws(StoreError) {
    let rows = try connection.statement(
      "INSERT OR IGNORE INTO declaration SELECT key, ?1, 0 FROM entry WHERE key >= ?2 AND key < ?3")
    try rows.bind(1, text: ExactString(Declaration.lost.json))
    try rows.bind(2, textBytes: lost.low)
    try rows.bind(3, textBytes: lost.high)
    try rows.finish()
  }

  /// Continues with revisions far above all that may have been assigned.
  ///
  /// The upper half of the new revision is the seconds since 1970, so the next salvage begins higher even if its
  /// database is unreadable.
  private func resume(
    above found: Revision, schemaVersion: UInt32, _ connection: SQLiteConnection
  ) throws(StoreError) {
    let seconds = min(Revision(clamping: MonotonicTime.secondsSince1970), 1 << 32)
    let revision = max(found + (1 << 30), seconds << 30)
    try LocalSchema.begin(above: revision, schemaVersion: schemaVersion, connection)
  }
}
