// Tells of changes to files: who is told, when, and by which thread. It hears of them through inotify, and in any case
// looks every two seconds: where inotify fails, a change is only heard of later.

import CPlatform
import Synchronization

/// The watched paths of the process, and the one thread that watches them; there is none while nothing is watched.
///
/// A change is told once it is over, or after 200 ms of it: who replaces a file by renaming another over it is heard of
/// 20 ms later. It may be told once too often, where the clock of the file system cannot tell two changes apart.
package final class FileWatch: Sendable {
  fileprivate struct Watch {
    let path: String
    var isFolder = false
    let changed: @Sendable () -> Void
    // What its owner has been told of.
    var told: FileStamp
  }
  fileprivate struct State {
    var watches: [Int: Watch] = [:]
    var lastNumber = 0
    // The thread in charge is the one with this number. It alone begins calls, and after each it looks whether it is
    // still in charge: in the child of a fork it is not.
    var shift = 0
    // Set: that thread runs, or is about to.
    var hasThread = false
    // When to try again to start it, where that failed.
    var retry: Int64 = 0
    // Its descriptors, made and closed inside the monitor, so that a fork knows them. A thread that got none, as too
    // many are open, tries again with each look.
    var event: EventDescriptor?
    var events: Int32 = -1
    // The watch whose owner is being called, and by which thread. Nobody ends it but that thread, before the call is
    // over.
    var called: (number: Int, by: UInt)?
  }
  fileprivate struct Look {
    let number: Int
    let path: String
    let isFolder: Bool
    let told: FileStamp

    // Where a change of it is heard: in the folder that it is in, or that it is.
    var place: String { isFolder ? path + "/." : path }
    var stamp: FileStamp { isFolder ? FileStamp(ofFolder: path) : FileStamp(of: path) }
  }
  private struct Change {
    let number: Int
    let stamp: FileStamp
  }
  private let state = Monitor(State())
  // Whether something is watched and no thread runs, as in the child of a fork; changed inside the monitor.
  private let isBereft = Atomic<Bool>(false)

  static let ofThisProcess = {
    let watch = FileWatch()
    Fork.join(watch)
    return watch
  }()

  private static let lookMilliseconds: Int32 = 2000
  // How many times a change is waited for that is still going on.
  private static let patience = 10

  /// A path that is watched, until it is ended.
  package final class Token: Sendable {
    private let watch: FileWatch
    private let number: Int

    fileprivate init(_ watch: FileWatch, _ number: Int) { (self.watch, self.number) = (watch, number) }

    /// Ends the watch: no further call begins, and one that runs is waited for, unless this is called inside it, or
    /// inside another callback that it waits for.
    package func end() {
      watch.forget(number)
      let thread = LibraryThread.current
      guard CancellationWaits.ofThisProcess.begin(thread, waitingFor: self) else { return }
      watch.waitForCall(of: number)
      CancellationWaits.ofThisProcess.end(thread)
    }
  }

  /// Watches a file, which need not exist, nor its folder.
  ///
  /// Every change is told that happens from now on: begin first, and then read.
  ///
  /// - Parameter changed: is called on the thread of the library, with no lock held, one call at a time.
  package static func begin(_ path: String, _ changed: @escaping @Sendable () -> Void) -> Token {
    ofThisProcess.begin(path, changed)
  }

  /// Watches the files of keys in the folder of a `DirectoryStorage`.
  static func begin(folder path: String, _ changed: @escaping @Sendable () -> Void) -> Token {
    let told = FileStamp(ofFolder: path)
    return Token(ofThisProcess, ofThisProcess.add(Watch(path: path, isFolder: true, changed: changed, told: told)))
  }

  /// For tests, apart from what else the process watches.
  func begin(_ path: String, _ changed: @escaping @Sendable () -> Void) -> Token {
    Token(self, add(Watch(path: path, changed: changed, told: FileStamp(of: path))))
  }

  var hasThread: Bool { state.read(\.hasThread) }

  /// Starts the thread again in the child of a fork, for whoever reads what is watched; quick where it runs.
  package static func revive() {
    let watch = ofThisProcess
    if watch.isBereft.load(ordering: .relaxed) { watch.state.update { watch.startThread(&$0) } }
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
    // What its owner had captured goes with no lock held.
    withExtendedLifetime(ended) {}
  }

  private func waitForCall(of number: Int) { state.wait { $0.called?.number == number ? nil : () } }

  private func caller(of number: Int) -> UInt? { state.read { $0.called?.number == number ? $0.called?.by : nil } }

  private func startThread(_ state: inout State) {
    guard !state.hasThread, !state.watches.isEmpty, MonotonicTime.milliseconds >= state.retry else { return }
    state.shift += 1
    let shift = state.shift
    state.hasThread = (try? LibraryThread.start { [self] in keepWatch(shift) }) != nil
    if !state.hasThread { state.retry = MonotonicTime.milliseconds + Int64(Self.lookMilliseconds) }
    isBereft.store(!state.hasThread, ordering: .relaxed)
  }
}

extension FileWatch.Token: WaitTarget {
  var caller: UInt? { watch.caller(of: number) }
}

extension FileWatch {
  /// What the thread does.
  private func keepWatch(_ shift: Int) {
    var folders = WatchedFolders()
    var patience = Self.patience
    while let looks = nextLooks(shift) {
      let (event, events) = state.read { ($0.event?.descriptor ?? -1, $0.events) }
      // First the folders, then what was heard of them, then the files: whatever happens later is heard of.
      folders.follow(looks.map(\.place), events: events)
      if events >= 0 { kept_inotify_drain(events) }
      let changes = Self.changes(looks)
      let areOver = changes.allSatisfy(\.stamp.isSettled)
      for change in changes where change.stamp.isSettled || patience == 0 {
        guard tell(change, shift) else { return }
      }
      if !areOver && patience > 0 {
        patience -= 1
        pause(FileStamp.settlingMilliseconds, event: event, events: -1)
        continue
      }
      patience = Self.patience
      if pause(Self.lookMilliseconds, event: event, events: events) {
        // A change often comes with others, and a busy folder must not keep us busy.
        pause(FileStamp.settlingMilliseconds, event: event, events: -1)
      }
    }
  }

  /// What there is to look at; nil when the thread goes home.
  private func nextLooks(_ shift: Int) -> [Look]? {
    state.updateQuietly { state -> [Look]? in
      guard shift == state.shift else { return nil }
      guard !state.watches.isEmpty else {
        state.closeDescriptors()
        state.hasThread = false
        return nil
      }
      state.openDescriptors()
      return state.watches.map { number, watch in
        Look(number: number, path: watch.path, isFolder: watch.isFolder, told: watch.told)
      }
    }
  }

  /// The files that have changed, or may have.
  private static func changes(_ looks: [Look]) -> [Change] {
    var changes: [Change] = []
    for look in looks {
      let now = look.stamp
      if !look.told.vouches(for: now) { changes.append(Change(number: look.number, stamp: now)) }
    }
    return changes
  }

  /// Calls the owner of a watch, unless that has ended; false when the thread goes home.
  private func tell(_ change: Change, _ shift: Int) -> Bool {
    call(change, shift)
    return state.update { state in
      guard shift == state.shift else { return false }
      state.called = nil
      return true
    }
  }

  private func call(_ change: Change, _ shift: Int) {
    let changed = state.updateQuietly { state -> (@Sendable () -> Void)? in
      guard shift == state.shift, state.watches[change.number] != nil else { return nil }
      state.watches[change.number]?.told = change.stamp
      state.called = (change.number, LibraryThread.current)
      return state.watches[change.number]?.changed
    }
    changed?()
  }

  /// Sleeps until the event rings or there are events; whether there are.
  @discardableResult
  private func pause(_ milliseconds: Int32, event: Int32, events: Int32) -> Bool {
    let areEvents = kept_sleep_until_events(event, events, milliseconds)
    if event >= 0 { kept_event_clear(event) }
    return areEvents
  }
}

extension FileWatch.State {
  mutating func openDescriptors() {
    if event == nil { event = try? EventDescriptor() }
    if events < 0 { events = kept_inotify_open() }
  }

  mutating func closeDescriptors() {
    if events >= 0 { close(events) }
    (event, events) = (nil, -1)
  }
}

extension FileWatch: ForkAware {
  func beforeFork() {}

  /// The thread is the parent's, and so are its descriptors: reading the events here would take them from it.
  func afterForkInChild() {
    state.update { state in
      state.closeDescriptors()
      (state.shift, state.hasThread, state.called) = (state.shift + 1, false, nil)
      isBereft.store(!state.watches.isEmpty, ordering: .relaxed)
    }
  }
}
