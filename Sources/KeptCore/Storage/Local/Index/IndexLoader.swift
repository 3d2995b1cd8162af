// Loads the index from the database: after the pulse has moved, and for keys that were never read. See
// docs/life-of-a-read-and-a-write.md for the whole path.

/// The slow path of reading, for one thread at a time: it queries SQLite and stores the result in the index.
final class IndexLoader: Sendable {
  private let index: Index
  // While this exists, the index serves no other store.
  private let own: IndexView
  private let pulse: Pulse
  private let state: Monitor<State>
  // For reads of many keys, so that commits meanwhile need not wait for them.
  private let scans: Monitor<LazyConnection<LocalReader>>

  fileprivate struct State {
    var reader: LazyConnection<LocalReader>
    // A generation, and the revision of the database while the pulse stood at it.
    var seen: (generation: UInt64, revision: Revision) = (1, 0)
    // The views of handles with layers.
    var views: [(view: IndexView, reading: any EntryReading)] = []
  }

  /// The limit on rows that are applied one by one; above it the index is loaded from scratch.
  private static let deltaLimit = 4096
  /// A commit of at most this many keys is put into the index, since its keys are likely to be used again.
  private static let worthKnowing = 64
  /// A larger commit is put into the index only while the index is smaller than this, which bounds the memory of
  /// imports.
  private static let smallIndex = 4096

  init(
    _ own: IndexView, _ pulse: Pulse, _ reader: sending LazyConnection<LocalReader>,
    scans: sending LazyConnection<LocalReader>
  ) {
    self.scans = Monitor(scans)
    self.own = own
    index = own.index
    self.pulse = pulse
    state = Monitor(State(reader: reader))
  }

  /// Reads a key and stores it in the index, and in a view if one is given.
  func entry(for key: KeyName, view: IndexView? = nil) throws(StoreError) -> Entry? {
    try state.update { state throws(StoreError) in
      let before = pulse.generation
      if before % 2 == 0, before == index.generation { return try addMissing(key, &state, for: view, at: before) }
      return try refresh(&state, before, reading: key, for: view)
    }
  }

  /// Sets how a view reads from now on: it is new, or its layers have changed.
  func show(_ reading: any EntryReading, in view: IndexView) {
    state.update { state in
      state.views.removeAll { $0.view === view }
      state.views.append((view, reading))
      view.index.change(current: index.generation, applied: index.applied) { $0.removeAll() }
    }
  }

  /// Removes a view whose handle is closed.
  func remove(_ view: IndexView) {
    state.update { state in
      state.views.removeAll { $0.view === view }
      view.index.distrust()
    }
  }

  /// Checks for commits of foreign writers, so that they are noticed at once, or by the next reader.
  ///
  /// - Parameter forCaches: whether a cache above the index makes no calls while the pulse stands still.
  func look(forCaches: Bool) {
    state.update { state in
      if forCaches, (try? refresh(&state, pulse.generation, reading: nil, for: nil)) != nil { return }
      index.distrust()
      for (view, _) in state.views { view.index.distrust() }
    }
  }

  /// Applies what this process has just committed, if the index was up to date right before it.
  ///
  /// - Parameters:
  ///   - start: the revision on which the commits are based.
  ///   - own: the number of the pulse during the commit.
  func apply(_ results: [Result<Commit, StoreError>], from start: Revision, pulse own: UInt64) {
    state.updateQuietly { state in
      var last: Revision?
      for case .success(let commit) in results { last = commit.revision }
      guard let last else { return }
      state.seen = (own &+ 1, last)
      guard index.applied == start || state.areEmpty(index) else { return }
      state.changeAll(index, current: own &+ 1, applied: last) { index, changes, reading in
        for case .success(let commit) in results {
          for change in commit.changes {
            let isWorthKnowing = commit.changes.count <= Self.worthKnowing || changes.count < Self.smallIndex
            guard isWorthKnowing && index === self.index || index.knows(change.key) else { continue }
            changes.put(change.key, change.new, asOf: commit.revision, reading)
          }
        }
      }
    }
  }

  /// Returns what the index knows of keys at a revision.
  ///
  /// - Returns: one element for each key, or none if the index is at another revision.
  func known(_ keys: [KeyName], at revision: Revision) -> [IndexedEntry?] {
    state.updateQuietly { _ in
      index.applied == revision && !index.isEmpty ? keys.map { index.entry(for: $0) } : []
    }
  }

  /// Runs `body` with the reading connection.
  func read<Result>(_ body: (LocalReader) throws(StoreError) -> Result) throws(StoreError) -> Result {
    try state.update { state throws(StoreError) in try body(state.reader.get()) }
  }

  /// Runs `body`, a long read, with a connection that no other operation waits for.
  func scan<Result>(_ body: (LocalReader) throws(StoreError) -> Result) throws(StoreError) -> Result {
    try scans.update { reader throws(StoreError) in
      // The connection alone needs some memory.
      try Memory.ask(for: Memory.small, to: "list what is stored")
      return try body(reader.get())
    }
  }

  /// Closes the connections, and removes what was read.
  func close() {
    state.update { state in
      state.reader.close()
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

  /// Resets the indexes in the child of a fork; each view is requested again, so that its layers are watched.
  func afterForkInChild() {
    // This may run before the indexes' own turn.
    index.afterForkInChild()
    for (view, _) in state.read(\.views) {
      view.index.afterForkInChild()
      view.index.distrust()
    }
  }

  /// Adds one row, if the index or a view is current and does not know the key.
  private func addMissing(
    _ key: KeyName, _ state: inout State, for asking: IndexView?, at generation: UInt64
  ) throws(StoreError) -> Entry? {
    let known = index.entry(for: key)
    let entry = if let known { known.entry } else { try state.reader.get().entry(for: key) }
    guard pulse.generation == generation else { return entry }
    if known == nil { index.add(key, entry, PlainReading()) }
    if let (view, reading) = state.views.first(where: { $0.view === asking }) {
      view.index.change(current: generation, applied: index.applied) {
        $0.put(key, entry, asOf: index.applied, reading)
      }
    }
    return entry
  }

  /// Applies the changes since `applied` to the index, and reads a key in the same transaction.
  private func refresh(
    _ state: inout State, _ before: UInt64, reading key: KeyName?, for asking: IndexView?
  ) throws(StoreError) -> Entry? {
    let reader = try state.reader.get()
    let (revision, delta, row) = try reader.atOneMoment { () throws(StoreError) in
      let revision = try reader.revision()
      let isNews = revision != index.applied && !state.areEmpty(index)
      let delta =
        isNews ? try reader.rows(after: index.applied, limit: Self.deltaLimit) { state.knows($0, index) } : []
      let row: LocalReader.Row? = if let key { try reader.row(for: key) } else { nil }
      return (revision, delta, row)
    }
    let isUndisturbed = before % 2 == 0 && pulse.generation == before
    if isUndisturbed, state.notes(revision, at: before) { pulse.touch() }
    let entry: Result<Entry?, StoreError> = Result { () throws(StoreError) in try row?.entry() }
    state.changeAll(index, current: isUndisturbed ? before : nil, applied: revision) { index, changes, reading in
      changes.apply(delta, asOf: revision, knownTo: index, reading)
      if let key, case .success(let entry) = entry, index === self.index || index === asking?.index {
        changes.put(key, entry, asOf: revision, reading)
      }
    }
    return try entry.get()
  }
}

extension IndexLoader.State {
  /// Changes the storage's own index and those of all views, so that they stay at one revision.
  fileprivate func changeAll(
    _ own: Index, current: UInt64?, applied: Revision,
    _ body: (Index, inout Index.Changes, any EntryReading) -> Void
  ) {
    own.change(current: current, applied: applied) { body(own, &$0, PlainReading()) }
    for (view, reading) in views {
      view.index.change(current: current, applied: applied) { body(view.index, &$0, reading) }
    }
  }

  /// Whether all indexes are empty.
  fileprivate func areEmpty(_ own: Index) -> Bool { own.isEmpty && views.allSatisfy { $0.view.index.isEmpty } }

  /// Whether any index knows the key.
  fileprivate func knows(_ key: KeyName, _ own: Index) -> Bool {
    own.knows(key) || views.contains { $0.view.index.knows(key) }
  }
}

extension IndexLoader.State {
  /// Whether the revision has moved while the pulse has not.
  ///
  /// Then a foreign writer such as the sqlite3 shell has committed, which notifies no process.
  fileprivate mutating func notes(_ revision: Revision, at generation: UInt64) -> Bool {
    defer { seen = (generation, revision) }
    return seen.generation == generation && seen.revision != revision
  }
}

extension Index.Changes {
  /// Applies changes one by one; nil means that there were too many, and removes everything.
  fileprivate mutating func apply(
    _ delta: [(KeyName, LocalReader.Row)]?, asOf revision: Revision, knownTo index: Index,
    _ reading: any EntryReading
  ) {
    guard let delta else { return removeAll() }
    for (key, row) in delta where index.knows(key) {
      guard let entry = try? row.entry() else { return removeAll() }
      put(key, entry, asOf: revision, reading)
    }
  }
}
