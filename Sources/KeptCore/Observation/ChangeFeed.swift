// The change feed: every commit passes through it once, in order, before it reaches the observers.

import KeptSchema
import KeptSystem
import KeptValues
import Synchronization

/// The single path of changes, from this process and from others, for all handles on one open location.
///
/// Invariants:
/// - The mailboxes of observers have received everything up to revision `delivered`, and nothing later. `known` holds
///   the storage's entries at that revision for the observed keys, and each group holds the layers under which its
///   observers were last notified.
/// - `delivered` moves in one of two steps, each under the monitor: a commit of this process becomes visible, together
///   with the commits of other processes before it; or the storage is read for commits of other processes. So no commit
///   is delivered twice, in parts, or after a later one, and a commit of this process is never attributed to another.
/// - Without observers no state is kept: the first subscription reads the starting revision.
final class ChangeFeed: CommitObserver {
  fileprivate struct State {
    var delivered: Revision = 0
    var known: [KeyName: Entry] = [:]
    // The scopes of all observers; `known` holds entries only for these.
    var observed = ObservedKeys()
    // Identified by their layers.
    var groups = IdentityList<ObserverGroup>()
    // Observers whose delivery must be notified when no lock is held: those that the change under way has given mail,
    // and those with mail of a commit, whose thread notifies them before it returns.
    var hasMail: [Observer] = []
    var hasMailOfCommits: [Observer] = []
    // Observers whose delivery fetches its mail.
    var isFetched: [Observer] = []
  }
  fileprivate static let purpose = "notify observers"

  private let state = Monitor(State())
  // Whether there are groups. Without groups there is no mail.
  private let hasObservers = Atomic<Bool>(false)
  /// Whether any handle observes the store, as far as a look without the lock can tell.
  package var isObserved: Bool { hasObservers.load(ordering: .acquiring) }
  private let storage: any Storage
  private let secrets: StoreSecrets?

  init(_ storage: any Storage) {
    (self.storage, secrets) = (storage, (storage as? any SecretStorage)?.secrets)
    Fork.join(self)
  }

  deinit { Fork.leave(self) }

  /// Adds an observer that receives every commit after the current one.
  ///
  /// - Parameter layerStack: the layer stack of its handle.
  /// - Returns: the present values in its scope, all at one revision.
  func add(
    _ observer: Observer, reading layerStack: LayerStack
  ) throws(StoreError) -> (present: [Change], revision: Revision) {
    if let secrets, (try? secrets.areEncrypted()) == true {
      // Those that are locked are wanted then.
      _ = try storage.entries(in: [observer.scope])
      _ = secrets.unlock()
    }
    let (present, revision, mail) = try state.update { state throws(StoreError) in
      let stored = try storage.entries(in: [observer.scope])
      try Allowance.ask(forEntries: 2 * (stored.entries.count + state.known.count), to: Self.purpose)
      // While there are observers, `known` is at the delivered revision, so only keys that are not yet observed are
      // taken.
      for entry in stored.entries where !state.observed.covers(entry.key) { state.known[entry.key] = entry.entry }
      if state.groups.isEmpty { state.delivered = stored.revision }
      state.observed.add(
        observer.scope,
        with: stored.entries.map(\.key) + stored.unreadable.map(\.key).filter { state.known[$0] != nil })
      do throws(StoreError) {
        try state.advance(storage)
      } catch {
        state.observed.remove(observer.scope, from: &state.known)
        throw error
      }
      let layers = state.enter(observer, reading: layerStack)
      hasObservers.store(true, ordering: .releasing)
      return (state.present(in: observer.scope, layers), state.delivered, state.takeMail())
    }
    Self.notify(mail)
    return (present, revision)
  }

  /// Removes an observer.
  func remove(_ observer: Observer, reading layerStack: LayerStack) {
    // Observers that remain in the mail lists are released when no lock is held.
    let left = state.update { state -> [Observer] in
      state.leave(observer, reading: layerStack)
      state.observed.remove(observer.scope, from: &state.known)
      guard state.groups.isEmpty else { return [] }
      hasObservers.store(false, ordering: .releasing)
      defer { (state.known, state.hasMailOfCommits, state.isFetched) = ([:], [], []) }
      return state.hasMailOfCommits + state.isFetched
    }
    withExtendedLifetime(left) {}
  }

  /// Reads the commits of other processes from the storage.
  func advance() throws(StoreError) {
    let mail = try state.update { state throws(StoreError) -> [Observer] in
      guard !state.groups.isEmpty else { return [] }
      try state.advance(storage)
      return state.takeMail()
    }
    Self.notify(mail)
    // Secrets may have been left out.
    if let secrets, secrets.isWanted { _ = secrets.unlock() }
  }

  /// Reads the observed keys again, because secrets can be read now that could not before.
  func readAgain() {
    guard isObserved else { return }
    let mail = state.update { state -> [Observer] in
      guard !state.groups.isEmpty else { return [] }
      // What cannot be read is read with the next commit.
      try? state.resync(storage)
      return state.takeMail()
    }
    Self.notify(mail)
  }

  /// Delivers a change of a handle's layers.
  func layersChanged(_ layerStack: LayerStack) {
    let mail = state.update { state in
      state.layersChanged(layerStack)
      return state.takeMail()
    }
    Self.notify(mail)
  }

  package func publish<Failure: Error>(
    _ makeVisible: (_ delivered: Revision?) throws(Failure) -> Publication
  ) throws(Failure) {
    try state.update { state throws(Failure) in
      let publication = try makeVisible(state.groups.isEmpty ? nil : state.delivered)
      guard !state.groups.isEmpty else { return }
      defer { state.hasMailOfCommits += state.takeMail() }
      switch publication.preceding {
      case .changed(let delta): state.post(delta)
      // The entries before these commits are no longer known. If they cannot be read either, `delivered` stays
      // unchanged, and the next advance delivers everything.
      case .tooOld: return (try? state.resync(storage)) ?? ()
      case nil: break
      }
      for (commit, author) in publication.commits where commit.revision > state.delivered {
        state.post(commit, by: author)
      }
    }
  }

  /// Makes a commit visible by calling `makeVisible` if there are no observers, while none can begin; else it does
  /// nothing.
  func whileSilent<Result>(_ makeVisible: () -> Result?) -> Result? {
    // It changes with the monitor locked.
    isObserved ? nil : state.updateQuietly { _ in isObserved ? nil : makeVisible() }
  }

  /// The observers whose delivery fetches their mail, and the revision up to which the mail is complete.
  func mail() -> (delivered: Revision, observers: [Observer]) {
    state.updateQuietly { state in
      defer { state.isFetched = [] }
      return (state.delivered, state.isFetched)
    }
  }

  /// Whether there are no observers, so that no state is kept.
  var isSilent: Bool {
    state.read { $0.groups.isEmpty && $0.known.isEmpty && $0.observed.scopes.isEmpty && $0.hasMailOfCommits.isEmpty }
  }

  /// Whether there is mail to fetch.
  var hasMail: Bool { state.read { !$0.isFetched.isEmpty } }

  /// Notifies the other deliveries of new mail.
  ///
  /// Call it after a commit, with no lock held.
  func notifyDeliveries() {
    guard isObserved else { return }
    let observers = state.updateQuietly { state in
      defer { state.hasMailOfCommits = [] }
      return state.hasMailOfCommits
    }
    Self.notify(observers)
  }

  private static func notify(_ observers: [Observer]) { for observer in observers { observer.notifyDelivery() } }
}

extension ChangeFeed.State {
  /// Takes the observers that the change under way has given mail.
  fileprivate mutating func takeMail() -> [Observer] {
    defer { hasMail = [] }
    return hasMail
  }

  /// Brings `delivered` up to the current revision of the storage.
  fileprivate mutating func advance(_ storage: any Storage) throws(StoreError) {
    switch try storage.changes(after: delivered) {
    case .changed(let delta):
      try Allowance.ask(forEntries: delta.entries.count, to: ChangeFeed.purpose)
      post(delta)
    case .tooOld: try resync(storage)
    }
  }

  /// The current values of the observed keys in a scope, in the byte order of the keys.
  fileprivate func present(in scope: Scope, _ layers: Layers) -> [Change] {
    let keys: [KeyName] =
      switch scope {
      case .key(let key): [key]
      case .prefix(let prefix):
        Array(Set(observed.keys(in: prefix, of: known) + layers.allKeys(prefix: prefix))).inOrder(of: \.exact)
      }
    return keys.compactMap { key in
      var change = Change(key: key, from: Resolved(), to: layers.resolve(key, known[key]))
      change.isSecret = known[key]?.declaration?.isSecret == true
      return change.new == nil ? nil : change
    }
  }

  /// Posts what a change of a handle's layers has changed.
  fileprivate mutating func layersChanged(_ layerStack: LayerStack) {
    guard let group = groups[ObjectIdentifier(layerStack)] else { return }
    let (old, new) = (group.layers, layerStack.layers)
    group.layers = new
    let keys = Set(Array(known.keys) + old.allKeys(prefix: "") + new.allKeys(prefix: ""))
    let changes = keys.filter(group.observers.covers).compactMap { key -> Change? in
      var change = Change(key: key, from: old.resolve(key, known[key]), to: new.resolve(key, known[key]))
      change.isSecret = known[key]?.declaration?.isSecret == true
      return change.isNone ? nil : change
    }
    let (revision, time) = (delivered, Timestamp.now)
    func notice(_ changes: [Change]) -> Notice {
      Notice(revisions: revision...revision, origin: .layer, time: time, changes: changes)
    }
    distribute(changes.inOrder(of: \.key.exact), in: group) { _, changes in notice(changes) }
    // A lock may be on a key without a value, and then no change reports it.
    guard !new.managed.locksSame(as: old.managed) else { return }
    noteMail(of: group.observers.post(notice([]), toPrefixesBeside: changes))
  }

  /// Posts a commit of this process.
  fileprivate mutating func post(_ commit: Commit, by author: Author) {
    let revisions = delivered &+ 1...max(commit.revision, delivered &+ 1)
    delivered = commit.revision
    let changes = take(commit.changes.map { KeyedEntry(key: $0.key, entry: $0.new) })
    let time = commit.time ?? .now
    distribute(changes) { observer, changes in
      Notice(
        revisions: revisions, origin: observer.handle == author.handle ? .store : .process, tag: author.tag,
        time: time, changes: changes)
    }
  }

  /// Posts commits of other processes.
  fileprivate mutating func post(_ delta: Delta) {
    let mayHaveMissed = delta.mayHaveMissed
    guard delta.upTo > delivered || mayHaveMissed else { return }
    let revisions = min(delivered &+ 1, delta.upTo)...delta.upTo
    delivered = delta.upTo
    let entries = mayHaveMissed || delta.entries.count > 1 ? delta.entries.inOrder(of: \.key.exact) : delta.entries
    let changes = take(entries)
    let (tag, time) = (delta.tag, delta.time ?? .now)
    distribute(changes) { _, changes in
      Notice(
        revisions: revisions, origin: .otherProcess, tag: tag, time: time, mayHaveMissed: mayHaveMissed,
        changes: changes)
    }
  }

  /// Stores the current entries of the observed keys in `known`.
  ///
  /// - Returns: the entries before and now.
  private mutating func take(_ entries: [KeyedEntry]) -> [(key: KeyName, old: Entry?, new: Entry)] {
    var changes: [(key: KeyName, old: Entry?, new: Entry)] = []
    for keyed in entries where observed.covers(keyed.key) {
      let (key, entry) = (keyed.key, keyed.entry)
      let isPresent = entry.value != nil || entry.declaration != nil
      let old = known[key]
      known[key] = isPresent ? entry : nil
      // Also when the entry existed before: a prefix that is being subscribed to may have found it removed in between.
      if isPresent || old != nil { observed.note(key, isPresent: isPresent) }
      changes.append((key, old, entry))
    }
    return changes
  }

  /// Posts the changes to each group, as read under its layers.
  private mutating func distribute(
    _ changes: [(key: KeyName, old: Entry?, new: Entry)], _ notice: (Observer, [Change]) -> Notice
  ) {
    guard !changes.isEmpty else { return }
    for group in groups {
      let read = changes.compactMap { change in
        group.observers.covers(change.key) ? group.read(change.key, from: change.old, to: change.new) : nil
      }
      distribute(read, in: group, notice)
    }
  }

  private mutating func distribute(
    _ changes: [Change], in group: ObserverGroup, _ notice: (Observer, [Change]) -> Notice
  ) {
    guard !changes.isEmpty else { return }
    noteMail(of: group.observers.post(changes, notice))
  }

  private mutating func noteMail(of observers: [Observer]) {
    for observer in observers {
      if observer.isFetched { isFetched.append(observer) } else { hasMail.append(observer) }
    }
  }

  /// Reads all observed keys again, because the changes in between are no longer known.
  fileprivate mutating func resync(_ storage: any Storage) throws(StoreError) {
    let present = try storage.entries(in: observed.scopes)
    try Allowance.ask(forEntries: 2 * (present.entries.count + known.count), to: ChangeFeed.purpose)
    // An entry that cannot be read was not removed.
    let there = Set(present.entries.map(\.key) + present.unreadable.map(\.key))
    let removed = known.keys.filter { !there.contains($0) }
      .map { KeyedEntry(key: $0, entry: Entry(value: nil, revision: present.revision)) }
    var delta = Delta(present.entries + removed, upTo: present.revision)
    delta.mayHaveMissed = true
    post(delta)
  }

  /// - Returns: the layers of the observer's group.
  fileprivate mutating func enter(_ observer: Observer, reading layerStack: LayerStack) -> Layers {
    let id = ObjectIdentifier(layerStack)
    let known = groups[id]
    let group = known ?? ObserverGroup(layerStack)
    if known == nil { groups.append(group, id: id) }
    group.observers.add(observer)
    return group.layers
  }

  fileprivate mutating func leave(_ observer: Observer, reading layerStack: LayerStack) {
    let id = ObjectIdentifier(layerStack)
    guard let group = groups[id] else { return }
    group.observers.remove(observer)
    if group.observers.isEmpty { groups.remove(id: id) }
  }
}

extension ChangeFeed: ForkAware {
  /// The observers belonged to the parent.
  func afterForkInChild() {
    state.update { state in
      state = State()
      hasObservers.store(false, ordering: .releasing)
    }
  }
}
