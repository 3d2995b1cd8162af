// The journal of one open store: where it is, how far it reaches, who may write it, and who sleeps until it moves.

import CPlatform
import KeptSystem
import KeptValues
import Synchronization

/// The ring, its words and its locks.
final class Journal: Sendable {
  let store: StoreID
  /// Names the frames of this process.
  let writer = UInt64.random(in: 1 ... .max)
  let page: PulsePage
  let files: Monitor<Files>

  struct Files {
    /// Its description holds the lock that marks the store as open; nil in the child of a fork, until it is used there.
    var lock: JournalLock?
    var isClosed = false
    var file: JournalFile
    let identity: FileIdentity?
    /// The file that is mapped as the pulse.
    var pulse: FileIdentity?
  }
  let folder: StoreFolder
  // One sync of the ring at a time: the next one must know that this one has failed.
  private let syncs = Monitor(())
  // A quarter of the ring that was in use last, as far as this process knows.
  private let quarter: Atomic<UInt64>
  // The number of the description in `files.lock`: whom the write lock belongs to while this process writes.
  private let holder: Atomic<UInt64>
  // Set while the path may lead elsewhere; every use then looks, until it leads here.
  private let wasMoved = Atomic<Bool>(false)

  init(_ lock: JournalLock, _ file: JournalFile, _ page: PulsePage, of store: StoreID, in folder: StoreFolder) {
    files = Monitor(
      Files(
        lock: lock, file: file, identity: FileStatus(of: lock.descriptor)?.identity,
        pulse: FileStatus(of: PulseFile.path(in: folder))?.identity))
    quarter = Atomic(UInt64(file.header.size / 4))
    holder = Atomic(lock.holder)
    self.page = PulsePages.settle(page)
    (self.store, self.folder) = (store, folder)
  }

  deinit {
    release()
    PulsePages.retire(page)
  }

  /// Gives the disk space of the ring back when the last process closes the store and everything is settled.
  ///
  /// A process that opens it at the same time is not harmed: nothing is read below `start`, and only the holder of the
  /// write lock writes.
  func releaseSpace() {
    guard files.read({ $0.lock?.isAlone == true }), let ring = try? ring(), tryLockForWriting(ring) else { return }
    defer { unlockForWriting() }
    let published = published
    // A damaged pulse may say anything.
    guard !words.isDoubtful, words.settled >= published, published >= ring.header.begin else { return }
    words.raiseStart(to: published)
    ring.releaseSpace(after: published)
  }

  /// Releases the locks of this process when the store is closed; the page stays mapped.
  func release() {
    files.update { files in
      files.lock?.close()
      (files.lock, files.isClosed) = (nil, true)
    }
  }

  /// Lets go of the locks of the parent, in the child of a fork: the two would share them.
  func afterForkInChild() {
    files.update { files in
      files.lock?.close()
      files.lock = nil
    }
  }

  var words: JournalWords { page.words }

  /// The position up to which frames are published; it changes with every commit of every process.
  ///
  /// It is odd while the page is retired, see ``end()``.
  var published: JournalPosition { words.published }

  /// Whether a quarter of the ring is not settled.
  var isFillingUp: Bool {
    let (published, settled) = (words.published, words.settled)
    return published > settled && published - settled > quarter.load(ordering: .relaxed)
  }

  /// The address of `published`, which stays mapped until the process ends.
  var publishedAddress: UnsafePointer<UInt64> { UnsafePointer(words.publishedWord) }

  /// The error for a frame that does not verify.
  var damage: StoreError {
    StoreError(
      .corrupt,
      "the journal of the store is damaged (\(shown: files.read(\.file.path))); close the store everywhere and open "
        + "it again to salvage the readable data")
  }

  /// The error for a pulse whose words contradict the database or the ring.
  var damagedPulse: StoreError {
    StoreError(
      .corrupt,
      "the pulse in \(shown: folder.path) is damaged or belongs to another journal; close the store everywhere and "
        + "open it again")
  }

  /// How often a read begins again because others have overwritten what it was reading.
  ///
  /// Each time they have written a whole ring and settled it, so that only the words of a damaged pulse lead there.
  static let mostRestarts = 1000

  /// Throws `corrupt` if the database is beyond the published frames: positions only grow, and nothing else is settled.
  func check(settled position: JournalPosition) throws(StoreError) {
    let published = published
    guard published % 2 == 1 || position <= published else { throw damagedPulse }
  }

  /// The ring that is in use now; `busy` while another one is being made, which the holder of the write lock excludes.
  func file() throws(StoreError) -> JournalFile {
    if let ring = try ring() { return ring }
    throw StoreError(.busy, "the journal in \(folder.shown) is being recreated; try again")
  }

  /// The ring that is in use now; nil while another one is being made, when everything is settled.
  func ring() throws(StoreError) -> JournalFile? {
    try files.updateQuietly { files throws(StoreError) in
      _ = try lock(&files)
      while true {
        let journal = words.journal
        if journal == 0 { return nil }
        if files.file.header.journal == journal { return files.file }
        let now = try JournalFile.read(files.file.descriptor, path: files.file.path)
        if let now, now.header.journal == journal {
          use(now, &files)
          return now
        }
        // Unless the next one has begun in between.
        guard words.journal != journal else { throw damagedPulse }
      }
    }
  }

  /// Throws `corrupt` unless the head in the file is the one of the ring in use.
  func checkHead() throws(StoreError) {
    guard let file = try ring() else { return }
    let found = try JournalFile.read(file.descriptor, path: file.path)
    // Another ring may begin just now.
    guard found?.header == file.header || file.header.journal != words.journal else { throw damage }
  }

  /// The ring that was in use last, and the session that its file names.
  func lastFile() throws(StoreError) -> (JournalFile, session: UInt64) {
    try files.updateQuietly { files throws(StoreError) in
      _ = try lock(&files)
      return (files.file, page.session)
    }
  }

  /// Whether a process has begun to make another ring, and has not ended.
  var isRingMissing: Bool { words.journal == 0 }

  /// Notes that another ring is being made; the write lock is held, and everything is settled.
  func beginMove() { words.move(to: 0) }

  /// Begins another ring in the same file; the write lock is held, and everything is settled.
  func move(to file: JournalFile) {
    files.update { use(file, &$0) }
    words.move(to: file.header.journal)
  }

  private func use(_ file: JournalFile, _ files: inout Files) {
    files.file = file
    quarter.store(UInt64(file.header.size / 4), ordering: .relaxed)
  }

  /// Whether the path still leads to the journal.
  var isInPlace: Bool { files.read { $0.lock?.isInPlace ?? true } }

  /// Notes that the path may no longer lead to the journal.
  func noteMove() { wasMoved.store(true, ordering: .releasing) }

  var mayHaveMoved: Bool { wasMoved.load(ordering: .acquiring) }

  /// Throws if a move was noted, and the path does not lead to the journal.
  func checkUsable() throws(StoreError) {
    guard mayHaveMoved else { return }
    try checkInPlace()
    wasMoved.store(false, ordering: .releasing)
  }

  /// Throws if the path no longer leads to the journal: no process would find the frames written here.
  func checkInPlace() throws(StoreError) {
    try folder.checkInPlace()
    let isInPlace = try files.updateQuietly { files throws(StoreError) -> Bool in try lock(&files).isInPlace }
    guard isInPlace else {
      throw StoreError(
        .unavailable, "the journal in \(folder.shown) was removed or replaced; open the store again"
      )
    }
  }

  /// Writes the ring to the disk, whose frames were published up to a position before the call; their bodies are there.
  func sync(upTo: JournalPosition) throws(StoreError) {
    // Without a ring everything is in the database, and on the disk.
    guard let file = try ring() else { return }
    try syncs.updateQuietly { _ throws(StoreError) in
      try checkCertain()
      do throws(StoreError) { try file.sync() } catch {
        words.isDoubtful = true
        throw error
      }
      // A sync of another process may have failed in between.
      try checkCertain()
    }
    words.raiseSynced(to: upTo)
  }

  /// Throws after a failed sync: a later one may have succeeded without what that one has lost.
  func checkCertain() throws(StoreError) {
    guard words.isDoubtful else { return }
    throw StoreError(
      .unavailable, "an earlier sync of the store failed, so commits may not be on the disk; try again")
  }

  func lock(_ files: inout Files) throws(StoreError) -> JournalLock {
    if files.isClosed { throw StoreError(.closed, "the store was closed; open it again") }
    if let lock = files.lock { return lock }
    let lock = try JournalLock.open(in: folder)
    do throws(StoreError) {
      guard FileStatus(of: lock.descriptor)?.identity == files.identity, lock.share(),
        let file = try JournalFile.read(lock.descriptor, path: lock.path), file.header.store == store,
        page.belongs(to: store, in: try file.session()) || isRetired
      else {
        throw StoreError(
          .unavailable, "the journal in \(folder.shown) was replaced since the fork; open the store again")
      }
      (files.lock, files.file) = (lock, file)
      holder.store(lock.holder, ordering: .relaxed)
      return lock
    } catch {
      lock.close()
      throw error
    }
  }

  // MARK: - The write lock

  /// Takes the write lock; throws `busy` after the deadline.
  ///
  /// One thread of the process at a time may call this.
  func lockForWriting(until deadline: Int64) throws(StoreError) {
    while true {
      // Joins another pulse if the page is retired.
      _ = try end()
      let lock = try files.updateQuietly { files throws(StoreError) -> JournalLock in try self.lock(&files) }
      if let ended = lock.takeWriting(page) {
        // It may have ended before it had woken those who were to notice that something is not settled.
        if ended != 0 { wake() }
        return
      }
      let left = deadline - MonotonicTime.milliseconds
      guard left > 0 else {
        throw StoreError(.busy, "another process held the write lock of the store until the timeout; try again")
      }
      if page.awaitOwner() { continue }
      let word = kept_load32(page.writersWord)
      kept_store32(page.waiting, 1)
      // A writer that is killed wakes no thread.
      if page.owner != 0 { kept_sleep_on(page.writersWord, word, 1) }
    }
  }

  /// Takes the write lock for a group of frames; false if it is not free, or another ring is in use.
  func tryLockForWriting(_ ring: JournalFile) -> Bool {
    let holder = holder.load(ordering: .relaxed)
    guard page.replaceOwner(0, by: holder) else { return false }
    if page.isHeld(by: holder), words.journal == ring.header.journal { return true }
    unlockForWriting()
    return false
  }

  func unlockForWriting() {
    page.releaseWriting(holder.load(ordering: .relaxed))
    if kept_load32(page.waiting) != 0, kept_swap32(page.waiting, 0) != 0 {
      _ = kept_add32(page.writersWord, 1)
      kept_wake_all(page.writersWord)
    }
  }

  // MARK: - Publishing

  /// The head of a commit that is made now.
  func head(_ revision: Revision, _ tag: String?) -> FrameHead {
    FrameHead(writer: writer, revision: revision, time: MonotonicTime.nanosecondsSince1970, tag: tag)
  }

  /// Publishes frames, and wakes the sleepers; the write lock is held.
  func publish(_ frames: FrameGroup) throws(StoreError) {
    let words = words
    if !words.isDirty {
      // Processes that sleep without bound must look, and settle if this one dies before it wakes them.
      words.isDirty = true
      wake()
    }
    try frames.publish(words)
    wakeSleepers()
  }

  // MARK: - Sleeping

  /// Counts what ``wake()`` does.
  var wakes: UInt32 { kept_load32(page.wakeWord) }

  /// Sleeps until frames are published, or until the timeout; returns at once if `published` is not `seen`, or if the
  /// sleepers were woken since there were `wakes`.
  ///
  /// Load ``wakes`` before you look for any other reason to stay awake.
  func sleep(seen: JournalPosition, wakes: UInt32, milliseconds: Int32) {
    // The flag first, then the position: a writer moves the position first and then reads the flag.
    kept_store32(page.sleeping, 1)
    if published == seen { kept_sleep_in_group(page.wakeWord, wakes, sleepers, milliseconds) }
  }

  /// The group of this journal's sleepers; those of a few other processes may be in it too.
  var sleepers: UInt32 { 1 << UInt32(writer % 32) }

  /// Wakes the sleepers of this journal; those of other processes sleep on.
  ///
  /// - Returns: how many were woken.
  @discardableResult
  func wakeOwn() -> Int {
    // For a thread that has loaded ``wakes`` and is about to sleep.
    _ = kept_add32(page.wakeWord, 1)
    return kept_wake_group(page.wakeWord, sleepers)
  }

  /// Wakes the sleepers of all processes; they check their conditions again.
  func wake() {
    _ = kept_add32(page.wakeWord, 1)
    kept_wake_all(page.wakeWord)
  }

  private func wakeSleepers() {
    // A plain load first: without sleepers a commit touches only this cache line.
    if kept_load32(page.sleeping) != 0, kept_swap32(page.sleeping, 0) != 0 { wake() }
  }
}
