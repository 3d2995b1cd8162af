// The library's own threads for one open location: one waits for commits and calls observers, one at a time. When a
// call takes long, another thread takes over, so that a slow observer delays only itself.

/// Waits on the storage, and calls the observers that no host and no queue calls.
///
/// There is no thread while nobody is subscribed. The thread in charge is known by the number of its `shift`; one that
/// finds another number goes home. Its deputy sleeps until a call begins, then looks every 100 ms whether that call is
/// still the same one: then it begins a shift of its own. So observers of one location are called one at a time, unless
/// one of them is slow.
final class Watcher: Delivery {
  fileprivate struct State {
    var line: [Observer] = []
    var subscribers: [ObjectIdentifier: Subscriber] = [:]
    var shift = 0
    var hasLeader = false
    var hasDeputy = false
    var isDeputyAsleep = false
    // Whether the leader may be asleep in the storage.
    var isWatching = false
    // Counts calls; odd while one runs that the leader has begun.
    var call = 0

    var isCalling: Bool { call % 2 == 1 }
    var count: Int { subscribers.values.reduce(0) { $0 + $1.count } }
  }
  /// A handle with so many subscriptions.
  fileprivate struct Subscriber {
    var count = 0
    let report: @Sendable (StoreError) -> Void
  }
  fileprivate enum Step {
    case goHome
    case call(Observer, wakingDeputy: Bool)
    case watch
  }
  private let state = Monitor(State())
  private let feed: Feed
  private let storage: any Storage

  /// How long a call may take before others are called meanwhile.
  static let patienceMilliseconds: Int64 = 100

  init(_ feed: Feed, _ storage: any Storage) {
    self.feed = feed
    self.storage = storage
    Fork.join(self)
  }

  deinit { Fork.leave(self) }

  /// Lets a handle have one more subscription; the thread is started with the first.
  ///
  /// - Parameter report: hears what goes wrong while changes are waited for.
  func enter(_ handle: ObjectIdentifier, report: @escaping @Sendable (StoreError) -> Void) throws(StoreError) {
    try state.update { state throws(StoreError) in
      if !state.hasLeader {
        state.shift += 1
        try startLeader(state.shift)
        state.hasLeader = true
      }
      if state.count > 0, !state.hasDeputy {
        try LibraryThread.start { [self] in standBy() }
        state.hasDeputy = true
      }
      state.subscribers[handle, default: Subscriber(report: report)].count += 1
    }
  }

  /// Ends one subscription of a handle; the threads go home with the last.
  func leave(_ handle: ObjectIdentifier) {
    let isLast = state.update { state in
      state.subscribers[handle]?.count -= 1
      if state.subscribers[handle]?.count == 0 { state.subscribers[handle] = nil }
      guard state.subscribers.isEmpty, state.hasLeader else { return false }
      state.shift += 1
      (state.hasLeader, state.hasDeputy, state.line) = (false, false, [])
      return true
    }
    if isLast { storage.interruptWaiting() }
  }

  /// It looks for mail by itself; others tell it of what an observer could not be given before.
  var fetchesMail: Bool { true }

  func mailArrived(for observer: Observer) {
    let mustWake = state.updateQuietly { state in
      state.line.append(observer)
      return state.isWatching
    }
    if mustWake { wake() }
  }

  /// After a commit, where the storage itself wakes nobody.
  func nudge() {
    if !storage.abilities.contains(.pushesChanges) { state.update { _ in } }
  }

  private func wake() {
    if storage.abilities.contains(.pushesChanges) { storage.interruptWaiting() } else { state.update { _ in } }
  }

  private func startLeader(_ shift: Int) throws(StoreError) {
    try LibraryThread.start { [self] in lead(shift) }
  }

  private func lead(_ shift: Int) {
    while true {
      // First what was told, then the mail: whatever comes later is newer than `told`, and ends the waiting.
      let (told, observers) = feed.mail()
      let step = state.updateQuietly { $0.next(shift, observers) }
      switch step {
      case .goHome: return
      case .call(let observer, let wakingDeputy):
        if wakingDeputy { state.update { _ in } }
        observer.deliverNext()
        state.updateQuietly { $0.endCall(shift) }
      case .watch: watch(after: told, shift)
      }
    }
  }

  /// Sleeps until somebody commits, and fetches what it was.
  private func watch(after told: Revision, _ shift: Int) {
    do throws(StoreError) {
      if storage.abilities.contains(.pushesChanges) {
        let isNews = try storage.wait(after: told)
        state.updateQuietly { if $0.shift == shift { $0.isWatching = false } }
        if isNews { try feed.advance() }
      } else {
        let _: Bool? = state.wait(milliseconds: 2000) { $0.shift != shift || feed.hasMail ? true : nil }
      }
    } catch {
      report(error)
      // What could not be read now is read later: nothing is forgotten.
      let _: Bool? = state.wait(milliseconds: 1000) { $0.shift != shift ? true : nil }
    }
  }

  private func report(_ error: StoreError) {
    for subscriber in state.read(\.subscribers).values { subscriber.report(error) }
  }

  /// What the deputy does.
  private func standBy() {
    while let call = awaitCall() {
      var seen = call
      while true {
        let _: Bool? = state.wait(milliseconds: Self.patienceMilliseconds) { $0.hasDeputy ? nil : true }
        let now = state.updateQuietly { $0.takesOver(seen) }
        if let shift = now.shift {
          // Without another deputy the next slow call delays the others; nothing is lost.
          if (try? LibraryThread.start { [self] in standBy() }) == nil { state.updateQuietly { $0.hasDeputy = false } }
          return lead(shift)
        }
        // Nobody was called meanwhile.
        if now.call == seen { break }
        seen = now.call
      }
    }
  }

  /// Sleeps until a call runs; nil when there is no more need for a deputy.
  private func awaitCall() -> Int? {
    state.wait { state -> Int?? in
      guard state.hasDeputy else { return .some(nil) }
      state.isDeputyAsleep = !state.isCalling
      return state.isCalling ? .some(state.call) : nil
    }
  }
}

extension Watcher.State {
  /// What the thread with this shift does next, with new observers in the line.
  fileprivate mutating func next(_ own: Int, _ observers: [Observer]) -> Watcher.Step {
    line += observers
    guard own == shift, hasLeader else { return .goHome }
    guard !line.isEmpty else {
      isWatching = true
      return .watch
    }
    isWatching = false
    call += 1
    defer { isDeputyAsleep = false }
    return .call(line.removeFirst(), wakingDeputy: isDeputyAsleep)
  }

  fileprivate mutating func endCall(_ own: Int) {
    if own == shift { call += 1 }
  }

  /// Begins a shift of the deputy's if the call that it has seen still runs.
  fileprivate mutating func takesOver(_ seen: Int) -> (call: Int, shift: Int?) {
    guard hasDeputy, isCalling, call == seen else { return (call, nil) }
    shift += 1
    call += 1
    return (call, shift)
  }
}

extension Watcher: ForkAware {
  func beforeFork() {}

  /// The threads are the parent's, and so are the subscriptions.
  func afterForkInChild() { state.update { $0 = State() } }
}
