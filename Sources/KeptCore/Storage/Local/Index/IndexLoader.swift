// Keeps the index at the end of the journal: it takes changes from the frames, and keys that were never read from the
// database. See docs/life-of-a-read-and-a-write.md for the whole path.

import KeptSystem
import KeptValues

/// The slow path of reading, for one thread at a time.
final class IndexLoader: Sendable {
  let index: Index
  // While this exists, the index serves no other store.
  private let own: IndexView
  let journal: Journal
  let settler: Settler
  let state: Monitor<State>
  // For reads of many keys, so that commits need not wait for them.
  private let scans: Monitor<LazyConnection<LocalReader>>

  // Invariants:
  // - The index and all views are as after the frame before `cursor`.
  // - A key that frames since the cursor began have changed is known to the index, or `pending` has what they changed.
  //   So a row of the database that is read later than the cursor began leads to the present state of its key: below
  //   its pending changes, whatever the database was settled to in between.
  struct State {
    var reader: LazyConnection<LocalReader>
    var cursor: JournalCursor?
    /// The position at which the cursor began.
    var floor: JournalPosition = 0
    var pending = JournalPatches()
    var schemaVersion: UInt32 = 0
    // Where the next question for changes will probably begin.
    var asked: JournalCursor?
    // The views of handles with layers.
    var views: [(view: IndexView, reading: any EntryReading)] = []
  }

  private static let purpose = "read the stored values"

  init(
    _ own: IndexView, _ journal: Journal, _ settler: Settler, _ reader: sending LazyConnection<LocalReader>,
    scans: sending LazyConnection<LocalReader>
  ) {
    self.scans = Monitor(scans)
    self.own = own
    index = own.index
    (self.journal, self.settler) = (journal, settler)
    state = Monitor(State(reader: reader))
  }

  /// Reads a key and stores it in the index, and in a view if one is given.
  func entry(for key: KeyName, view: ReadView? = nil) throws(StoreError) -> Entry? {
    try state.update { state throws(StoreError) in
      try catchUp(&state)
      var allowance: Allowance?
      let entry = try indexed(key, &state, &allowance).entry
      if let (view, reading) = state.views.first(where: { $0.view === view }) {
        view.index.change(current: index.generation, applied: index.applied) {
          $0.put(key, entry, asOf: index.applied, reading)
        }
      }
      return entry
    }
  }

  /// The state of the store that a commit needs.
  struct Present {
    var place: FramePlace
    var revision: Revision
    var schemaVersion: UInt32
    /// One for each key.
    var keys: [PresentKey]
  }

  struct PresentKey {
    var entry: Entry?
    /// The revision of the last change of any kind.
    var changed: Revision
    /// Why the value cannot be read; then the entry has none.
    var damage: StoreError?
  }

  /// Returns the present state of keys.
  ///
  /// Under the write lock it stays the present one.
  func present(_ keys: [KeyName]) throws(StoreError) -> Present {
    try state.updateQuietly { state throws(StoreError) in
      let cursor = try catchUp(&state)
      var allowance = try Self.allowance(for: keys.count)
      let found = try keys.map { key throws(StoreError) in try present(key, &state, &allowance) }
      return Present(place: cursor.place, revision: cursor.revision, schemaVersion: state.schemaVersion, keys: found)
    }
  }

  /// Brings keys into the index.
  func load(_ keys: [KeyName]) throws(StoreError) {
    try state.updateQuietly { state throws(StoreError) in
      try catchUp(&state)
      var allowance = try Self.allowance(for: keys.count)
      // In order, so that each page is read once.
      try readTogether(keys.filter { !index.knows($0) }.inOrder(of: \.exact), &state, &allowance)
      for key in keys where !index.knows(key) { _ = try present(key, &state, &allowance) }
    }
  }

  /// Applies what this process has just published.
  ///
  /// - Parameter place: the end of its frames, which follow those that were seen last.
  func apply(
    _ commits: [Commit], from start: FramePlace, to place: FramePlace, revision last: Revision, schemaVersion: UInt32
  ) {
    state.updateQuietly { state in
      guard state.cursor?.place == start else { return }
      state.skip(from: start, to: place, last)
      state.schemaVersion = schemaVersion
      let wasEmptied = state.changeAll(index, current: place.position, applied: last) { index, changes, reading in
        for commit in commits {
          for change in commit.changes where index === self.index || index.knows(change.key) {
            changes.put(change.key, change.new, asOf: commit.revision, changed: commit.revision, reading)
          }
        }
      }
      if wasEmptied { forget(&state) }
    }
  }

  /// Sets how a view reads from now on, because its layers have changed; makes one for nil.
  func show(_ reading: any EntryReading, in view: ReadView?) -> ReadView {
    state.update { state in
      let view = state.takeView(view) ?? IndexView()
      state.views.append((view, reading))
      view.index.change(current: index.generation, applied: index.applied) { $0.removeAll() }
      return view
    }
  }

  /// Removes a view whose handle is closed.
  func remove(_ view: ReadView) { state.update { $0.takeView(view)?.index.distrust() } }

  /// The store's revision and schema version now.
  func revision() throws(StoreError) -> (revision: Revision, schemaVersion: UInt32) {
    try state.updateQuietly { state throws(StoreError) in (try catchUp(&state).revision, state.schemaVersion) }
  }

  /// Returns the changes after a revision; `tooOld` if the frames are gone.
  func changes(after revision: Revision) throws(StoreError) -> ChangesAfter {
    try state.update { state throws(StoreError) in
      while true {
        let present = try catchUp(&state)
        let changes = try changes(after: revision, upTo: present, &state)
        // A key that had to be read may have moved the index on. Then entries are of different states.
        guard state.cursor?.place == present.place else { continue }
        // Whatever the answer is, the next question begins here.
        state.asked = present
        return changes
      }
    }
  }

  /// Runs `body` with the present state of the store.
  func read<Result>(_ body: (PatchedReader) throws(StoreError) -> Result) throws(StoreError) -> Result {
    try state.update { state throws(StoreError) in try PatchedReader.read(state.reader.get(), journal, settler, body) }
  }

  /// Runs `body` with the reading connection.
  func readDatabase<Result>(_ body: (LocalReader) throws(StoreError) -> Result) throws(StoreError) -> Result {
    try state.update { state throws(StoreError) in try body(state.reader.get()) }
  }

  /// Runs `body`, a long read, with a connection that no other operation waits for.
  func scan<Result>(_ body: (PatchedReader) throws(StoreError) -> Result) throws(StoreError) -> Result {
    try scans.update { reader throws(StoreError) in
      // The connection alone needs some memory.
      try Memory.ask(for: Memory.small, to: "list the stored keys")
      return try PatchedReader.read(reader.get(), journal, settler, body)
    }
  }

  /// Closes the connections, and empties the index.
  func close() {
    state.update { state in
      state.reader.close()
      forget(&state)
      index.clear()
    }
    scans.update { $0.close() }
  }

  var hasMoved: Bool? { state.read { $0.reader.hasMoved } }

  /// Closes the connections; the next use opens others.
  func disconnect() {
    state.update { $0.reader.disconnect() }
    scans.update { $0.disconnect() }
  }

  /// Makes readers call: what they find in the index may be of a store that is no longer there.
  func distrust() {
    state.update { state in
      index.distrust()
      for (view, _) in state.views { view.index.distrust() }
    }
  }

  /// Resets the indexes in the child of a fork; each view is requested again, so that its layers are watched.
  func afterForkInChild() {
    // This may run before the indexes' own turn.
    index.afterForkInChild()
    for (view, _) in state.read(\.views) {
      view.index.afterForkInChild()
      view.index.distrust()
    }
  }
}

extension IndexLoader {
  /// Brings the index to the end of the published frames.
  @discardableResult
  private func catchUp(_ state: inout State) throws(StoreError) -> JournalCursor {
    try journal.checkUsable()
    for _ in 0..<Journal.mostRestarts {
      // A closed store throws here.
      if state.reader.isClosed { _ = try state.reader.get() }
      let end = try journal.end()
      guard var cursor = state.cursor else {
        try begin(&state)
        continue
      }
      if cursor.place.journal != journal.words.journal, !journal.isRingMissing {
        if let header = try journal.ring()?.header, cursor.place.position == header.begin {
          cursor.skip(to: header.firstPlace, revision: cursor.revision)
          (state.cursor, state.asked) = (cursor, cursor)
        } else {
          forget(&state)
        }
        continue
      }
      guard cursor.place.position <= end else { throw journal.damagedPulse }
      if cursor.place.position == end {
        if index.generation != end { state.changeAll(index, current: end, applied: cursor.revision) { _, _, _ in } }
        return cursor
      }
      guard let file = try journal.ring() else {
        // Everything is settled.
        forget(&state)
        continue
      }
      var frames = JournalPatches()
      let outcome = try cursor.read(file, journal.words, upTo: end) { frame throws(StoreError) in
        try frames.add(frame)
      }
      switch outcome {
      case .damaged: throw journal.damage
      case .overtaken: forget(&state)
      case .reachedEnd where frames.bulk != nil:
        try settler.moveIntoDatabase()
        forget(&state)
      case .reachedEnd:
        if try apply(frames, upTo: cursor, &state), state.cursor != nil { return cursor }
      }
    }
    throw journal.damagedPulse
  }

  /// Applies what frames have changed; false, with nothing done, if a value was replaced since: read on.
  private func apply(
    _ frames: JournalPatches, upTo cursor: JournalCursor, _ state: inout State
  ) throws(StoreError) -> Bool {
    try Allowance.ask(forEntries: frames.keys.count, to: Self.purpose)
    var entries: [(key: KeyName, entry: Entry, changed: Revision)] = []
    var unknown: [(KeyName, KeyPatch)] = []
    for (key, patch) in frames.keys {
      if let known = index.entry(for: key) {
        guard let entry = try entry(patch, over: known.entry, of: key, at: cursor, &state) else { return false }
        entries.append((key, entry, patch.revision))
      } else {
        unknown.append((key, patch))
      }
    }
    // From here on nothing fails: a cursor ahead of the index would make it serve old values.
    state.cursor = cursor
    for (key, patch) in unknown { state.pending.add(patch, key) }
    if let version = frames.schemaVersion { state.schemaVersion = version }
    let wasEmptied = state.changeAll(index, current: cursor.place.position, applied: cursor.revision) {
      index, changes, reading in
      for (key, entry, changed) in entries where index === self.index || index.knows(key) {
        changes.put(key, entry, asOf: cursor.revision, changed: changed, reading)
      }
    }
    if wasEmptied { forget(&state) }
    return true
  }

  /// Begins where the database ends.
  private func begin(_ state: inout State) throws(StoreError) {
    let settled = try SettledPlace.read(state.reader.get().connection)
    (state.cursor, state.floor) = (JournalCursor(at: settled.place, revision: settled.revision), settled.place.position)
    state.schemaVersion = settled.schemaVersion
    if state.asked == nil { state.asked = state.cursor }
  }

  /// Forgets everything: frames were overwritten before they were read, or the index is full of absent keys.
  func forget(_ state: inout State) {
    state.cursor = nil
    state.pending.removeAll()
    state.changeAll(index, current: nil, applied: 0) { _, changes, _ in changes.removeAll() }
  }

  private func changes(
    after revision: Revision, upTo present: JournalCursor, _ state: inout State
  ) throws(StoreError) -> ChangesAfter {
    guard revision < present.revision else {
      return revision == present.revision ? .changed(Delta([], upTo: revision)) : .tooOld
    }
    var cursor = try begin(after: revision, &state)
    guard cursor.revision <= revision else { return .tooOld }
    var changed = ChangedKeys()
    guard let file = try journal.ring() else { return .tooOld }
    let outcome = try cursor.read(file, journal.words, upTo: present.place.position) {
      frame throws(StoreError) in
      if frame.head.revision > revision { try changed.add(frame) }
    }
    if outcome == .damaged { throw journal.damage }
    guard outcome == .reachedEnd, !changed.hasBulk else { return .tooOld }
    var allowance = try Self.allowance(for: changed.revisions.count)
    let entries = try changed.revisions.map { key, revision throws(StoreError) in
      var entry = try indexed(key, &state, &allowance).entry ?? Entry(value: nil, revision: revision)
      entry.revision = revision
      return KeyedEntry(key: key, entry: entry)
    }
    return .changed(
      Delta(
        entries.inOrder(of: \.entry.revision, then: \.key.exact), upTo: present.revision,
        tag: changed.tags.count == 1 ? changed.tags[0] : nil, time: changed.time))
  }

  /// The changes of some frames.
  private struct ChangedKeys {
    var revisions: [KeyName: Revision] = [:]
    /// Those that follow each other and differ.
    var tags: [String?] = []
    /// The time of the last one.
    var time: Timestamp?
    var hasBulk = false
    private var allowance = Allowance()

    mutating func add(_ frame: FrameReader) throws(StoreError) {
      if tags.isEmpty || tags[tags.count - 1] != frame.head.tag { tags.append(frame.head.tag) }
      time = frame.head.date
      try frame.forEachChange { change throws(StoreError) in
        try allowance.take(change.key.count, to: IndexLoader.purpose)
        switch change.effect {
        case .schemaVersion: break
        case .bulk: hasBulk = true
        default: revisions[try change.keyName()] = frame.head.revision
        }
      }
    }
  }

  /// Returns a count for reads of many keys; nil for one key.
  @inline(never)
  private static func allowance(for keys: Int) throws(StoreError) -> Allowance? {
    guard keys > 1 else { return nil }
    try Allowance.ask(forEntries: keys, to: purpose)
    return Allowance()
  }

  @inline(never)
  private func present(
    _ key: KeyName, _ state: inout State, _ allowance: inout Allowance?
  ) throws(StoreError) -> PresentKey {
    do throws(StoreError) {
      return try indexed(key, &state, &allowance)
    } catch {
      // The row is damaged, and not the database: the next write of the key repairs it.
      guard error.code == .corrupt, error.key != nil else { throw error }
      guard let row = try state.reader.get().row(for: key), case .failure = row.value else { throw error }
      let entry = Entry(value: nil, revision: row.revision, declaration: row.declaration)
      return PresentKey(entry: entry, changed: row.changed, damage: error)
    }
  }

  /// Returns the state of a key, reading it if it is unknown; the index is at the cursor.
  private func indexed(
    _ key: KeyName, _ state: inout State, _ allowance: inout Allowance?
  ) throws(StoreError) -> PresentKey {
    while true {
      if let known = index.entry(for: key) { return PresentKey(entry: known.entry, changed: known.changed) }
      let reader = try state.reader.get()
      let (row, settled, floor) = try reader.rowAndPlace(for: key, &allowance)
      // The row may be newer than the cursor. Then the frames in between are read first.
      if let cursor = state.cursor, settled > cursor.place.position { try catchUp(&state) }
      guard state.cursor != nil, settled >= state.floor else {
        try catchUp(&state)
        continue
      }
      var (entry, changed) = (try row?.entry(), row?.changed ?? floor)
      if let patch = state.pending[key] {
        guard let cursor = state.cursor, let new = try self.entry(patch, over: entry, of: key, at: cursor, &state)
        else {
          try catchUp(&state)
          continue
        }
        (entry, changed) = (new, patch.revision)
        state.pending.remove(key)
      }
      let wasEmptied = index.add(key, entry, changed: changed)
      if wasEmptied { forget(&state) }
      return PresentKey(entry: entry?.isThere == true ? entry : nil, changed: changed)
    }
  }

  /// Brings keys that are not known into the index with one transaction, which costs as much as reading some keys.
  ///
  /// It leaves out those that need more than their row.
  private func readTogether(
    _ keys: [KeyName], _ state: inout State, _ allowance: inout Allowance?
  ) throws(StoreError) {
    guard keys.count > 1 else { return }
    let reader = try state.reader.get()
    let (rows, settled) = try reader.inOneTransaction { () throws(StoreError) in
      let settled = try SettledPlace.read(reader.connection)
      return (try keys.map { key throws(StoreError) in try reader.row(for: key, &allowance) }, settled)
    }
    if let cursor = state.cursor, settled.place.position > cursor.place.position { try catchUp(&state) }
    guard state.cursor != nil, settled.place.position >= state.floor else { return }
    index.expectAbsent(keys.count)
    let wasEmptied = index.change(current: index.generation, applied: index.applied) { table in
      for (key, row) in zip(keys, rows) where state.pending[key] == nil {
        guard case .success(let value) = row?.value ?? .success(nil) else { continue }
        table.put(
          key, value, row?.revision ?? 0, row?.declaration, asOf: index.applied, changed: row?.changed ?? settled.floor,
          nil)
      }
    }
    if wasEmptied { forget(&state) }
  }

  /// Returns an entry after the changes of frames up to a cursor; nil if frames behind it have replaced the value, and
  /// are settled.
  private func entry(
    _ patch: KeyPatch, over old: Entry?, of key: KeyName, at cursor: JournalCursor, _ state: inout State
  ) throws(StoreError) -> Entry? {
    var isReplaced = false
    let entry = try patch.applied(to: old) { body, revision throws(StoreError) in
      let reader = try state.reader.get()
      return try reader.inOneTransaction { () throws(StoreError) in
        if let value = try reader.body(body, of: key) { return value }
        // Once it is settled, it is in the row of its key.
        if let row = try reader.row(for: key), row.revision == revision { return try row.value.get() }
        let settled = try SettledPlace.read(reader.connection).place.position
        try journal.check(settled: settled)
        isReplaced = settled > cursor.place.position
        if !isReplaced { throw StoreError.missingBody(of: key) }
        return nil
      }
    }
    return isReplaced ? nil : entry
  }

  /// Returns a cursor from which the frames after a revision can be read; one beyond it if there is none.
  private func begin(after revision: Revision, _ state: inout State) throws(StoreError) -> JournalCursor {
    let words = journal.words
    if let asked = state.asked, asked.revision <= revision, asked.place.journal == words.journal,
      asked.place.position >= words.start
    {
      return asked
    }
    let settled = try SettledPlace.read(state.reader.get().connection)
    return JournalCursor(at: settled.place, revision: settled.revision)
  }
}

extension IndexLoader.State {
  /// Removes a view from those that are kept up to date; nil if it is not one of them.
  fileprivate mutating func takeView(_ view: ReadView?) -> IndexView? {
    views.firstIndex { $0.view === view }.map { views.remove(at: $0).view }
  }

  /// Moves past frames that this process has written itself.
  mutating func skip(from start: FramePlace, to place: FramePlace, _ revision: Revision) {
    cursor?.skip(to: place, revision: revision)
    if asked?.place == start { asked?.skip(to: place, revision: revision) }
  }

  /// Changes the storage's own index and those of all views, so that they stay at one revision.
  ///
  /// - Returns: whether the own index was emptied.
  @discardableResult
  func changeAll(
    _ own: Index, current: UInt64?, applied: Revision,
    _ body: (Index, EntryTable, (any EntryReading)?) -> Void
  ) -> Bool {
    let wasEmptied = own.change(current: current, applied: applied) { body(own, $0, nil) }
    // A view may find its keys by those of an index that is empty now. Then what it shows is not the present state.
    let shown = wasEmptied ? nil : current
    for (view, reading) in views {
      view.index.change(current: shown, applied: applied) { body(view.index, $0, reading) }
    }
    return wasEmptied
  }
}
