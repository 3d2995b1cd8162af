// What was told, up to which revision: every commit passes here once, in order, on its way to the observers.

import Synchronization

/// The one path of changes, this process's own and those of others, for all handles on one open location.
///
/// Invariants:
/// - Observers have in their mailboxes, or have taken from there, everything up to revision `told`, and nothing of what
///   came later. `known` holds what the storage had at that revision of the keys they listen to, and each room the
///   layers under which its observers were told how that reads.
/// - `told` moves by one of two steps, each under the monitor: a commit of this process becomes visible, together with
///   what others committed before it; or the storage is asked for what others have committed meanwhile. So no commit is
///   told twice, or by halves, or after a later one, and one of this process is never mistaken for another's.
/// - While nobody listens nothing is kept: the first subscription reads where it begins.
final class Feed: CommitWitness {
  fileprivate struct State {
    var told: Revision = 0
    var known: [KeyName: Entry] = [:]
    // What `known` is kept for: the scopes of all observers.
    var coverage = Coverage()
    // Known by their layers.
    var rooms = Roster<Room>()
    // Those whose delivery has yet to be told, when no lock is held; and those whose delivery comes by itself.
    var hasMail: [Observer] = []
    var isFetched: [Observer] = []
  }
  private let state = Monitor(State())
  // Whether there are rooms: without them there is no mail.
  private let isHeard = Atomic<Bool>(false)
  private let storage: any Storage

  init(_ storage: any Storage) {
    self.storage = storage
    Fork.join(self)
  }

  deinit { Fork.leave(self) }

  /// Lets an observer hear of every commit after the present one.
  ///
  /// - Parameter layering: how its handle reads.
  /// - Returns: the present values in its scope, all of one revision.
  func add(
    _ observer: Observer, reading layering: Layering
  ) throws(StoreError) -> (present: [Change], revision: Revision) {
    let present = try state.update { state throws(StoreError) in
      let stored = try storage.entries(in: [observer.scope])
      // While somebody listens, what is known is of the revision that was told: only what nobody listened to is new.
      for entry in stored.entries where !state.coverage.covers(entry.key) { state.known[entry.key] = entry.entry }
      if state.rooms.isEmpty { state.told = stored.revision }
      state.coverage.add(
        observer.scope,
        with: stored.entries.map(\.key) + stored.unreadable.map(\.key).filter { state.known[$0] != nil })
      do throws(StoreError) {
        try state.advance(storage)
      } catch {
        state.coverage.remove(observer.scope, from: &state.known)
        throw error
      }
      let layers = state.enter(observer, reading: layering)
      isHeard.store(true, ordering: .releasing)
      return (state.present(in: observer.scope, layers), state.told)
    }
    announceMail()
    return present
  }

  /// Ends what an observer hears.
  func remove(_ observer: Observer, reading layering: Layering) {
    // Of those that have ended, what is left of them goes when no lock is held.
    let left = state.update { state -> [Observer] in
      state.leave(observer, reading: layering)
      state.coverage.remove(observer.scope, from: &state.known)
      guard state.rooms.isEmpty else { return [] }
      isHeard.store(false, ordering: .releasing)
      defer { (state.known, state.hasMail, state.isFetched) = ([:], [], []) }
      return state.hasMail + state.isFetched
    }
    withExtendedLifetime(left) {}
  }

  /// Asks the storage what others have committed.
  func advance() throws(StoreError) {
    try state.update { state throws(StoreError) in
      if !state.rooms.isEmpty { try state.advance(storage) }
    }
    announceMail()
  }

  /// Tells that a handle's layers have changed.
  func relayer(_ layering: Layering) {
    state.update { state in state.relayer(layering) }
    announceMail()
  }

  @_optimize(speed)
  package func announce<Failure: Error>(
    _ publish: (_ told: Revision?) throws(Failure) -> Publication
  ) throws(Failure) {
    try state.update { state throws(Failure) in
      let publication = try publish(state.rooms.isEmpty ? nil : state.told)
      guard !state.rooms.isEmpty else { return }
      switch publication.preceding {
      case .changed(let delta): state.post(delta)
      // What was there before the commits can no longer be known. Where it cannot be read either, `told` stays behind,
      // and whoever asks next tells everything.
      case .tooOld: return (try? state.resync(storage)) ?? ()
      case nil: break
      }
      for (commit, author) in publication.commits where commit.revision > state.told { state.post(commit, by: author) }
    }
  }

  /// Observers with mail whose delivery fetches it, and the revision up to which that is everything.
  func mail() -> (told: Revision, observers: [Observer]) {
    state.updateQuietly { state in
      defer { state.isFetched = [] }
      return (state.told, state.isFetched)
    }
  }

  /// Whether nobody listens, and nothing is kept.
  var isSilent: Bool {
    state.read { $0.rooms.isEmpty && $0.known.isEmpty && $0.coverage.scopes.isEmpty && $0.hasMail.isEmpty }
  }

  /// Whether there is mail to be fetched.
  var hasMail: Bool { state.read { !$0.isFetched.isEmpty } }

  /// Tells the other deliveries of new mail; call it after a commit, with no lock held.
  @_optimize(speed)
  func announceMail() {
    guard isHeard.load(ordering: .acquiring) else { return }
    let observers = state.updateQuietly { state in
      defer { state.hasMail = [] }
      return state.hasMail
    }
    for observer in observers { observer.announce() }
  }
}

extension Feed.State {
  /// Brings `told` up to what the storage has now.
  fileprivate mutating func advance(_ storage: any Storage) throws(StoreError) {
    switch try storage.changes(after: told) {
    case .changed(let delta): post(delta)
    case .tooOld: try resync(storage)
    }
  }

  /// How the keys in a scope that somebody listens to read now, in the order of their bytes.
  fileprivate func present(in scope: Scope, _ layers: Layers) -> [Change] {
    let keys: [KeyName] =
      switch scope {
      case .key(let key): [key]
      case .prefix(let prefix):
        Array(Set(coverage.keys(in: prefix, of: known) + layers.allKeys(prefix: prefix))).inOrder(of: \.exact)
      }
    return keys.compactMap { key in
      var change = Change(key: key, from: Resolved(), to: layers.resolve(key, known[key]))
      change.isSecret = known[key]?.declaration?.isSecret == true
      return change.new == nil ? nil : change
    }
  }

  /// Tells what a handle's layers have changed.
  fileprivate mutating func relayer(_ layering: Layering) {
    guard let room = rooms[ObjectIdentifier(layering)] else { return }
    let (old, new) = (room.layers, layering.layers)
    room.layers = new
    let keys = Set(Array(known.keys) + old.allKeys(prefix: "") + new.allKeys(prefix: ""))
    let changes = keys.filter(room.audience.covers).compactMap { key -> Change? in
      var change = Change(key: key, from: old.resolve(key, known[key]), to: new.resolve(key, known[key]))
      change.isSecret = known[key]?.declaration?.isSecret == true
      return change.isNone ? nil : change
    }
    let revision = told
    distribute(changes.inOrder(of: \.key.exact), in: room) { _, changes in
      Notice(revisions: revision...revision, origin: .layer, changes: changes)
    }
  }

  /// Tells a commit of this process.
  fileprivate mutating func post(_ commit: Commit, by author: Author) {
    let revisions = told &+ 1...max(commit.revision, told &+ 1)
    told = commit.revision
    let changes = take(commit.changes.lazy.map { ($0.key, $0.new) })
    distribute(changes) { observer, changes in
      Notice(
        revisions: revisions, origin: observer.handle == author.handle ? .store : .process, tag: author.tag,
        changes: changes)
    }
  }

  /// Tells what others have committed.
  fileprivate mutating func post(_ delta: Delta, mayHaveMissed: Bool = false) {
    guard delta.upTo > told || mayHaveMissed else { return }
    let revisions = min(told &+ 1, delta.upTo)...delta.upTo
    told = delta.upTo
    let entries = mayHaveMissed || delta.entries.count > 1 ? delta.entries.inOrder(of: \.key.exact) : delta.entries
    let changes = take(entries.lazy.map { ($0.key, $0.entry) })
    distribute(changes) { _, changes in
      Notice(
        revisions: revisions, origin: .otherProcess, tag: delta.tag, mayHaveMissed: mayHaveMissed, changes: changes)
    }
  }

  /// Takes over what the storage has now of the keys that somebody listens to.
  ///
  /// - Returns: what it had before, and what it has now.
  private mutating func take(_ entries: some Sequence<(KeyName, Entry)>) -> [(key: KeyName, old: Entry?, new: Entry)] {
    var changes: [(key: KeyName, old: Entry?, new: Entry)] = []
    for (key, entry) in entries where coverage.covers(key) {
      let isPresent = entry.value != nil || entry.declaration != nil
      let old = known[key]
      known[key] = isPresent ? entry : nil
      // Also where it was there before: a prefix that is just being subscribed to may have found it removed meanwhile.
      if isPresent || old != nil { coverage.note(key, isPresent: isPresent) }
      changes.append((key, old, entry))
    }
    return changes
  }

  /// Lets each room hear how that reads there.
  private mutating func distribute(
    _ changes: [(key: KeyName, old: Entry?, new: Entry)], _ notice: (Observer, [Change]) -> Notice
  ) {
    guard !changes.isEmpty else { return }
    for room in rooms {
      let read = changes.compactMap { change in
        room.audience.covers(change.key) ? room.read(change.key, from: change.old, to: change.new) : nil
      }
      distribute(read, in: room, notice)
    }
  }

  private mutating func distribute(_ changes: [Change], in room: Room, _ notice: (Observer, [Change]) -> Notice) {
    guard !changes.isEmpty else { return }
    for observer in room.audience.post(changes, notice) {
      if observer.isFetched { isFetched.append(observer) } else { hasMail.append(observer) }
    }
  }

  /// Reads everything that somebody listens to again: what happened in between is no longer known.
  fileprivate mutating func resync(_ storage: any Storage) throws(StoreError) {
    let present = try storage.entries(in: coverage.scopes)
    // What cannot be read was not removed.
    let there = Set(present.entries.map(\.key) + present.unreadable.map(\.key))
    let removed = known.keys.filter { !there.contains($0) }
      .map { KeyedEntry(key: $0, entry: Entry(value: nil, revision: present.revision)) }
    post(Delta(present.entries + removed, upTo: present.revision), mayHaveMissed: true)
  }

  /// - Returns: the layers of the observer's room.
  fileprivate mutating func enter(_ observer: Observer, reading layering: Layering) -> Layers {
    let id = ObjectIdentifier(layering)
    let known = rooms[id]
    let room = known ?? Room(layering)
    if known == nil { rooms.append(room, id: id) }
    room.audience.add(observer)
    return room.layers
  }

  fileprivate mutating func leave(_ observer: Observer, reading layering: Layering) {
    let id = ObjectIdentifier(layering)
    guard let room = rooms[id] else { return }
    room.audience.remove(observer)
    if room.audience.isEmpty { rooms.remove(id: id) }
  }
}

extension Feed: ForkAware {
  func beforeFork() {}

  /// Whoever listened was the parent's.
  func afterForkInChild() {
    state.update { state in
      state = State()
      isHeard.store(false, ordering: .releasing)
    }
  }
}
