// Settling: frames move from the journal into the database, so that the ring has room again.

import KeptSystem
import KeptValues

/// Settles the journal of one store on a connection of its own.
final class Settler: Sendable {
  private let connection: Monitor<LazyConnection<LocalReader>>
  private let journal: Journal

  init(of journal: Journal, in database: LocalDatabase) {
    self.journal = journal
    connection = Monitor(
      LazyConnection { () throws(StoreError) in
        let reader = try database.connect(to: journal)
        // Data that must be on the disk is synced when it must be there.
        try reader.connection.run("PRAGMA synchronous = NORMAL")
        // Room for all pages that a full ring changes: a page that leaves the memory before the commit is written to
        // the log twice, and the checksums of all frames behind it are then computed again from the file.
        try reader.connection.run("PRAGMA cache_size = -16384")
        return reader
      })
  }

  func close() { connection.update { $0.close() } }

  /// Closes the connection; the next use opens another one.
  func disconnect() { connection.update { $0.disconnect() } }

  var hasMoved: Bool? { connection.read { $0.hasMoved } }

  /// Writes every frame that was published before the call into the database and onto the disk.
  ///
  /// Several processes may settle at once: each reads inside its transaction how far the others have come.
  func settle() throws(StoreError) {
    let words = journal.words
    guard try words.settled < journal.end() else { return }
    let upTo = try connection.update { connection throws(StoreError) in
      let connection = try connection.get().connection
      let place = try connection.write { () throws(StoreError) in
        try move(connection) { end throws(StoreError) in
          try syncBodies(connection)
          try journal.sync(upTo: end)
        }
      }
      // The log's content from before the sync is on the disk after it.
      let log = connection.logEnd
      try syncLog(connection)
      try journal.checkCertain()
      // If another ring begins, the process that makes it marks that.
      try journal.ring()?.mark(place, log)
      return place.position
    }
    words.raiseSettled(to: upTo)
  }

  /// Returns when everything that was published before the call is on the disk.
  func sync() throws(StoreError) {
    let words = journal.words
    let upTo = try journal.end()
    guard words.synced < upTo else { return }
    if words.named > words.synced { try withConnection { connection throws(StoreError) in try syncBodies(connection) } }
    try journal.sync(upTo: upTo)
  }

  /// Bodies first: a loss of power that takes a body from under its frame takes that and all later ones.
  private func syncBodies(_ connection: SQLiteConnection) throws(StoreError) {
    if journal.words.named > journal.words.synced { try syncLog(connection) }
  }

  /// Brings every frame into the database, whose readers need a large commit there, also while syncs fail.
  func moveIntoDatabase() throws(StoreError) {
    try withConnection { connection throws(StoreError) in
      _ = try connection.write { () throws(StoreError) in
        try move(connection) { _ throws(StoreError) in
          do throws(StoreError) { try journal.ring()?.sync() } catch { journal.words.isDoubtful = true }
        }
      }
    }
  }

  private func syncLog(_ connection: SQLiteConnection) throws(StoreError) {
    do throws(StoreError) { try connection.syncLog() } catch {
      journal.words.isDoubtful = true
      throw error
    }
  }

  /// Brings every frame of a ring that no process uses any more into the database, and onto the disk; the write lock is
  /// held.
  ///
  /// - Returns: where its frames end, and the next ring begins.
  func endRing(_ file: JournalFile) throws(StoreError) -> JournalPosition {
    try withConnection { connection throws(StoreError) in
      let place = try connection.write { () throws(StoreError) in
        try move(connection, unused: file) { _ throws(StoreError) in try file.sync() }
      }
      try syncLog(connection)
      return place.position
    }
  }

  /// Begins another ring, which may be larger; the write lock is held.
  ///
  /// - Parameter length: what must fit into it.
  func beginRing(for length: Int) throws(StoreError) {
    if !journal.isRingMissing { try settle() }
    let (old, session) = try journal.lastFile()
    var size = old.header.size
    while size < JournalHeader.mostBytes, size / 4 < length { size *= 2 }
    let end = try journal.end()
    let header = JournalHeader(store: journal.store, journal: .random(in: 1 ... .max), begin: end, size: size)
    // A full disk is met here, where nothing has been changed yet.
    try JournalFile.extend(old.descriptor, from: old.header.fileBytes, to: header.fileBytes, path: old.path)
    // From here on everything is in the database. Killed, or failing, it leaves no ring: the next writer makes one.
    journal.beginMove()
    try setPlace(FramePlace(journal: 0, position: end, previous: 0))
    // Who still reads the old ring is overtaken.
    journal.words.raiseStart(to: end)
    let file = try JournalFile.make(header, in: old.descriptor, path: old.path)
    try file.begin(session: session)
    try setPlace(header.firstPlace, file)
    journal.move(to: file)
  }

  /// Begins again after a sync has failed, since a later one proves nothing.
  ///
  /// Everything goes into the database itself, and another ring begins. The write lock is held.
  func endDoubt() throws(StoreError) {
    let words = journal.words
    try withConnection { connection throws(StoreError) in
      let place = try connection.write { () throws(StoreError) in
        try move(connection) { _ throws(StoreError) in try journal.ring()?.sync() }
      }
      try connection.copyLog()
      words.raiseSettled(to: place.position)
    }
    words.isDoubtful = false
    try beginRing(for: 0)
  }

  private func setPlace(_ place: FramePlace, _ file: JournalFile? = nil) throws(StoreError) {
    try withConnection { connection throws(StoreError) in
      try connection.write { () throws(StoreError) in
        var settled = try SettledPlace.read(connection)
        // Everything is settled. A damaged pulse may say that another position is the end.
        guard settled.place.position == place.position else { throw journal.damagedPulse }
        settled.place = place
        try settled.write(connection)
      }
      let log = connection.logEnd
      try syncLog(connection)
      try file?.mark(place, log)
    }
  }

  /// Sets the limits of the history, on the disk.
  func set(_ limits: HistoryLimits) throws(StoreError) {
    try withConnection { connection throws(StoreError) in
      try connection.write { () throws(StoreError) in
        let settled = try SettledPlace.read(connection)
        try HistoryTable(connection).set(
          limits, after: settled.revision, at: MonotonicTime.nanosecondsSince1970 / 1_000_000)
      }
      try syncLog(connection)
    }
  }

  /// Runs `body` with the settling connection, while no frame of this process is settled.
  func withConnection<Result>(
    _ body: (SQLiteConnection) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try connection.update { connection throws(StoreError) in try body(connection.get().connection) }
  }

  /// Writes the published frames into the tables; it belongs to a write transaction.
  ///
  /// - Parameters:
  ///   - unused: a ring that no process uses, and whose frames all count; nil for the present one.
  ///   - sync: writes the ring to the disk, up to a position.
  private func move(
    _ connection: SQLiteConnection, unused: JournalFile? = nil, _ sync: (JournalPosition) throws(StoreError) -> Void
  ) throws(StoreError) -> FramePlace {
    let before = try SettledPlace.read(connection)
    // Another ring may begin just now.
    let end =
      if let unused {
        try JournalRecovery.end(of: unused, after: before, in: connection).place.position
      } else {
        try journal.end()
      }
    if before.place.position == end { return before.place }
    let file = if let unused { unused } else { try journal.file() }
    guard let place = file.header.place(after: before) else {
      throw StoreError(.corrupt, "the journal and the database of the store do not match; open the store again")
    }
    try file.raiseBound(to: end)
    try sync(end)
    var cursor = JournalCursor(at: place, revision: before.revision)
    var settling = try Settling(connection: connection, after: before.revision)
    let words = unused == nil ? journal.words : nil
    let outcome = try cursor.read(file, words, upTo: end) { frame throws(StoreError) in try settling.add(frame) }
    guard outcome == .reachedEnd else { throw journal.damage }
    let version = try settling.finish() ?? before.schemaVersion
    try settling.forgetRemovals(from: before.revision, to: cursor.revision)
    try SettledPlace(place: cursor.place, revision: cursor.revision, schemaVersion: version).write(connection)
    return cursor.place
  }
}
