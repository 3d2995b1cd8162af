// Reports changes to files: to which owners, when, and on which thread. Changes arrive through inotify. In addition,
// every file is checked every two seconds, so where inotify fails, changes are only found later. For its first second
// the thread has no inotify and checks every 50 ms: a program that ends would wait 8 to 25 ms for the kernel to close
// it.

import CPlatform
package import KeptValues
import Synchronization

/// The watched paths of the process, and the one thread that watches them.
///
/// Without watched paths there is no thread.
///
/// A file that another one is renamed to is reported at once, and again 20 ms later, because until then the clock of
/// the file system may not tell two changes apart. Other changes are reported when they are over, or after 200 ms while
/// they go on.
package final class FileWatch: Sendable {
  fileprivate struct Watch {
    let path: String
    // The stamp of the contents of the folder at the path; nil for a file.
    var folderStamp: (@Sendable () -> FileStamp)? = nil
    let changed: @Sendable () -> Void
    // The state that was last reported to the owner.
    var seen: FileStamp
  }
  fileprivate struct State {
    var watches: [Int: Watch] = [:]
    var lastNumber = 0
    // The number of the thread in charge. Only this thread begins calls, and after each call it checks whether it is
    // still in charge: in the child of a fork it is not.
    var epoch = 0
    // Whether that thread runs, or is about to.
    var hasThread = false
    // When to retry starting the thread after a failure.
    var retry: Int64 = 0
    // The thread's descriptors, created and closed inside the monitor so that a fork knows them. A thread that got
    // none, because too many files are open, retries with each check.
    var event: EventDescriptor?
    var events: Int32 = -1
    // The watch whose owner is being called, and the calling thread. Only that thread may end the watch before the call
    // returns.
    var called: (number: Int, by: UInt)?
  }
  fileprivate struct Look {
    let number: Int
    let path: String
    let folderStamp: (@Sendable () -> FileStamp)?
    let seen: FileStamp

    // The folder whose events show a change: the file's own folder, or the watched folder itself.
    var place: String { folderStamp == nil ? path : path + "/." }
    var stamp: FileStamp { folderStamp?() ?? FileStamp(of: path, followingLinks: true) }
  }
  private struct Change {
    let number: Int
    let stamp: FileStamp
  }
  private let state = Monitor(State())
  // Whether paths are watched but no thread runs, as in the child of a fork; changed inside the monitor.
  private let isBereft = Atomic<Bool>(false)

  package static let ofThisProcess = {
    let watch = FileWatch()
    Fork.join(watch)
    return watch
  }()

  private static let lookMilliseconds: Int32 = 2000
  private static let firstLooks = (count: 20, milliseconds: 50 as Int32)
  // How many times to wait for a change that is still going on.
  private static let patience = 10

  /// A watched path, until the watch is ended.
  package final class Token: Sendable {
    private let watch: FileWatch
    private let number: Int

    fileprivate init(_ watch: FileWatch, _ number: Int) { (self.watch, self.number) = (watch, number) }

    /// Ends the watch: no further call begins.
    ///
    /// A running call is waited for, unless this is called inside it, or inside another callback that it waits for.
    package func end() {
      watch.forget(number)
      let thread = LibraryThread.current
      guard CancellationWaits.ofThisProcess.begin(thread, waitingFor: self) else { return }
      watch.waitForCall(of: number)
      CancellationWaits.ofThisProcess.end(thread)
    }
  }

  /// Watches a file; neither the file nor its folder need exist.
  ///
  /// Every change from now on is reported, unless the thread for it cannot be started: see ``revive()``.
  ///
  /// Begin the watch before reading the file.
  ///
  /// - Parameter changed: called on the library's thread, with no lock held, one call at a time.
  package static func begin(_ path: String, _ changed: @escaping @Sendable () -> Void) -> Token {
    ofThisProcess.begin(path, changed)
  }

  /// Watches the contents of a folder.
  ///
  /// Throws `failed` if the thread for it cannot be started.
  /// - Parameter stamp: reads the combined stamp of the files that matter; called on any thread.
  package static func begin(
    folder path: String, stamp: @escaping @Sendable () -> FileStamp, _ changed: @escaping @Sendable () -> Void
  ) throws(StoreError) -> Token {
    let watch = Watch(path: path, folderStamp: stamp, changed: changed, seen: stamp())
    let token = Token(ofThisProcess, ofThisProcess.add(watch))
    do throws(StoreError) { try revive() } catch {
      token.end()
      throw error
    }
    return token
  }

  /// Watches a file in an instance of its own, for tests.
  package func begin(_ path: String, _ changed: @escaping @Sendable () -> Void) -> Token {
    Token(self, add(Watch(path: path, changed: changed, seen: FileStamp(of: path, followingLinks: true))))
  }

  package var hasThread: Bool { state.read(\.hasThread) }

  /// Starts the thread if it does not run: in the child of a fork, or where it could not be started before.
  ///
  /// Throws `failed` if it cannot be started: then no change is reported. Readers of watched files call it; it is quick
  /// if the thread runs.
  package static func revive() throws(StoreError) {
    let watch = ofThisProcess
    guard watch.isBereft.load(ordering: .relaxed) else { return }
    watch.state.update { watch.startThread(&$0) }
    guard watch.isBereft.load(ordering: .relaxed) else { return }
    throw StoreError(
      .failed, "could not start a thread to watch files, so changes to them are not noticed; stop some threads")
  }

  private func add(_ watch: Watch) -> Int {
    state.update { state in
      state.lastNumber += 1
      state.watches[state.lastNumber] = watch
      state.retry = 0
      if state.hasThread { state.event?.signal() } else { startThread(&state) }
      return state.lastNumber
    }
  }

  private func forget(_ number: Int) {
    let ended = state.update { state in
      let ended = state.watches.removeValue(forKey: number)
      if state.watches.isEmpty {
        state.event?.signal()
        isBereft.store(false, ordering: .relaxed)
      }
      return ended
    }
    // The objects that the owner's closure captured are released with no lock held.
    withExtendedLifetime(ended) {}
  }

  private func waitForCall(of number: Int) { state.wait { $0.called?.number == number ? nil : () } }

  private func caller(of number: Int) -> UInt? { state.read { $0.called?.number == number ? $0.called?.by : nil } }

  private func startThread(_ state: inout State) {
    guard !state.hasThread, !state.watches.isEmpty, MonotonicTime.milliseconds >= state.retry else { return }
    state.epoch += 1
    let epoch = state.epoch
    state.hasThread = (try? LibraryThread.start { [self] in keepWatch(epoch) }) != nil
    if !state.hasThread { state.retry = MonotonicTime.milliseconds + Int64(Self.lookMilliseconds) }
    isBereft.store(!state.hasThread, ordering: .relaxed)
  }
}

extension FileWatch.Token: WaitTarget {
  package var caller: UInt? { watch.caller(of: number) }
}

extension FileWatch {
  /// The loop of the watching thread.
  private func keepWatch(_ epoch: Int) {
    var folders = WatchedFolders()
    var patience = Self.patience
    var wasRenamed = false
    var firstLooks = Self.firstLooks.count
    while let looks = nextLooks(epoch, withEvents: firstLooks == 0) {
      let (event, events) = state.read { ($0.event?.descriptor ?? -1, $0.events) }
      var places: [String] = []
      var names = ""
      for look in looks {
        places.append(look.place)
        if look.folderStamp == nil { names += PathWalk.name(of: look.path) + "\0" }
      }
      // First the folders, then their events, then the files: later changes raise new events.
      folders.follow(places, events: events)
      if events >= 0, kept_inotify_drain(events, names) { wasRenamed = true }
      let changes = Self.changes(looks)
      var areOver = true
      for change in changes {
        if !change.stamp.isSettled {
          areOver = false
          // A file that was renamed was written before.
          guard patience == 0 || wasRenamed else { continue }
        }
        guard notify(change, epoch) else { return }
      }
      wasRenamed = false
      if !areOver && patience > 0 {
        patience -= 1
        pause(FileStamp.settlingMilliseconds, event: event, events: -1)
        continue
      }
      patience = Self.patience
      let wait = firstLooks > 0 ? Self.firstLooks.milliseconds : Self.lookMilliseconds
      firstLooks = max(0, firstLooks - 1)
      if pause(wait, event: event, events: events) {
        wasRenamed = waitForRename(names, event: event, events: events)
      }
    }
  }

  /// Waits after a first event, because a change is often followed by others; returns true as soon as a file is renamed
  /// to a watched one.
  private func waitForRename(_ names: String, event: Int32, events: Int32) -> Bool {
    // Not for each event: a busy folder must not keep this thread busy.
    for _ in 0..<FileStamp.settlingMilliseconds {
      if kept_inotify_drain(events, names) { return true }
      pause(1, event: event, events: -1)
    }
    return false
  }

  /// The files to check; nil when the thread must exit.
  private func nextLooks(_ epoch: Int, withEvents: Bool) -> [Look]? {
    state.updateQuietly { state -> [Look]? in
      guard epoch == state.epoch else { return nil }
      guard !state.watches.isEmpty else {
        state.closeDescriptors()
        state.hasThread = false
        return nil
      }
      state.openDescriptors(withEvents: withEvents)
      return state.watches.map { number, watch in
        Look(number: number, path: watch.path, folderStamp: watch.folderStamp, seen: watch.seen)
      }
    }
  }

  /// The files that have changed, or may have.
  private static func changes(_ looks: [Look]) -> [Change] {
    var changes: [Change] = []
    for look in looks {
      let now = look.stamp
      if !look.seen.vouches(for: now) { changes.append(Change(number: look.number, stamp: now)) }
    }
    return changes
  }

  /// Calls the owner of a watch that has not ended; returns false when the thread must exit.
  private func notify(_ change: Change, _ epoch: Int) -> Bool {
    call(change, epoch)
    return state.update { state in
      guard epoch == state.epoch else { return false }
      state.called = nil
      return true
    }
  }

  private func call(_ change: Change, _ epoch: Int) {
    let changed = state.updateQuietly { state -> (@Sendable () -> Void)? in
      guard epoch == state.epoch, state.watches[change.number] != nil else { return nil }
      state.watches[change.number]?.seen = change.stamp
      state.called = (change.number, LibraryThread.current)
      return state.watches[change.number]?.changed
    }
    changed?()
  }

  /// Sleeps until the event is signalled or inotify has events; returns whether there are inotify events.
  @discardableResult
  private func pause(_ milliseconds: Int32, event: Int32, events: Int32) -> Bool {
    let areEvents = kept_sleep_until_events(event, events, milliseconds)
    if event >= 0 { kept_event_clear(event) }
    return areEvents
  }
}

extension FileWatch.State {
  mutating func openDescriptors(withEvents: Bool) {
    if event == nil { event = try? EventDescriptor() }
    if withEvents, events < 0 { events = kept_inotify_open() }
  }

  mutating func closeDescriptors() {
    if events >= 0 { close(events) }
    (event, events) = (nil, -1)
  }
}

extension FileWatch: ForkAware {
  /// The thread and its descriptors belong to the parent: reading the events here would take them from it.
  package func afterForkInChild() {
    state.update { state in
      state.closeDescriptors()
      (state.epoch, state.hasThread, state.called) = (state.epoch + 1, false, nil)
      isBereft.store(!state.watches.isEmpty, ordering: .relaxed)
    }
  }
}
