// Bringing the index up to date from the database: after the pulse has moved, and for keys that were never read.
// Page docs/life-of-a-read.md tells the whole story.

/// The slow way of reading, one thread at a time: it asks SQLite and leaves the answer in the index.
final class IndexFiller: Sendable {
  private let index: Index
  private let pulse: Pulse
  private let state: Monitor<State>

  fileprivate struct State {
    var reader: OnDemand<LocalReader>
    // A generation and the revision that the database had while the pulse stood still there.
    var seen: (generation: UInt64, revision: Revision) = (1, 0)
  }

  /// More rows than this are not applied one by one: the index begins anew.
  private static let deltaLimit = 4096
  /// What a commit of so few keys has written is likely to be read or written again.
  private static let worthKnowing = 64
  /// And what a larger one has, while the index is as small as that: an import is bounded in memory.
  private static let smallIndex = 4096

  init(_ index: Index, _ pulse: Pulse, _ reader: sending OnDemand<LocalReader>) {
    self.index = index
    self.pulse = pulse
    state = Monitor(State(reader: reader))
  }

  /// Reads a key, and remembers it.
  func entry(for key: KeyName) throws(StoreError) -> Entry? {
    try state.update { state throws(StoreError) in
      let before = pulse.generation
      if before % 2 == 0, before == index.generation { return try addMissing(key, state.reader.get(), at: before) }
      return try refresh(&state, before, reading: key)
    }
  }

  /// Makes sure that what somebody else than Kept has written is noticed: at once, or by the next reader.
  ///
  /// - Parameter forCaches: somebody caches above the index and will ask nobody while the pulse stands still.
  func look(forCaches: Bool) {
    state.update { state in
      guard forCaches, (try? refresh(&state, pulse.generation, reading: nil)) != nil else { return index.distrust() }
    }
  }

  /// Takes over what this process has just committed, if the index was as the database was right before it.
  ///
  /// - Parameters:
  ///   - start: the revision from which the commits went on.
  ///   - own: the number that the pulse had meanwhile.
  func apply(_ commits: [Commit], from start: Revision, pulse own: UInt64) {
    state.updateQuietly { state in
      guard let last = commits.last else { return }
      state.seen = (own &+ 1, last.revision)
      guard index.applied == start || index.isEmpty else { return }
      index.change(current: own &+ 1, applied: last.revision) { changes in
        for commit in commits {
          for change in commit.changes {
            let isWorthKnowing = commit.changes.count <= Self.worthKnowing || changes.count < Self.smallIndex
            guard isWorthKnowing || index.knows(change.key) else { continue }
            changes.put(IndexedEntry(change.key, Entry(value: change.new, revision: commit.revision)))
          }
        }
      }
    }
  }

  /// The values of keys at a revision, of each that the index has: an inner nil is an absent key.
  ///
  /// - Returns: one for each key, or nothing if the index is at another revision.
  func known(_ keys: some Sequence<KeyName>, at revision: Revision) -> [Value??] {
    state.updateQuietly { _ in
      index.applied == revision && !index.isEmpty ? keys.map { index.entry(for: $0).map(\.value) } : []
    }
  }

  /// Runs `body` with the reading connection.
  func read<Result>(_ body: (LocalReader) throws(StoreError) -> Result) throws(StoreError) -> Result {
    try state.update { state throws(StoreError) in try body(state.reader.get()) }
  }

  func close() { state.update { $0.reader.close() } }

  var hasMoved: Bool? { state.read { $0.reader.hasMoved } }

  /// The next use connects again.
  func letGo() { state.update { $0.reader.letGo() } }

  /// The index is current and does not know the key: one row is all that is needed.
  private func addMissing(_ key: KeyName, _ reader: LocalReader, at generation: UInt64) throws(StoreError) -> Entry? {
    let entry = try reader.entry(for: key)
    if pulse.generation == generation {
      index.add(IndexedEntry(key, entry ?? Entry(value: nil, revision: index.applied)))
    }
    return entry
  }

  /// Brings what changed since `applied` into the index, and reads a key at the same moment.
  private func refresh(
    _ state: inout State, _ before: UInt64, reading key: KeyName?
  ) throws(StoreError) -> Entry? {
    let reader = try state.reader.get()
    let (revision, delta, row) = try reader.atOneMoment { () throws(StoreError) in
      let revision = try reader.revision()
      let isNews = revision != index.applied && !index.isEmpty
      let delta = isNews ? try reader.rows(after: index.applied, limit: Self.deltaLimit, where: index.knows) : []
      let row: LocalReader.Row? = if let key { try reader.row(for: key) } else { nil }
      return (revision, delta, row)
    }
    let isUndisturbed = before % 2 == 0 && pulse.generation == before
    if isUndisturbed, state.notes(revision, at: before) { pulse.touch() }
    index.change(current: isUndisturbed ? before : nil, applied: revision) { changes in
      changes.apply(delta)
      if let key, case .success(let value) = row?.value ?? .success(nil) {
        changes.put(IndexedEntry(key, Entry(value: value, revision: row?.revision ?? revision)))
      }
    }
    guard let row else { return nil }
    return Entry(value: try row.value.get(), revision: row.revision)
  }
}

extension IndexFiller.State {
  /// Whether the revision has moved while the pulse has not.
  ///
  /// Then somebody else than Kept has written, with the sqlite3 shell perhaps, and nobody was told.
  fileprivate mutating func notes(_ revision: Revision, at generation: UInt64) -> Bool {
    defer { seen = (generation, revision) }
    return seen.generation == generation && seen.revision != revision
  }
}

extension Index.Changes {
  /// nil: too much has changed to be told one by one.
  fileprivate mutating func apply(_ delta: [(KeyName, LocalReader.Row)]?) {
    guard let delta else { return removeAll() }
    for (key, row) in delta {
      switch row.value {
      case .success(let value): put(IndexedEntry(key, Entry(value: value, revision: row.revision)))
      case .failure: return removeAll()
      }
    }
  }
}
