// What was told, up to which revision: every commit passes here once, in order, on its way to the observers.

/// The one path of changes, this process's own and those of others, for all handles on one open location.
///
/// Invariants:
/// - Observers have in their mailboxes, or have taken from there, everything up to revision `told`, and nothing of what
///   came later. `known` holds the values that the keys they listen to had at that revision.
/// - `told` moves by one of two steps, each under the monitor: a commit of this process becomes visible, together with
///   what others committed before it; or the storage is asked for what others have committed meanwhile. So no commit is
///   told twice, or by halves, or after a later one, and one of this process is never mistaken for another's.
/// - While nobody listens nothing is kept: the first subscription reads where it begins.
final class Feed: CommitWitness {
  fileprivate struct State {
    var told: Revision = 0
    var known: [KeyName: Value] = [:]
    var audience = Audience()
    // Those whose delivery has yet to be told, when no lock is held; and those whose delivery comes by itself.
    var hasMail: [Observer] = []
    var isFetched: [Observer] = []
  }
  private let state = Monitor(State())
  private let storage: any Storage

  init(_ storage: any Storage) {
    self.storage = storage
    Fork.join(self)
  }

  deinit { Fork.leave(self) }

  /// Lets an observer hear of every commit after the present one.
  ///
  /// - Returns: the present values in its scope, all of one revision.
  func add(_ observer: Observer) throws(StoreError) -> (present: [KeyName: Value], revision: Revision) {
    let present = try state.update { state throws(StoreError) in
      let (entries, revision) = try storage.entries(in: [observer.scope])
      // While somebody listens, what is known is of the revision that was told: only what nobody listened to is new.
      for entry in entries where !state.audience.covers(entry.key) { state.known[entry.key] = entry.entry.value }
      if state.audience.isEmpty { state.told = revision }
      do throws(StoreError) {
        try state.advance(storage, alsoCovering: observer.scope)
      } catch {
        state.forgetUncovered()
        throw error
      }
      state.audience.add(observer)
      return (state.present(in: observer.scope), state.told)
    }
    announceMail()
    return present
  }

  /// Ends what an observer hears.
  func remove(_ observer: Observer) {
    state.update { state in
      state.audience.remove(observer)
      state.hasMail.removeAll { $0 === observer }
      state.isFetched.removeAll { $0 === observer }
      switch observer.scope {
      case .key(let key): if !state.audience.covers(key) { state.known[key] = nil }
      case .prefix: state.forgetUncovered()
      }
    }
  }

  /// Asks the storage what others have committed.
  func advance() throws(StoreError) {
    try state.update { state throws(StoreError) in
      if !state.audience.isEmpty { try state.advance(storage) }
    }
    announceMail()
  }

  package func announce<Failure: Error>(
    _ publish: (_ told: Revision?) throws(Failure) -> Publication
  ) throws(Failure) {
    try state.update { state throws(Failure) in
      let publication = try publish(state.audience.isEmpty ? nil : state.told)
      guard !state.audience.isEmpty else { return }
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
  func announceMail() {
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

  /// What is known of the keys in a scope that somebody listens to.
  fileprivate func present(in scope: Scope) -> [KeyName: Value] {
    switch scope {
    case .key(let key): known[key].map { [key: $0] } ?? [:]
    case .prefix: known.filter { scope.contains($0.key) }
    }
  }

  /// Tells a commit of this process.
  fileprivate mutating func post(_ commit: Commit, by author: Author) {
    let revisions = told + 1...max(commit.revision, told + 1)
    told = commit.revision
    let changes = commit.changes.filter { audience.covers($0.key) }
    for change in changes { known[change.key] = change.new }
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
    var changes: [Change] = []
    for entry in delta.entries where audience.covers(entry.key) || scope?.contains(entry.key) == true {
      let change = Change(key: entry.key, old: known[entry.key], new: entry.entry.value)
      known[entry.key] = change.new
      if change.old != change.new { changes.append(change) }
    }
    distribute(changes.inOrder(of: \.key.exact)) { _, changes in
      Notice(
        revisions: revisions, origin: .otherProcess, tag: delta.tag, mayHaveMissed: mayHaveMissed, changes: changes)
    }
  }

  private mutating func distribute(_ changes: [Change], _ notice: (Observer, [Change]) -> Notice) {
    for observer in audience.post(changes, notice) {
      if observer.isFetched { isFetched.append(observer) } else { hasMail.append(observer) }
    }
  }

  /// Reads everything that somebody listens to again: what happened in between is no longer known.
  fileprivate mutating func resync(_ storage: any Storage, alsoCovering scope: Scope? = nil) throws(StoreError) {
    let (present, revision) = try storage.entries(in: audience.scopes + (scope.map { [$0] } ?? []))
    let there = Set(present.map(\.key))
    let removed = known.keys.filter { !there.contains($0) }
      .map { KeyedEntry(key: $0, entry: Entry(value: nil, revision: revision)) }
    post(Delta(present + removed, upTo: revision), alsoCovering: scope, mayHaveMissed: true)
  }

  fileprivate mutating func forgetUncovered() {
    let audience = audience
    known = audience.isEmpty ? [:] : known.filter { audience.covers($0.key) }
  }
}

extension Feed: ForkAware {
  func beforeFork() {}

  /// Whoever listened was the parent's.
  func afterForkInChild() { state.update { $0 = State() } }
}
