// The file `pulse`: the words that the processes share, and the place of their locks on bytes far beyond its end:
//
// - byte `first`: the checkpoint lock. Its holder makes a checkpoint; it is never taken from a living process.
// - byte `first` + h: held by the open file of the process with the random number h, its *holder* number, for as long
//   as it has the store open. Such a process has recovered the store, or has found another holder of the same file.
//   So the words are true as long as any process has the store open.
//
// A process that holds the lock of the folder exclusively may recover the store. The lock is never upgraded, and a
// process that shares it again may lose it in between, and begins again.

import CPlatform
import KeptSystem
import KeptValues
import Synchronization

/// The pulse of an open store, as one process has it.
///
/// Thread-safe. The kernel's locks belong to an open file, which a mapping keeps open. So in the child of a fork the
/// file is closed, and its page covered, until another open file is adopted: until then this process holds nothing,
/// others are taken to hold everything, and readers without a lock find that the index is not current.
final class Pulse: Sendable {
  let words: PulseWords
  // False once another one has taken its page.
  private let hasPage = Atomic<Bool>(true)
  private let number = Atomic<UInt64>(0)
  // Used only inside, so that no other thread of the parent refers to the file in a child.
  private let file: Monitor<StoreFile?>
  private let identity: FileIdentity

  static let name = "pulse"
  private static let firstByte: Int64 = 1 << 40

  private init(_ file: StoreFile, _ identity: FileIdentity, _ words: PulseWords) {
    (self.file, self.identity, self.words) = (Monitor(file), identity, words)
    number.store(.random(in: 1...(1 << 61)), ordering: .relaxed)
  }

  private var holder: UInt64 { number.load(ordering: .relaxed) }

  private func withFile(_ other: Bool, _ body: (Int32) -> Bool) -> Bool {
    file.updateQuietly { file in
      guard let file else { return other }
      return body(file.descriptor)
    }
  }

  // Readers may look at the page late.
  deinit {
    release()
    if hasPage.load(ordering: .relaxed) { PulsePages.put(words.page) }
  }

  /// Maps the file; it is made if it does not exist.
  ///
  /// - Returns: nil if there is none, and `makes` is false, or if another one is shorter than a page.
  static func map(in folder: borrowing OpenFolder, makes: Bool) throws(StoreError) -> Pulse? {
    let path = folder.path + "/" + name
    let descriptor: Int32
    if makes {
      descriptor = try folder.openOrMake(name, O_RDWR)
    } else {
      guard let found = try folder.open(name, O_RDWR) else { return nil }
      descriptor = found
    }
    let file = StoreFile(taking: descriptor, path: path)
    if makes {
      // Allocated before it is mapped: on a full disk this is an error instead of a crash at the first write.
      let status = kept_allocate(descriptor, off_t(PulseWords.size))
      guard status == 0 else { throw .system("make room for", path, errno: status) }
    }
    let status = try file.status()
    guard status.st_size >= PulseWords.size else { return nil }
    guard let start = kept_engine_map(descriptor, PulseWords.size) else { throw .system("map", path) }
    return Pulse(file, FileStatus(status).identity, PulseWords(PulsePages.take(start)))
  }

  /// How far the frames of a store reach, without the locks of the store; nil if it has no pulse.
  ///
  /// - Returns: a position before which all frames were published, and where the published ones end: nil if no process
  ///   has the store open, so that the next one that opens it publishes all frames that verify.
  static func published(
    in folder: borrowing OpenFolder, of store: StoreID
  ) throws(StoreError) -> (least: Position, end: Position?)? {
    try readCopy(in: folder) { words, file in
      guard words.belongs(to: store) else { return nil }
      // Also a page of yesterday was set up in this boot.
      let isOpen = words.isOfThisBoot && kept_engine_is_any_byte_locked(file.descriptor, firstByte + 1)
      // A writer that is stopped may have published a frame, and not repeated that.
      return (words.leastPublished, isOpen ? words.published : nil)
    }
  }

  /// Calls `body` with a copy of the page, which does not change, and with the file; nil if there is none.
  static func readCopy<Result>(
    in folder: borrowing OpenFolder, _ body: (PulseWords, StoreFile) throws(StoreError) -> Result?
  ) throws(StoreError) -> Result? {
    guard let file = try folder.openFile(name, O_RDONLY) else { return nil }
    let page = UnsafeMutableRawBufferPointer.allocate(byteCount: PulseWords.size, alignment: 64)
    defer { page.deallocate() }
    guard try file.read(page, at: 0) == page.count, let start = page.baseAddress else { return nil }
    return try body(PulseWords(start), file)
  }

  /// Whether another process has the store open, through this file.
  var hasOtherHolder: Bool { withFile(true) { kept_engine_is_any_byte_locked($0, Self.firstByte + 1) } }

  /// Notes that this process has the store open.
  func hold() -> Bool { withFile(false) { kept_engine_lock_byte($0, Self.byte(of: holder)) } }

  /// Ends what ``hold()`` has begun.
  func release() {
    file.updateQuietly { file in
      if let file { kept_engine_unlock_byte(file.descriptor, Self.byte(of: holder)) }
    }
  }

  /// Makes the file as long as the page again if another program has truncated it.
  ///
  /// Otherwise the next access to the page ends this process. Its words are zeros then.
  func restoreLength() {
    _ = withFile(true) { file in
      var status = stat()
      let isCut = kept_engine_status(file, &status, false) == 0 && status.st_size < PulseWords.size
      return !isCut || kept_allocate(file, off_t(PulseWords.size)) == 0
    }
  }

  /// Whether the path leads to this file.
  func isInPlace(_ folder: borrowing OpenFolder) -> Bool { folder.status(of: Self.name)?.identity == identity }

  // MARK: - Forks

  /// Closes the file, in the child of a fork: the two would share its locks.
  func afterForkInChild() {
    file.updateQuietly { $0 = nil }
    PulsePages.cover(words.page)
  }

  /// Takes the file, the page and the number of another one, which is not used afterwards.
  ///
  /// - Returns: false, with nothing done, if that one is of another file.
  func adopt(_ other: Pulse) -> Bool {
    guard other.identity == identity else { return false }
    let taken: StoreFile? = other.file.updateQuietly { file in
      guard PulsePages.move(other.words.page, to: words.page) else { return nil }
      other.hasPage.store(false, ordering: .relaxed)
      defer { file = nil }
      return file
    }
    guard let taken else { return false }
    number.store(other.holder, ordering: .relaxed)
    file.updateQuietly { $0 = taken }
    return true
  }

  // MARK: - The checkpoint lock

  func takeCheckpointing() -> Bool { withFile(false) { kept_engine_lock_byte($0, Self.firstByte) } }
  func releaseCheckpointing() {
    file.updateQuietly { file in
      if let file { kept_engine_unlock_byte(file.descriptor, Self.firstByte) }
    }
  }

  // MARK: - The write lock

  /// Takes the write lock; returns false after the deadline.
  ///
  /// One thread of the process at a time may call this.
  func lockForWriting(until deadline: Int64) -> Bool {
    while true {
      let found = words.owner
      if found == 0 || !isHeld(found), words.replaceOwner(found, by: holder) {
        // It may have ended before it woke the processes that sync its commit.
        if found != 0 { wake() }
        return true
      }
      guard MonotonicTime.milliseconds < deadline else { return false }
      if words.awaitOwner() { continue }
      let word = kept_load32(words.writersWord)
      kept_store32(words.waiting, 1)
      // A writer that is killed wakes no thread.
      if words.owner != 0 { kept_sleep_on(words.writersWord, word, 1) }
    }
  }

  /// Whether the process with a number, which is not this one, has the store open.
  private func isHeld(_ number: UInt64) -> Bool {
    withFile(true) { kept_engine_is_byte_locked($0, Self.byte(of: number)) }
  }

  /// Takes the write lock if it is free.
  func tryLockForWriting() -> Bool { words.owner == 0 && words.replaceOwner(0, by: holder) }

  func unlockForWriting() {
    _ = words.replaceOwner(holder, by: 0)
    if kept_load32(words.waiting) != 0, kept_swap32(words.waiting, 0) != 0 {
      _ = kept_add32(words.writersWord, 1)
      kept_wake_all(words.writersWord)
    }
  }

  /// Wakes the sleepers of all processes; they check their conditions again.
  func wake() {
    _ = kept_add32(words.wakeWord, 1)
    kept_wake_all(words.wakeWord)
  }

  /// Wakes them if there may be any.
  func wakeSleepers() {
    if kept_load32(words.sleeping) != 0, kept_swap32(words.sleeping, 0) != 0 { wake() }
  }

  // A damaged word may be any number.
  private static func byte(of holder: UInt64) -> Int64 {
    firstByte &+ 1 &+ Int64(truncatingIfNeeded: holder) & (1 << 61 - 1)
  }
}
