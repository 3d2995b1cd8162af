// The recovery by a process that opens a store alone: it finds where the frames of the last processes end, and makes
// the journal and the pulse ready for others. Frames that are not in the database yet are settled later like all
// others, so that a store can be opened and read on a full disk.

import KeptSystem
import KeptValues

struct JournalRecovery {
  let folder: StoreFolder
  let reader: LocalReader

  /// Recovers the journal of a store.
  ///
  /// - Parameter lock: held alone.
  func run(_ lock: JournalLock) throws(StoreError) -> Journal {
    let store = try reader.storeID()
    let settled = try SettledPlace.read(reader.connection)
    // Its writer may have been killed before the sync, and frames before this place may be overwritten from now on.
    let log = reader.connection.logEnd
    // Without commits in the log the database was synced, and a sync of a new file takes long.
    if log.frames > 0 { try reader.connection.syncLog() }
    guard !reader.connection.isLogDamaged else {
      throw StoreError(.corrupt, "the log of the database in \(folder.shown) is damaged")
    }
    guard try !reader.connection.isLogForeign() else {
      throw StoreError(.corrupt, "the log next to the database in \(folder.shown) belongs to another database")
    }
    let found = try JournalFile.read(lock.descriptor, path: lock.path)
    if let found, found.header.store == store { try found.mark()?.check(settled, log, of: lock.path) }
    if let file = found, file.header.store == store, file.header.place(after: settled) != nil {
      try file.checkBound(settled)
      let cursor = try Self.end(of: file, after: settled, in: reader.connection)
      try checkEnd(file, cursor)
      try file.mark(settled.place, log)
      if cursor.place.position == settled.place.position { sweep() }
      return try share(lock, file, settled.place.position, publishedTo: cursor.place.position, for: store)
    }
    // Commits may have been in it that are nowhere else.
    guard !settled.hasJournal else {
      throw StoreError(.corrupt, "\(shown: lock.path) is missing, damaged, or belongs to another database")
    }
    let (file, begin) = (try makeJournal(lock, settled, for: store), settled.place.position)
    return try share(lock, file, begin, publishedTo: begin, for: store)
  }

  /// Returns where the frames of a journal end: a loss of power can leave a frame without the body that it names.
  ///
  /// Throws `corrupt` if a frame can never be settled.
  static func end(
    of file: JournalFile, after settled: SettledPlace, in connection: SQLiteConnection
  ) throws(StoreError) -> JournalCursor {
    let place = file.header.place(after: settled) ?? settled.place
    var cursor = JournalCursor(at: place, revision: settled.revision)
    try cursor.readAll(file) { frame throws(StoreError) in
      var patches = JournalPatches()
      try patches.add(frame)
      return try connection.hasBodies(of: frame)
    }
    return cursor
  }

  /// Throws `corrupt` if frames are damaged that a process had published.
  private func checkEnd(_ file: JournalFile, _ cursor: JournalCursor) throws(StoreError) {
    let held = try OpenFolder.own(folder.path)
    guard let end = try PulseFile.end(of: file.header.store, held), cursor.place.position < end else { return }
    throw StoreError(.corrupt, "commits in \(shown: file.path) are missing or damaged")
  }

  /// Removes bodies that no frame names: their writers were killed before they had written one.
  ///
  /// If this fails, the next process that opens the store tries again.
  private func sweep() {
    let connection = reader.connection
    guard let bodies = try? connection.integer("SELECT EXISTS (SELECT 1 FROM body)"), bodies != 0 else { return }
    try? connection.write { () throws(StoreError) in
      try connection.statement(
        """
        DELETE FROM large WHERE id IN (
          SELECT value FROM body WHERE typeof(value) = 'integer' AND kind NOT IN ('bool', 'int'))
        """
      ).finish()
      try connection.statement("DELETE FROM body").finish()
    }
  }

  /// Makes an empty journal that continues where the database ends.
  private func makeJournal(
    _ lock: JournalLock, _ settled: SettledPlace, for store: StoreID
  ) throws(StoreError) -> JournalFile {
    let header = JournalHeader(
      store: store, journal: .random(in: 1 ... .max), begin: settled.place.position, size: JournalHeader.firstSize)
    // The journal first: killed in between, the database names none, and this begins again.
    let file = try JournalFile.make(header, in: lock.descriptor, path: lock.path)
    var next = settled
    next.place = header.firstPlace
    try reader.connection.write { () throws(StoreError) in try next.write(reader.connection) }
    let log = reader.connection.logEnd
    try reader.connection.syncLog()
    try file.mark(next.place, log)
    return file
  }

  /// Sets up the pulse, and lets others in.
  private func share(
    _ lock: JournalLock, _ file: JournalFile, _ settled: JournalPosition, publishedTo published: JournalPosition,
    for store: StoreID
  ) throws(StoreError) -> Journal {
    let session = UInt64.random(in: 1 ... .max)
    let held = try OpenFolder.own(folder.path)
    let page = try PulseFile.make(for: store, in: session, held) { words in
      words.reset(to: published, settled: settled, of: file.header.journal)
    }
    do throws(StoreError) { try file.begin(session: session) } catch {
      page.unmap()
      throw error
    }
    _ = lock.share()
    return Journal(lock, file, page, of: store, in: folder)
  }
}

extension JournalHeader {
  /// Where the frames begin that a database has not; nil if they are not in this journal.
  func place(after settled: SettledPlace) -> FramePlace? {
    if has(settled.place) { return settled.place }
    // Killed after this journal was made, and before the database named it.
    return !settled.hasJournal && settled.place.position == begin ? firstPlace : nil
  }

  /// Whether a place lies in this journal, so that its frames may follow.
  func has(_ place: FramePlace) -> Bool { place.journal == journal && place.position >= begin }
}
