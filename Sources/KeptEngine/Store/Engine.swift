// A store that is open in this process.

import CPlatform
package import KeptSystem
package import KeptValues
import Synchronization

/// An object that follows the commits that a process has read, such as an index for readers without a lock.
package protocol EngineFollower: AnyObject, Sendable {
  /// Called after the chain has advanced, with the lock of the engine held.
  ///
  /// Until it returns, the image of the previous call is not used for another checkpoint.
  /// - Parameter keys: those that have changed; nil if any may have, because the chain begins with another image.
  func follow(_ chain: Chain, changed keys: [KeyName]?)

  /// Called when readers must ask the engine, until ``follow(_:changed:)`` is called with nil.
  func leave()

  /// Called instead after this process has committed edits, whose values the declarations of their keys admit.
  func follow(_ chain: Chain, edits: [KeyEdit])
}

/// The contents of a store at one revision.
///
/// Thread-safe. It keeps the file of its checkpoint open, and the memory of its image.
// The compiler cannot check it: nothing changes a chain that was copied.
package struct EngineSnapshot: @unchecked Sendable {
  package let chain: Chain

  /// Calls `body` with a copy of the chain, for a listing, which notes in it that it has met damage.
  package func list<Result>(
    _ body: (Chain) throws(StoreError) -> Result
  ) throws(StoreError) -> (Result, hasMetDamage: Bool) {
    let chain = Chain(chain)
    let result = try body(chain)
    return (result, chain.takeMetDamage())
  }
}

/// One store as this process has it open.
///
/// Thread-safe.
package final class Engine: Sendable {
  /// The state that one thread at a time uses, and never while it waits for another process.
  struct State {
    var chain: Chain
    let writer: FrameWriter
    var isClosed = false
    // In the child of a fork: the locks are the parent's, and the child takes others when it uses the store.
    var isForked = false
    // The state that the follower received last.
    var followed: (values: ValuesReader, position: Position)?
    // Whether the store was found to be removed or replaced.
    var hasMoved = false
  }
  let state: Monitor<State>
  // Held by the thread of this process that has the write lock, or waits for it; `state` is locked after it.
  let writing = Monitor(())
  private let follower: (any EngineFollower)?
  let folder: OpenFolder
  private let place: FileIdentity
  let pulse: Pulse
  // Its open file has the lock of the folder; nil in the child of a fork. It is used only inside.
  let lock: Monitor<StoreFile?>
  /// What at most one thread of this process does at a time.
  struct Work {
    var isCheckpoint = false
    var isSync = false
  }
  let work = Monitor(Work())
  // The files that a checkpoint has open while a fork may happen.
  let folding = Monitor<[StoreFile]>([])
  private let forked: EngineFork
  let failed = Monitor(FailedCheckpoints())
  /// Whether a value fits a declaration, both as they are stored: a checkpoint notes it, so that reading need not look.
  let fits: @Sendable (Value, String) -> Bool
  /// What opens secrets that were sealed.
  let secrets: (any SecretOpening)?
  let timeoutMilliseconds: Int64
  /// Names the frames of this process, up to the next call of ``endChange()``.
  package var author: UInt64 { authors.load(ordering: .relaxed) }
  private let authors = Atomic<UInt64>(.random(in: 1 ... .max))

  /// Opens the store in a folder, or creates it.
  ///
  /// Throws `busy` if a process that is opening the store takes longer than the timeout, or if the file `pulse` was
  /// removed or exchanged while processes have the store open; `corrupt` if the files are damaged.
  package init(
    _ folder: consuming OpenFolder, timeoutMilliseconds: Int64 = 5000, follower: (any EngineFollower)? = nil,
    secrets: (any SecretOpening)? = nil, fits: @escaping @Sendable (Value, String) -> Bool = { _, _ in true }
  ) throws(StoreError) {
    // A child that is forked in between would keep the locks.
    Fork.gate.enter()
    defer { Fork.gate.leave() }
    let (lock, chain, pulse) = try Self.open(folder, fits, waiting: timeoutMilliseconds)
    (self.lock, self.pulse, self.fits, self.follower) = (Monitor(lock), pulse, fits, follower)
    (self.timeoutMilliseconds, self.secrets) = (timeoutMilliseconds, secrets)
    place = try folder.status().identity
    self.folder = folder
    state = Monitor(State(chain: chain, writer: FrameWriter()))
    forked = EngineFork(self.lock, pulse, work, state, folding)
    Fork.join(forked)
  }

  deinit { Fork.leave(forked) }

  static func open(
    _ folder: borrowing OpenFolder, _ fits: (Value, String) -> Bool, waiting milliseconds: Int64
  ) throws(StoreError) -> (StoreFile, Chain, Pulse) {
    let deadline = MonotonicTime.milliseconds + milliseconds
    while true {
      if let opened = try open(folder, fits) { return opened }
      guard MonotonicTime.milliseconds < deadline else {
        throw StoreError(
          .busy,
          "the store in \(shown: folder.path) is being opened or recovered by another process, or its pulse file was "
            + "removed while it was open; try again, or close the programs that have it open")
      }
      MonotonicTime.letPass(microseconds: 500)
    }
  }

  /// Recovers the store alone, or joins the processes that have it open; nil if another one is about to do either.
  private static func open(
    _ folder: borrowing OpenFolder, _ fits: (Value, String) -> Bool
  ) throws(StoreError) -> (StoreFile, Chain, Pulse)? {
    let descriptor = kept_engine_open_folder(folder.descriptor)
    guard descriptor >= 0 else { throw .system("open the folder", folder.path) }
    let lock = StoreFile(taking: descriptor, path: folder.path)
    if kept_engine_lock_folder(descriptor, Int32(KEPT_ENGINE_ALONE)) {
      let (chain, pulse) = try Recovery.recover(folder, fits: fits)
      // Another process may get the folder in between, and recover the store again.
      guard pulse.hold(), kept_engine_lock_folder(descriptor, Int32(KEPT_ENGINE_SHARED)) else { return nil }
      return (lock, chain, pulse)
    }
    guard kept_engine_lock_folder(descriptor, Int32(KEPT_ENGINE_SHARED)),
      let pulse = try Pulse.map(in: folder, makes: false), pulse.hasOtherHolder, pulse.hold(),
      pulse.isInPlace(folder)
    else { return nil }
    let found: Chain?
    do throws(StoreError) { found = try Chain(folder) } catch {
      if error.code == .corrupt { Salvage.mark(folder) }
      throw error
    }
    guard let chain = found else { return nil }
    guard pulse.words.belongs(to: chain.store) else { throw Self.overwrittenPulse(in: folder.path) }
    return (lock, chain, pulse)
  }

  /// Holds the folder of the store once more.
  package func holdFolder() throws(StoreError) -> OpenFolder { try folder.again() }

  // MARK: - Reading

  /// Calls `body` with all that is published now; it must not keep it.
  package func read<Result>(_ body: (Chain) throws(StoreError) -> Result) throws(StoreError) -> Result {
    try state.updateQuietly { state throws(StoreError) in
      do throws(StoreError) {
        try catchUp(&state)
        let chain = state.chain
        if chain.secrets == nil { chain.secrets = secrets }
        defer { if chain.takeMetDamage() { Salvage.mark(folder) } }
        return try body(chain)
      } catch {
        if error.code == .corrupt { Salvage.mark(folder) }
        throw error
      }
    }
  }

  /// Returns what is published now, to be read at any time.
  package func snapshot() throws(StoreError) -> EngineSnapshot {
    try read { chain throws(StoreError) in EngineSnapshot(chain: Chain(chain)) }
  }

  /// Makes the next process that opens the store alone look for the damage that a snapshot has met.
  package func noteDamage() { Salvage.mark(folder) }

  /// Reads the commits of other processes, and goes to a newer checkpoint.
  func catchUp(_ state: inout State) throws(StoreError) {
    if state.isClosed { throw StoreError(.closed, "the store was closed; open it again") }
    if state.isForked { try join(&state) }
    if state.hasMoved {
      try checkPlace(of: state)
      state.hasMoved = false
    }
    try advance(&state)
    state.chain.limitMemory()
    notifyFollower(&state)
  }

  private func notifyFollower(_ state: inout State) {
    guard let follower else { return }
    let chain = state.chain
    let isSame = state.followed?.values === chain.values
    if isSame, state.followed?.position == chain.position { return }
    let changed = chain.takeChanged()
    follower.follow(chain, changed: isSame ? changed : nil)
    // Only now is the previous image free.
    state.followed = (chain.values, chain.position)
  }

  /// Throws `unavailable` if no process would find a commit, because the folder or a file in it was removed or
  /// replaced; then every call does, until it is in its place again.
  ///
  /// Throws `corrupt` if none would find it because a file was truncated or overwritten.
  package func checkPlace() throws(StoreError) {
    pulse.restoreLength()
    try state.updateQuietly { state throws(StoreError) in
      do throws(StoreError) { try checkPlace(of: state) } catch {
        // What is in memory can be read although the files are damaged.
        if error.code == .corrupt { throw error }
        (state.hasMoved, state.followed) = (true, nil)
        follower?.leave()
        throw error
      }
    }
  }

  private func checkPlace(of state: borrowing State) throws(StoreError) {
    let (path, chain) = (FolderAnchor.shown(folder.path), state.chain)
    let found = FileStatus(of: path, followingLinks: true)
    // Where this process may no longer enter a folder, nothing is known to have changed.
    guard found?.identity == place || found == nil && kept_errno() == EACCES else {
      throw StoreError(
        .unavailable, "\(path) was removed or replaced by another folder; open the store again")
    }
    // A newer checkpoint of another process replaces the journals too.
    if try !chain.isInPlace(folder) {
      guard let file = try folder.openFile(Chain.valuesName), try chain.isFollowed(by: ValuesReader(file)) else {
        throw StoreError(
          .unavailable, "files of the store in \(path) were removed or replaced; open the store again")
      }
    } else {
      try chain.last.check(upTo: chain.position)
    }
    guard state.isForked || pulse.words.belongs(to: chain.store) else {
      throw Self.overwrittenPulse(in: folder.path)
    }
  }

  private static func overwrittenPulse(in path: String) -> StoreError {
    StoreError(
      .unavailable,
      "the pulse file in \(FolderAnchor.shown(path)) was truncated or overwritten; close the store everywhere and open "
        + "it again")
  }

  private func advance(_ state: inout State) throws(StoreError) {
    for _ in 0..<Self.mostRestarts {
      if pulse.words.checkpoint > state.chain.values.header.number, let newer = try Chain(folder) {
        // Observers have not received the commits in between.
        if state.chain.isObserved { _ = try? state.chain.catchUp(to: pulse.words.published, folder) }
        newer.follow(state.chain)
        state.chain = newer
      }
      let published = pulse.words.published
      guard state.chain.place.position < published else { return }
      if try state.chain.catchUp(to: published, folder) == .done {
        guard state.chain.place.position < published else { return }
        throw StoreError(
          .corrupt,
          "commits in the journal of \(shown: folder.path) are damaged; close the store everywhere, "
            + "and the next program that opens it salvages the readable data")
      }
      guard let newer = try Chain(folder) else { continue }
      state.chain = newer
    }
    throw StoreError(
      .corrupt,
      "the journals in \(shown: folder.path) do not follow its checkpoint; close the store "
        + "everywhere and open it again")
  }

  /// How often a read begins again because checkpoints have replaced the journals that it was about to read.
  static let mostRestarts = 1000

  // MARK: - Writing

  /// Writes frames at the end, and publishes them.
  ///
  /// - Parameter build: adds frames after the published ones, with the write lock held. If it adds none or throws,
  ///   nothing is committed; its error is rethrown.
  /// - Returns: the position after the frames.
  @discardableResult
  package func commit(
    timeoutMilliseconds: Int64 = 5000,
    _ build: (Chain, FrameWriter) throws(StoreError) -> Void
  ) throws(StoreError) -> Position {
    try write(until: MonotonicTime.milliseconds + timeoutMilliseconds) { state throws(StoreError) in
      let chain = state.chain
      state.writer.begin(at: chain.place)
      try build(chain, state.writer)
      try publish(&state)
      return state.writer.place.position
    }
  }

  /// Commits as ``commit(timeoutMilliseconds:_:)`` does, if that need not wait.
  ///
  /// - Parameter build: adds one frame, or none, after the published ones; false commits nothing.
  /// - Returns: the revision; nil, with nothing done, if it would have to wait, or has failed.
  package func tryCommit(_ build: (Chain, FrameWriter) throws(StoreError) -> Bool) -> Revision? {
    writing.tryUpdateQuietly { _ in
      state.tryUpdateQuietly { state in
        guard !state.isClosed, !state.isForked, state.chain.length <= Self.longestJournals,
          state.chain.position == pulse.words.published, pulse.tryLockForWriting()
        else {
          return nil
        }
        defer { pulse.unlockForWriting() }
        guard state.chain.position == pulse.words.published else { return nil }
        let revision = state.chain.revision
        state.writer.begin(at: state.chain.place)
        do throws(StoreError) {
          guard try build(state.chain, state.writer) else { return nil }
          try publish(&state)
        } catch { return nil }
        return state.writer.bytes.isEmpty ? revision : revision + 1
      }
    }
  }

  /// The right to write; no other thread and no other process writes at the same time.
  package struct Turn: ~Copyable {
    fileprivate let engine: Engine

    /// Makes frames that follow the published ones, and does not publish them.
    package func build(_ body: (Chain, FrameWriter) throws(StoreError) -> Void) throws(StoreError) {
      try engine.state.updateQuietly { state throws(StoreError) in
        try engine.catchUp(&state)
        if state.chain.secrets == nil { state.chain.secrets = engine.secrets }
        state.writer.begin(at: state.chain.place)
        try body(state.chain, state.writer)
      }
    }

    /// Calls `body` with all that is published.
    package func read<Result>(_ body: (Chain) throws(StoreError) -> Result) throws(StoreError) -> Result {
      try engine.read(body)
    }

    /// Writes frames that were made elsewhere for the end of the published ones, and publishes them.
    ///
    /// This process reads them later, as others do, because that may take longer than others should wait.
    package func publish(_ frames: FrameWriter) throws(StoreError) {
      try engine.state.updateQuietly { state throws(StoreError) in
        try engine.catchUp(&state)
        guard frames.begin == state.chain.place.position else { throw Engine.unlockedWriter }
        try engine.write(frames, state)
      }
    }

    /// Writes the frames, and publishes them.
    package func publish() throws(StoreError) {
      try engine.state.updateQuietly { state throws(StoreError) in
        try engine.catchUp(&state)
        try engine.publish(&state)
      }
    }
  }

  /// Calls `body` with the write lock; it may read the store, and must not write to it in another way.
  package func takeTurn<Result>(
    timeoutMilliseconds: Int64, _ body: (borrowing Turn) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try lockForWriting(until: MonotonicTime.milliseconds + timeoutMilliseconds) { () throws(StoreError) in
      try body(Turn(engine: self))
    }
  }

  /// Calls `body` with the write lock, at the end of the published frames.
  func write<Result>(
    until deadline: Int64, needsRoom: Bool = true, _ body: (inout State) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try lockForWriting(until: deadline, needsRoom: needsRoom) { () throws(StoreError) in
      try state.updateQuietly { state throws(StoreError) in
        try catchUp(&state)
        return try body(&state)
      }
    }
  }

  /// - Parameter needsRoom: whether no commit begins while the journals are too long.
  private func lockForWriting<Result>(
    until deadline: Int64, needsRoom: Bool = true, _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    var hasYielded = false
    while true {
      var (isLong, mustYield) = (false, false)
      let result: Result? = try writing.updateQuietly { _ throws(StoreError) in
        // Before the lock, so that others wait for less.
        let position = try state.updateQuietly { state throws(StoreError) in
          try catchUp(&state)
          isLong = needsRoom && state.chain.length > Self.longestJournals
          return state.chain.position
        }
        if isLong { return nil }
        guard pulse.lockForWriting(until: min(deadline, MonotonicTime.milliseconds + Self.longestRound)) else {
          return nil
        }
        defer { pulse.unlockForWriting() }
        // A long commit, for which it has waited, is read without the lock too.
        mustYield = !hasYielded && pulse.words.published &- position > Self.mostUnread
        return mustYield ? nil : try body()
      }
      if let result { return result }
      if mustYield {
        hasYielded = true
        continue
      }
      if isLong {
        try shortenJournals(until: deadline)
        continue
      }
      guard MonotonicTime.milliseconds < deadline else {
        throw StoreError(.busy, "other programs held the write lock of the store until the timeout; try again")
      }
      // Otherwise this thread would mostly be the next one again, and others learn too late that the store is busy.
      MonotonicTime.letPass(microseconds: 1000)
    }
  }

  /// Others wait for the lock while this many bytes of frames are read with it.
  private static let mostUnread: Position = 64 << 10

  /// How long a thread waits for the write lock before it lets other threads try, and a fork happen.
  private static let longestRound: Int64 = 100

  /// Writes the frames that were built, and publishes them.
  func publish(_ state: inout State) throws(StoreError) {
    guard state.writer.place.position > state.chain.place.position else { return }
    try write(state.writer, state)
    add(state.writer, &state)
  }

  private func write(_ frames: FrameWriter, _ state: borrowing State) throws(StoreError) {
    let (begin, journal) = (state.chain.place.position, state.chain.last)
    if !pulse.words.isDirty {
      // Processes that sleep without bound must look, and sync if this one dies before it wakes them.
      pulse.words.isDirty = true
      pulse.wake()
    }
    try journal.write(frames.bytes, at: begin, keeping: Self.reserve(after: frames))
    guard pulse.words.publish(frames.place.position, after: begin) else {
      try journal.erase(at: begin)
      throw Self.unlockedWriter
    }
    pulse.wakeSleepers()
    // Without room for more zeros, frames still fit into those that are left.
    try? journal.writeAhead(of: frames.place.position, after: frames.bytes.count)
  }

  private static var unlockedWriter: StoreError {
    StoreError(.busy, "another process wrote to the journal without locking it; try again")
  }

  /// Adds frames that were published with a turn, unless this process has read them since.
  package func add(_ frames: FrameWriter) {
    state.updateQuietly { state in
      guard !state.isClosed, frames.begin == state.chain.place.position else { return }
      add(frames, &state)
    }
  }

  /// Adds written frames to the chain of this process; without memory for them, the next call reads them.
  private func add(_ frames: FrameWriter, _ state: inout State) {
    do throws(StoreError) {
      guard let edits = frames.edits, let follower, let followed = state.followed,
        followed.values === state.chain.values, followed.position == state.chain.position
      else {
        try state.chain.add(frames)
        return notifyFollower(&state)
      }
      try state.chain.add(edits, of: frames)
      follower.follow(state.chain, edits: edits)
      state.followed?.position = state.chain.position
    } catch {}
  }

  /// How many zeros are left after frames: on a full disk the last 4 KiB of a journal are for removals and the seal.
  private static func reserve(after frames: FrameWriter) -> Int { frames.hasPayload ? 4096 : frames.isSeal ? 0 : 64 }

  /// Makes the next commit a change of its own in the history: the changes that were read there stay as they are.
  package func endChange() { authors.store(.random(in: 1 ... .max), ordering: .relaxed) }

  // MARK: - Waiting

  /// The address of ``published``, which stays readable.
  package var publishedAddress: UnsafePointer<UInt64> { UnsafePointer(pulse.words.publishedWord) }

  /// The end of the published frames; it changes with each commit of any process.
  package var published: Position { pulse.words.published }

  /// Changes with each ``wake()``.
  package var wakes: UInt32 { kept_load32(pulse.words.wakeWord) }

  /// Whether commits are not synced yet.
  package var isDirty: Bool { pulse.words.isDirty }

  /// Sleeps until frames are published, or until the timeout.
  ///
  /// It returns at once if ``published`` is not `seen`, or if the sleepers were woken since there were `wakes`.
  package func sleep(seen: Position, wakes: UInt32, milliseconds: Int32) {
    // The flag first, then the position: a writer moves the position first and then reads the flag.
    kept_store32(pulse.words.sleeping, 1)
    if published == seen { kept_sleep_on(pulse.words.wakeWord, wakes, milliseconds) }
  }

  /// Wakes the sleepers of all processes; they check their conditions again.
  package func wake() { pulse.wake() }
}
