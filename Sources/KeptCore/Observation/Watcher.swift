// The library's own threads for one open location: one waits for commits and calls observers, one at a time. When a
// call takes long, the standby thread takes over. An observer that was slow once is called by separate threads from
// then on, so a slow observer delays only other slow ones.

import KeptSystem
import KeptValues
import Synchronization

/// Waits on the storage, and calls the observers that are not called by a host or a queue.
///
/// There is no thread without subscriptions: each thread exits when it finds none. It records its exit in the same
/// step, so a concurrent subscription starts new threads. The leading thread is identified by its `epoch`. The standby
/// thread sleeps until a call begins and then checks every 100 ms whether the same call still runs. If it does, the
/// standby begins an epoch of its own, and the former leader neither waits on the storage nor fetches mail any more.
///
/// An observer that was slow waits in a separate queue, which the non-leading threads serve. The leader starts more of
/// them, up to ``mostForSlow``. The observer returns to the common queue after ``Observer/quickCallsInARow`` quick
/// calls in a row. So observers of one location are called one at a time, except slow ones. There are never more than
/// ``mostAside`` threads plus two; when that many run long calls, other observers wait.
///
/// Invariant: while an observer waits in the slow queue, a non-leading thread will look there after its call, or the
/// leader will before it sleeps.
final class Watcher: Delivery {
  fileprivate struct State {
    var queue = FIFOQueue<Observer>()
    var slowQueue = FIFOQueue<Observer>()
    // The number of non-leading threads that make calls.
    var aside = 0
    var subscribers: [ObjectIdentifier: Subscriber] = [:]
    var epoch = 0
    var hasLeader = false
    var hasStandby = false
    var isStandbyAsleep = false
    // Whether the leader may be asleep in the storage.
    var isWatching = false
    // Counts calls; odd while a call that the leader began runs.
    var call = 0
    // The observer that the leader calls.
    var called: Observer?
    // Why waiting has failed since it last succeeded.
    var failure: String?

    var isCalling: Bool { call % 2 == 1 }
    /// The number of threads that the slow queue still needs and may have.
    var missing: Int { max(0, min(slowQueue.count, Watcher.mostForSlow - aside)) }
    /// Whether the leader has work to do.
    var isNeeded: Bool { subscribers.isEmpty || !queue.isEmpty || missing > 0 }
    var count: Int { subscribers.values.reduce(0) { $0 + $1.count } }
  }
  /// A handle and the number of its subscriptions.
  fileprivate struct Subscriber {
    var count = 0
    let report: @Sendable (StoreError) -> Void
  }
  fileprivate enum Step {
    // The last references to observers are released when no lock is held: they may hold the last reference to a user's
    // objects.
    case exit(leaving: [Observer])
    case call(Observer, wakingStandby: Bool)
    case startForSlow(Int)
    case watch
  }
  private let state = Monitor(State())
  private let feed: ChangeFeed
  private let storage: any Storage

  /// The milliseconds that a call may take before another thread takes over; tests use other limits.
  let patience = Atomic<Int64>(100)
  /// The number of threads that are started for slow observers.
  static let mostForSlow = 4
  /// The number of threads that may be in a long call.
  static let mostAside = 8

  init(_ feed: ChangeFeed, _ storage: any Storage) {
    self.feed = feed
    self.storage = storage
    Fork.join(self)
  }

  deinit { Fork.leave(self) }

  /// Counts one more subscription of a handle.
  ///
  /// The first starts a thread, and the second starts the standby thread.
  ///
  /// - Parameter report: receives errors that occur while changes are waited for.
  func enter(_ handle: ObjectIdentifier, report: @escaping @Sendable (StoreError) -> Void) throws(StoreError) {
    try state.update { state throws(StoreError) in
      if !state.hasLeader {
        state.epoch += 1
        try startLeader(state.epoch)
        state.hasLeader = true
      } else if !state.hasStandby {
        // The leader may be busy with another subscription, even one that has just ended.
        try LibraryThread.start { [self] in standBy() }
        state.hasStandby = true
      }
      state.subscribers[handle, default: Subscriber(report: report)].count += 1
    }
  }

  /// Ends one subscription of a handle.
  ///
  /// The threads exit after the last.
  func leave(_ handle: ObjectIdentifier) {
    let isLast = state.update { state in
      state.subscribers[handle]?.count -= 1
      if state.subscribers[handle]?.count == 0 { state.subscribers[handle] = nil }
      return state.subscribers.isEmpty && state.isWatching
    }
    if isLast { wake() }
  }

  /// The watcher fetches mail itself.
  ///
  /// It is notified of mail that an observer could not receive before.
  var fetchesMail: Bool { true }

  func mailArrived(for observer: Observer) {
    let mustWake = state.updateQuietly { state in
      // The last subscriptions to end may leave mail that is never fetched.
      guard !state.subscribers.isEmpty else { return false }
      let wasNeeded = state.isNeeded
      state.append(observer)
      return state.isWatching && !wasNeeded && state.isNeeded
    }
    if mustWake { wake() }
  }

  /// Wakes the leader after a commit, for storages that do not wake it themselves.
  func nudge() {
    if !storage.abilities.contains(.pushesChanges) { state.update { _ in } }
  }

  /// Wakes the leader for mail that no commit has brought.
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

  /// - Parameter forks: the fork count of the process that started the thread.
  private func lead(_ epoch: Int, since forks: UInt64) {
    while true {
      // Read the delivered revision before the mail: anything later is newer than `delivered` and ends the waiting.
      let (delivered, observers) = feed.mail()
      let step = state.updateQuietly { $0.next(observers) }
      switch step {
      case .exit: return
      case .call(let observer, let wakingStandby):
        if wakingStandby { state.update { _ in } }
        call(observer)
        // A replaced leader must not fetch mail any more: the new leader may already be asleep.
        if !state.updateQuietly({ $0.endCall(epoch) }) { return callSlow(since: forks) }
      case .startForSlow(let count): startForSlow(count, since: forks)
      case .watch: watch(after: delivered)
      }
    }
  }

  /// Makes one call and records how long it took.
  private func call(_ observer: Observer) {
    let began = MonotonicTime.milliseconds
    guard observer.deliverNext() else { return }
    observer.note(isSlow: MonotonicTime.milliseconds - began >= patience.load(ordering: .relaxed))
  }

  /// The loop of a non-leading thread: it calls slow observers until none remains.
  private func callSlow(since forks: UInt64) {
    while let observer = state.updateQuietly({ $0.nextSlow(since: forks) }) { call(observer) }
  }

  /// Starts threads that are already counted.
  private func startForSlow(_ count: Int, since forks: UInt64) {
    for started in 0..<count {
      if (try? LibraryThread.start { [self] in callSlow(since: forks) }) != nil { continue }
      return state.updateQuietly { $0.goWithout(count - started) }
    }
  }

  /// Sleeps until another process commits, and fetches the changes.
  private func watch(after delivered: Revision) {
    do throws(StoreError) {
      if storage.abilities.contains(.pushesChanges) {
        // Mail that no commit has brought may have arrived before `isWatching` became visible.
        if feed.hasMail { return state.updateQuietly { _ = $0.stopWatching() } }
        let isNews = try wait(after: delivered)
        let wasMeant = state.updateQuietly { $0.stopWatching() }
        if isNews {
          try feed.advance()
        } else if !wasMeant {
          // Not every storage reports that it was closed. Without this check the loop would wait on it without pause.
          _ = try storage.revision()
        }
      } else {
        let _: Bool? = state.wait(milliseconds: 2000) {
          $0.isNeeded || feed.hasMail ? true : nil
        }
      }
      state.updateQuietly { $0.failure = nil }
    } catch {
      if state.updateQuietly({ $0.isNew(error) }) { report(error) }
      // A failed read is repeated later. No change is lost.
      let _: Bool? = state.wait(milliseconds: 1000) { $0.subscribers.isEmpty ? true : nil }
    }
  }

  /// Waits on the storage.
  ///
  /// An error for one key is reported and does not stop the delivery of the others.
  private func wait(after delivered: Revision) throws(StoreError) -> Bool {
    var last: StoreError?
    while true {
      do throws(StoreError) { return try storage.wait(after: delivered) } catch {
        guard let key = error.key, key != last?.key || error.message != last?.message else { throw error }
        report(error)
        last = error
      }
    }
  }

  private func report(_ error: StoreError) {
    for subscriber in state.read(\.subscribers).values { subscriber.report(error) }
  }

  /// The loop of the standby thread.
  private func standBy() {
    while let call = awaitCall() {
      var seen = call
      while true {
        let limit = patience.load(ordering: .relaxed)
        let _: Bool? = state.wait(milliseconds: limit) { $0.subscribers.isEmpty ? true : nil }
        let now = state.updateQuietly { $0.takesOver(seen) }
        if let epoch = now.epoch {
          // Without another standby thread, the next slow call delays the others; no notice is lost.
          if (try? LibraryThread.start { [self] in standBy() }) == nil { state.updateQuietly { $0.hasStandby = false } }
          return lead(epoch, since: Fork.count)
        }
        // No call was made in between.
        if now.call == seen { break }
        seen = now.call
      }
    }
  }

  /// Sleeps until a call runs; nil when no standby thread is needed any more.
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
  /// The next step of the leader, after adding new observers to the queue.
  fileprivate mutating func next(_ observers: [Observer]) -> Watcher.Step {
    for observer in observers { append(observer) }
    if subscribers.isEmpty {
      // All observers in the queues have ended.
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

  /// The next observer for a non-leading thread; nil if the thread must exit; it is then no longer counted.
  fileprivate mutating func nextSlow(since forks: UInt64) -> Observer? {
    // A thread that has forked in its call does not count in the child.
    guard forks == Fork.count else { return nil }
    if aside <= Watcher.mostForSlow, let observer = slowQueue.next() { return observer }
    aside -= 1
    return nil
  }

  /// Records that threads for slow observers could not be started.
  ///
  /// If there are none at all, the leader calls these observers.
  fileprivate mutating func goWithout(_ count: Int) {
    aside -= count
    guard aside == 0 else { return }
    while let observer = slowQueue.next() { queue.append(observer) }
  }

  /// Whether the thread with this epoch is still the leader.
  fileprivate mutating func endCall(_ own: Int) -> Bool {
    guard own == epoch else { return false }
    call += 1
    called = nil
    return true
  }

  /// Whether an error differs from the one before; each second another attempt fails.
  fileprivate mutating func isNew(_ error: StoreError) -> Bool {
    defer { failure = error.message }
    return failure != error.message
  }

  /// Whether there was a reason to end the waiting.
  fileprivate mutating func stopWatching() -> Bool {
    isWatching = false
    return isNeeded
  }

  /// Begins an epoch of the standby thread if the call that it has seen still runs and so is slow.
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
  /// The threads and the subscriptions belong to the parent.
  ///
  /// A thread that forks inside a callback must not find its own epoch when that returns.
  func afterForkInChild() { state.update { $0 = State(epoch: $0.epoch + 1) } }
}
