// The library's own threads for one open location: one waits for commits and calls observers, one at a time. When a
// call takes long, another thread takes over, and who was slow once is called by threads of its own from then on: so a
// slow observer delays only those that are slow, too.

import Synchronization

/// Waits on the storage, and calls the observers that no host and no queue calls.
///
/// There is no thread while nobody is subscribed: each goes home when it finds that out, and says so as it goes, so
/// that whoever subscribes meanwhile has the same threads. The thread in charge is known by the number of its `epoch`.
/// Its standby sleeps until a call begins, then looks every 100 ms whether that call is still the same one: then it
/// begins a epoch of its own, and the other steps aside: it is not in charge any more, and neither waits on the storage
/// nor fetches mail.
///
/// An observer that was slow waits in a queue of its own, which the threads aside call; the one in charge starts more
/// of them, up to ``mostForSlow``. It is in the common queue again when it was quick so often in a row as
/// ``Observer/quickCallsInARow`` says. So observers of one location are called one at a time, but for those that are
/// slow. There are never more threads than ``mostAside`` and two; with so many in calls that take long, others wait.
///
/// Invariant: while an observer waits in the queue of the slow ones, a thread aside will look there after its call, or
/// the one in charge before it sleeps.
final class Watcher: Delivery {
  fileprivate struct State {
    var queue = FIFOQueue<Observer>()
    var slowQueue = FIFOQueue<Observer>()
    // How many threads make a call and are not in charge.
    var aside = 0
    var subscribers: [ObjectIdentifier: Subscriber] = [:]
    var epoch = 0
    var hasLeader = false
    var hasStandby = false
    var isStandbyAsleep = false
    // Whether the leader may be asleep in the storage.
    var isWatching = false
    // Counts calls; odd while one runs that the leader has begun.
    var call = 0
    // Whom the leader calls.
    var called: Observer?

    var isCalling: Bool { call % 2 == 1 }
    /// How many more threads the slow ones need, and may have.
    var missing: Int { max(0, min(slowQueue.count, Watcher.mostForSlow - aside)) }
    /// Whether the leader has something to do.
    var isNeeded: Bool { subscribers.isEmpty || !queue.isEmpty || missing > 0 }
    var count: Int { subscribers.values.reduce(0) { $0 + $1.count } }
  }
  /// A handle with so many subscriptions.
  fileprivate struct Subscriber {
    var count = 0
    let report: @Sendable (StoreError) -> Void
  }
  fileprivate enum Step {
    // The last references to observers go when no lock is held: theirs may be the last to what a user's code holds.
    case exit(leaving: [Observer])
    case call(Observer, wakingStandby: Bool)
    case startForSlow(Int)
    case watch
  }
  private let state = Monitor(State())
  private let feed: ChangeFeed
  private let storage: any Storage

  /// How many milliseconds a call may take before others are called meanwhile; tests have more patience, or less.
  let patience = Atomic<Int64>(100)
  /// How many threads are started for observers that are known to be slow.
  static let mostForSlow = 4
  /// How many threads may be in a call that takes long.
  static let mostAside = 8

  init(_ feed: ChangeFeed, _ storage: any Storage) {
    self.feed = feed
    self.storage = storage
    Fork.join(self)
  }

  deinit { Fork.leave(self) }

  /// Lets a handle have one more subscription; a thread is started with the first, and its standby with the second.
  ///
  /// - Parameter report: hears what goes wrong while changes are waited for.
  func enter(_ handle: ObjectIdentifier, report: @escaping @Sendable (StoreError) -> Void) throws(StoreError) {
    try state.update { state throws(StoreError) in
      if !state.hasLeader {
        state.epoch += 1
        try startLeader(state.epoch)
        state.hasLeader = true
      } else if !state.hasStandby {
        // The leader may be busy with another subscription, if only with one that has just ended.
        try LibraryThread.start { [self] in standBy() }
        state.hasStandby = true
      }
      state.subscribers[handle, default: Subscriber(report: report)].count += 1
    }
  }

  /// Ends one subscription of a handle; the threads go home with the last.
  func leave(_ handle: ObjectIdentifier) {
    let isLast = state.update { state in
      state.subscribers[handle]?.count -= 1
      if state.subscribers[handle]?.count == 0 { state.subscribers[handle] = nil }
      return state.subscribers.isEmpty && state.isWatching
    }
    if isLast { wake() }
  }

  /// It looks for mail by itself; others tell it of what an observer could not be given before.
  var fetchesMail: Bool { true }

  func mailArrived(for observer: Observer) {
    let mustWake = state.updateQuietly { state in
      // Of the last ones to end there may be mail that nobody will fetch.
      guard !state.subscribers.isEmpty else { return false }
      let wasNeeded = state.isNeeded
      state.append(observer)
      return state.isWatching && !wasNeeded && state.isNeeded
    }
    if mustWake { wake() }
  }

  /// After a commit, where the storage itself wakes nobody.
  func nudge() {
    if !storage.abilities.contains(.pushesChanges) { state.update { _ in } }
  }

  /// There is mail that no commit has brought.
  func fetchMail() {
    if state.read(\.isWatching) { wake() }
  }

  private func wake() {
    if storage.abilities.contains(.pushesChanges) { storage.interruptWaiting() } else { state.update { _ in } }
  }

  private func startLeader(_ epoch: Int) throws(StoreError) {
    let forks = Fork.count
    try LibraryThread.start { [self] in lead(epoch, since: forks) }
  }

  /// - Parameter forks: in which process it is.
  private func lead(_ epoch: Int, since forks: UInt64) {
    while true {
      // First what was told, then the mail: whatever comes later is newer than `told`, and ends the waiting.
      let (told, observers) = feed.mail()
      let step = state.updateQuietly { $0.next(observers) }
      switch step {
      case .exit: return
      case .call(let observer, let wakingStandby):
        if wakingStandby { state.update { _ in } }
        call(observer)
        // Whoever was replaced must not fetch mail any more: the other may be asleep by then.
        if !state.updateQuietly({ $0.endCall(epoch) }) { return callSlow(since: forks) }
      case .startForSlow(let count): startForSlow(count, since: forks)
      case .watch: watch(after: told)
      }
    }
  }

  /// Makes one call, and notes how long it took.
  private func call(_ observer: Observer) {
    let began = MonotonicTime.milliseconds
    guard observer.deliverNext() else { return }
    observer.note(isSlow: MonotonicTime.milliseconds - began >= patience.load(ordering: .relaxed))
  }

  /// What a thread aside does: it calls those who are slow, until none is left for it.
  private func callSlow(since forks: UInt64) {
    while let observer = state.updateQuietly({ $0.nextSlow(since: forks) }) { call(observer) }
  }

  /// Starts threads that were counted already.
  private func startForSlow(_ count: Int, since forks: UInt64) {
    for started in 0..<count {
      if (try? LibraryThread.start { [self] in callSlow(since: forks) }) != nil { continue }
      return state.updateQuietly { $0.goWithout(count - started) }
    }
  }

  /// Sleeps until somebody commits, and fetches what it was.
  private func watch(after told: Revision) {
    do throws(StoreError) {
      if storage.abilities.contains(.pushesChanges) {
        // Mail that no commit has brought may have come before it was to be seen that this thread is watching.
        if feed.hasMail { return state.updateQuietly { _ = $0.stopWatching() } }
        let isNews = try wait(after: told)
        let wasMeant = state.updateQuietly { $0.stopWatching() }
        if isNews {
          try feed.advance()
        } else if !wasMeant {
          // Not every storage says that it was closed: it would be waited for without a pause.
          _ = try storage.revision()
        }
      } else {
        let _: Bool? = state.wait(milliseconds: 2000) {
          $0.isNeeded || feed.hasMail ? true : nil
        }
      }
    } catch {
      report(error)
      // What could not be read now is read later: nothing is forgotten.
      let _: Bool? = state.wait(milliseconds: 1000) { $0.subscribers.isEmpty ? true : nil }
    }
  }

  /// Waits on the storage; what is wrong with one key is told, and keeps nobody from hearing of the others.
  private func wait(after told: Revision) throws(StoreError) -> Bool {
    var last: StoreError?
    while true {
      do throws(StoreError) { return try storage.wait(after: told) } catch {
        guard let key = error.key, key != last?.key || error.message != last?.message else { throw error }
        report(error)
        last = error
      }
    }
  }

  private func report(_ error: StoreError) {
    for subscriber in state.read(\.subscribers).values { subscriber.report(error) }
  }

  /// What the standby does.
  private func standBy() {
    while let call = awaitCall() {
      var seen = call
      while true {
        let limit = patience.load(ordering: .relaxed)
        let _: Bool? = state.wait(milliseconds: limit) { $0.subscribers.isEmpty ? true : nil }
        let now = state.updateQuietly { $0.takesOver(seen) }
        if let epoch = now.epoch {
          // Without another standby the next slow call delays the others; nothing is lost.
          if (try? LibraryThread.start { [self] in standBy() }) == nil { state.updateQuietly { $0.hasStandby = false } }
          return lead(epoch, since: Fork.count)
        }
        // Nobody was called meanwhile.
        if now.call == seen { break }
        seen = now.call
      }
    }
  }

  /// Sleeps until a call runs; nil when there is no more need for a standby.
  private func awaitCall() -> Int? {
    state.wait { state -> Int?? in
      if state.subscribers.isEmpty {
        state.hasStandby = false
        return .some(nil)
      }
      state.isStandbyAsleep = !state.isCalling
      return state.isCalling ? .some(state.call) : nil
    }
  }
}

extension Watcher.State {
  /// What the thread in charge does next, with new observers in the queue.
  fileprivate mutating func next(_ observers: [Observer]) -> Watcher.Step {
    for observer in observers { append(observer) }
    if subscribers.isEmpty {
      // Whatever was in the lines has ended.
      defer { (hasLeader, isWatching, queue, slowQueue) = (false, false, FIFOQueue(), FIFOQueue()) }
      return .exit(leaving: Array(queue) + Array(slowQueue))
    }
    let missing = missing
    if missing > 0 {
      aside += missing
      isWatching = false
      return .startForSlow(missing)
    }
    guard let observer = queue.next() else {
      isWatching = true
      return .watch
    }
    isWatching = false
    call += 1
    called = observer
    defer { isStandbyAsleep = false }
    return .call(observer, wakingStandby: isStandbyAsleep)
  }

  fileprivate mutating func append(_ observer: Observer) {
    if observer.isSlow { slowQueue.append(observer) } else { queue.append(observer) }
  }

  /// Whom a thread aside calls next; nil: it goes home, and is counted no more.
  fileprivate mutating func nextSlow(since forks: UInt64) -> Observer? {
    // One that has forked in its call is none of the child's.
    guard forks == Fork.count else { return nil }
    if aside <= Watcher.mostForSlow, let observer = slowQueue.next() { return observer }
    aside -= 1
    return nil
  }

  /// So many threads for slow ones could not be started: where there is none at all the leader calls them.
  fileprivate mutating func goWithout(_ count: Int) {
    aside -= count
    guard aside == 0 else { return }
    while let observer = slowQueue.next() { queue.append(observer) }
  }

  /// Whether the thread with this epoch is still the one in charge.
  fileprivate mutating func endCall(_ own: Int) -> Bool {
    guard own == epoch else { return false }
    call += 1
    called = nil
    return true
  }

  /// Whether somebody had a reason to end the waiting.
  fileprivate mutating func stopWatching() -> Bool {
    isWatching = false
    return isNeeded
  }

  /// Begins a epoch of the standby's if the call that it has seen still runs, which is a slow one.
  fileprivate mutating func takesOver(_ seen: Int) -> (call: Int, epoch: Int?) {
    guard !subscribers.isEmpty, isCalling, call == seen, aside < Watcher.mostAside else { return (call, nil) }
    called?.note(isSlow: true)
    called = nil
    aside += 1
    epoch += 1
    call += 1
    return (call, epoch)
  }
}

extension Watcher: ForkAware {
  func beforeFork() {}

  /// The threads are the parent's, and so are the subscriptions.
  ///
  /// Whoever forks inside a callback must not find its own epoch when that returns.
  func afterForkInChild() { state.update { $0 = State(epoch: $0.epoch + 1) } }
}
