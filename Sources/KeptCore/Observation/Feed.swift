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
    var rooms: [Room] = []
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
  /// - Returns: the present values in its scope, all of one revision.
  func add(_ observer: Observer) throws(StoreError) -> (present: [Change], revision: Revision) {
    let present = try state.update { state throws(StoreError) in
      let stored = try storage.entries(in: [observer.scope])
      // While somebody listens, what is known is of the revision that was told: only what nobody listened to is new.
      for entry in stored.entries where !state.covers(entry.key) { state.known[entry.key] = entry.entry }
      if state.rooms.isEmpty { state.told = stored.revision }
      do throws(StoreError) {
        try state.advance(storage, alsoCovering: observer.scope)
      } catch {
        state.forgetUncovered()
        throw error
      }
      let room = state.enter(observer)
      isHeard.store(true, ordering: .releasing)
      return (state.present(in: observer.scope, state.rooms[room].layers), state.told)
    }
    announceMail()
    return present
  }

  /// Ends what an observer hears.
  func remove(_ observer: Observer) {
    state.update { state in
      state.leave(observer)
      isHeard.store(!state.rooms.isEmpty, ordering: .releasing)
      state.hasMail.removeAll { $0 === observer }
      state.isFetched.removeAll { $0 === observer }
      switch observer.scope {
      case .key(let key): if !state.covers(key) { state.known[key] = nil }
      case .prefix: state.forgetUncovered()
      }
    }
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
  fileprivate mutating func advance(_ storage: any Storage, alsoCovering scope: Scope? = nil) throws(StoreError) {
    switch try storage.changes(after: told) {
    case .changed(let delta): post(delta, alsoCovering: scope)
    case .tooOld: try resync(storage, alsoCovering: scope)
    }
  }

  /// How the keys in a scope that somebody listens to read now, in the order of their bytes.
  fileprivate func present(in scope: Scope, _ layers: Layers) -> [Change] {
    let keys: [KeyName] =
      switch scope {
      case .key(let key): [key]
      case .prefix(let prefix):
        Array(Set(known.keys.filter { scope.contains($0) } + layers.allKeys(prefix: prefix))).inOrder(of: \.exact)
      }
    return keys.compactMap { key in
      var change = Change(key: key, from: Resolved(), to: layers.resolve(key, known[key]))
      change.isSecret = known[key]?.declaration?.isSecret == true
      return change.new == nil ? nil : change
    }
  }

  /// Tells what a handle's layers have changed.
  fileprivate mutating func relayer(_ layering: Layering) {
    guard let place = rooms.firstIndex(where: { $0.layering === layering }) else { return }
    let (old, new) = (rooms[place].layers, layering.layers)
    rooms[place].layers = new
    let keys = Set(Array(known.keys) + old.allKeys(prefix: "") + new.allKeys(prefix: ""))
    let changes = keys.filter(rooms[place].audience.covers).compactMap { key -> Change? in
      var change = Change(key: key, from: old.resolve(key, known[key]), to: new.resolve(key, known[key]))
      change.isSecret = known[key]?.declaration?.isSecret == true
      return change.isNone ? nil : change
    }
    let revision = told
    distribute(changes.inOrder(of: \.key.exact), in: rooms[place]) { _, changes in
      Notice(revisions: revision...revision, origin: .layer, changes: changes)
    }
  }

  /// Tells a commit of this process.
  fileprivate mutating func post(_ commit: Commit, by author: Author) {
    let revisions = told + 1...max(commit.revision, told + 1)
    told = commit.revision
    let changes = take(commit.changes.lazy.map { ($0.key, $0.new) }, alsoCovering: nil)
    distribute(changes) { observer, changes in
      Notice(
        revisions: revisions, origin: observer.handle == author.handle ? .store : .process, tag: author.tag,
        changes: changes)
    }
  }

  /// Tells what others have committed.
  fileprivate mutating func post(_ delta: Delta, alsoCovering scope: Scope? = nil, mayHaveMissed: Bool = false) {
    guard delta.upTo > told || mayHaveMissed else { return }
    let revisions = min(told + 1, delta.upTo)...delta.upTo
    told = delta.upTo
    let entries = mayHaveMissed || delta.entries.count > 1 ? delta.entries.inOrder(of: \.key.exact) : delta.entries
    let changes = take(entries.lazy.map { ($0.key, $0.entry) }, alsoCovering: scope)
    distribute(changes) { _, changes in
      Notice(
        revisions: revisions, origin: .otherProcess, tag: delta.tag, mayHaveMissed: mayHaveMissed, changes: changes)
    }
  }

  /// Takes over what the storage has now of the keys that somebody listens to.
  ///
  /// - Returns: what it had before, and what it has now.
  private mutating func take(
    _ entries: some Sequence<(KeyName, Entry)>, alsoCovering scope: Scope?
  ) -> [(key: KeyName, old: Entry?, new: Entry)] {
    var changes: [(key: KeyName, old: Entry?, new: Entry)] = []
    for (key, entry) in entries where covers(key) || scope?.contains(key) == true {
      let old = known.updateValue(entry, forKey: key)
      if entry.value == nil, entry.declaration == nil { known[key] = nil }
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
  fileprivate mutating func resync(_ storage: any Storage, alsoCovering scope: Scope? = nil) throws(StoreError) {
    let scopes = rooms.flatMap(\.audience.scopes) + (scope.map { [$0] } ?? [])
    let present = try storage.entries(in: scopes)
    // What cannot be read was not removed.
    let there = Set(present.entries.map(\.key) + present.unreadable.map(\.key))
    let removed = known.keys.filter { !there.contains($0) }
      .map { KeyedEntry(key: $0, entry: Entry(value: nil, revision: present.revision)) }
    post(Delta(present.entries + removed, upTo: present.revision), alsoCovering: scope, mayHaveMissed: true)
  }

  fileprivate mutating func forgetUncovered() { known = rooms.isEmpty ? [:] : known.filter { covers($0.key) } }

  /// Whether anybody listens to a key.
  fileprivate func covers(_ key: KeyName) -> Bool { rooms.contains { $0.audience.covers(key) } }

  /// - Returns: the place of the observer's room.
  fileprivate mutating func enter(_ observer: Observer) -> Int {
    let place = rooms.firstIndex { $0.layering === observer.layering } ?? rooms.endIndex
    if place == rooms.endIndex { rooms.append(Room(observer.layering)) }
    rooms[place].audience.add(observer)
    return place
  }

  fileprivate mutating func leave(_ observer: Observer) {
    guard let place = rooms.firstIndex(where: { $0.layering === observer.layering }) else { return }
    rooms[place].audience.remove(observer)
    if rooms[place].audience.isEmpty { rooms.remove(at: place) }
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
