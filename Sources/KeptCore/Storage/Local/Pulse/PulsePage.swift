// The mapped page that every process with the store open shares:
//
//   byte  0  magic      "KeptPuls"
//   byte  8  format     1
//   byte 16  store      the id of the database it belongs to, 16 bytes
//   byte 32  session    a random number; byte 64 of the file `journal` has the same one
//   byte 40  boot       of the kernel under which the page was set up, 0 if that is unknown
//   byte 64  words      see JournalWords
//   byte 576 sleeping   32 bits: 1 if a thread may sleep on `wake`
//   byte 640 wake       32 bits: the futex word, moved to wake the sleepers
//   byte 704 writers    32 bits: the futex word of threads that wait for the write lock
//   byte 768 waiting    32 bits: 1 if a thread may wait for the write lock
//   byte 832 owner      the number of the holder of the write lock, 0 if it is free; see JournalLock
//
// Invariants:
// - The process that opens a store alone sets the page up, with a new session, before it lets others in. Everyone else
//   uses only a page with the session that the journal names.
// - The page holds no data, and is never believed by a process that is alone.
//
// Words that different writers touch lie on different cache lines.

import CPlatform
import KeptSystem

/// The words of a mapped pulse.
///
/// The address stays mapped until the process ends, see ``PulsePages``.
struct PulsePage: @unchecked Sendable {
  // The words are atomic; the header is written before the page is shared and only compared afterwards.
  private let start: UnsafeMutableRawPointer

  static let size = 4096
  private static let magic: UInt64 = 0x736C_7550_7470_654B
  private static let format: UInt64 = 1

  init(_ start: UnsafeMutableRawPointer) { self.start = start }

  var words: JournalWords { JournalWords(start + 64) }
  var sleeping: UnsafeMutablePointer<UInt32> { (start + 576).assumingMemoryBound(to: UInt32.self) }
  var wakeWord: UnsafeMutablePointer<UInt32> { (start + 640).assumingMemoryBound(to: UInt32.self) }
  var writersWord: UnsafeMutablePointer<UInt32> { (start + 704).assumingMemoryBound(to: UInt32.self) }
  var waiting: UnsafeMutablePointer<UInt32> { (start + 768).assumingMemoryBound(to: UInt32.self) }

  private var ownerWord: UnsafeMutablePointer<UInt64> { (start + 832).assumingMemoryBound(to: UInt64.self) }

  /// The holder of the write lock, who may have ended; 0 if it is free.
  var owner: UInt64 { kept_load64(ownerWord) }

  /// Waits briefly for the write lock to be free; returns whether it is.
  func awaitOwner() -> Bool { kept_spin_until_zero(ownerWord) }

  func replaceOwner(_ found: UInt64, by holder: UInt64) -> Bool { kept_exchange64(ownerWord, found, holder) }

  /// Whether a holder has the write lock of a page that is in use.
  func isHeld(by holder: UInt64) -> Bool { words.published % 2 == 0 && owner == holder }

  /// Releases the write lock, unless the page was exchanged.
  func releaseWriting(_ holder: UInt64) { _ = kept_exchange64(ownerWord, holder, 0) }

  /// The session that it belongs to.
  var session: UInt64 { start.load(fromByteOffset: 32, as: UInt64.self) }

  /// Whether the header identifies this page as the pulse of a store in a session.
  func belongs(to store: StoreID, in session: UInt64) -> Bool {
    zip(Self.header(store, session), 0...).allSatisfy { word, number in
      start.load(fromByteOffset: 8 * number, as: UInt64.self) == word
    }
  }

  /// Sets the page up; no other process uses it.
  ///
  /// - Parameters:
  ///   - holder: who holds the write lock from the beginning; 0 if it is free.
  ///   - setWords: sets the words, which may be those of another store until then. Killed in between, the page belongs
  ///     to no store.
  func initialize(for store: StoreID, in session: UInt64, heldBy holder: UInt64, _ setWords: (JournalWords) -> Void) {
    write([0, 0, 0, 0, 0])
    kept_fence()
    setWords(words)
    start.storeBytes(of: SystemStart.id, toByteOffset: Self.bootOffset, as: UInt64.self)
    for word in [sleeping, waiting] { kept_store32(word, 0) }
    kept_store64(ownerWord, holder)
    kept_fence()
    write(Self.header(store, session))
  }

  /// Whether the kernel runs since the page was set up, so that nothing in it is older than what it tells about.
  ///
  /// Some containers invent the id of the boot. Then this is false, or a loss of power goes unnoticed, and commits that
  /// it has taken are reported as damage.
  private var isOfThisBoot: Bool {
    let boot = start.load(fromByteOffset: Self.bootOffset, as: UInt64.self)
    return boot != 0 && boot == SystemStart.id
  }

  /// Up to where the frames of the journal must verify.
  ///
  /// After a loss of power the page may be newer than the journal, and shows only the synced position.
  var surelyWritten: JournalPosition {
    isOfThisBoot ? words.surelyPublished : min(words.synced, words.surelyPublished)
  }

  private static let bootOffset = 40

  private func write(_ header: [UInt64]) {
    for (number, word) in header.enumerated() {
      start.storeBytes(of: word, toByteOffset: 8 * number, as: UInt64.self)
    }
  }

  private static func header(_ store: StoreID, _ session: UInt64) -> [UInt64] {
    [magic, format, store.high, store.low, session]
  }

  func unmap() { munmap(start, Self.size) }

  /// Maps another page in place of this one, at the same address.
  func replace(by other: PulsePage) -> Int32 { kept_replace_mapping(start, other.start, Self.size) }
}

/// The id of a database; a pulse holds the id of the database to which it belongs.
struct StoreID: Hashable, Sendable {
  let high: UInt64
  let low: UInt64
}

/// The words of the pulse that belong to the journal: how far it reaches, and what of it may be overwritten.
///
/// Invariants:
/// - `published` is where the frames end that count. Only the holder of the write lock moves it, after it has written
///   the frames; a writer that is killed before that has written nothing. It only grows, and is a multiple of 8.
/// - `start` is the first position that has not been overwritten. It is raised before a byte below it is, so a reader
///   that copies frames and finds `start` at or below their position afterwards has copied published frames.
/// - `settled` is the position up to which frames are in the database and on the disk. No writer overwrites a byte
///   above it: `start` never passes `settled`.
/// - `named` is the end of the last group of frames that names a body. It is raised before that is published.
/// - `synced` is the position up to which the ring is on the disk, with the bodies that its frames name. While `named`
///   is above it, a sync of the ring begins with one of the database's log.
/// - `dirty` is 1 from before the first publishing after everything was settled. It is cleared under the write lock,
///   when `settled` has reached `published`. A thread sleeps without bound only if it has found it 0 after it counted
///   the wakes, and the writer that sets it wakes all sleepers before it publishes.
/// - `doubt` is 1 after a sync has failed: the system may have dropped what it could not write, and a later sync would
///   succeed without it.
/// - `echo` is a copy of `published`, written just after it, for a process that finds the page after a crash: a changed
///   bit makes one of them differ.
/// - `journal` is the id of the ring. The holder of the write lock changes it when it has made another ring; until then
///   it is 0, and everything is settled. A process that gets the write lock and finds 0 makes the ring: the one that
///   had begun was killed.
///
/// These hold on ARM too: Tests/robustness/models/test_journal_order.py tries each order that they rely on. System
/// calls promise no order, so there is a fence between the store of `start` and the write of the ring, and one between
/// a reader's copy and its load of `start`.
struct JournalWords: @unchecked Sendable {
  // The words are only accessed atomically. Each is on a cache line of its own, because different threads write them.
  private let memory: UnsafeMutableRawPointer

  /// The bytes that they need.
  static let bytes = 8 * line
  private static let line = 64

  init(_ memory: UnsafeMutableRawPointer) { self.memory = memory }

  private func word(_ number: Int) -> UnsafeMutablePointer<UInt64> {
    (memory + number * Self.line).assumingMemoryBound(to: UInt64.self)
  }

  /// The address of `published`, which readers compare.
  var publishedWord: UnsafeMutablePointer<UInt64> { word(0) }
  private var echoWord: UnsafeMutablePointer<UInt64> { publishedWord + 1 }
  private var startWord: UnsafeMutablePointer<UInt64> { word(1) }
  private var settledWord: UnsafeMutablePointer<UInt64> { word(2) }
  private var syncedWord: UnsafeMutablePointer<UInt64> { word(3) }
  private var dirtyWord: UnsafeMutablePointer<UInt64> { word(4) }
  private var doubtWord: UnsafeMutablePointer<UInt64> { word(5) }
  private var journalWord: UnsafeMutablePointer<UInt64> { word(6) }
  private var namedWord: UnsafeMutablePointer<UInt64> { word(7) }

  /// Sets all words; no other process may use them yet.
  ///
  /// - Parameter settled: the position up to which frames are in the database; nil if all are.
  func reset(to published: JournalPosition, settled: JournalPosition? = nil, of journal: UInt64) {
    let settled = settled ?? published
    for word in [startWord, settledWord, syncedWord] { kept_store64(word, settled) }
    for word in [publishedWord, echoWord, namedWord] { kept_store64(word, published) }
    kept_store64(journalWord, journal)
    isDirty = settled < published
    isDoubtful = false
  }

  var published: JournalPosition { kept_load64(publishedWord) }
  var start: JournalPosition { kept_load64(startWord) }
  var settled: JournalPosition { kept_load64(settledWord) }
  var synced: JournalPosition { kept_load64(syncedWord) }
  var named: JournalPosition { kept_load64(namedWord) }
  var journal: UInt64 { kept_load64(journalWord) }

  var isDirty: Bool {
    get { kept_load64(dirtyWord) != 0 }
    nonmutating set { kept_store64(dirtyWord, newValue ? 1 : 0) }
  }

  var isDoubtful: Bool {
    get { kept_load64(doubtWord) != 0 }
    nonmutating set { kept_store64(doubtWord, newValue ? 1 : 0) }
  }

  /// Announces that everything below a position is about to be overwritten.
  func raiseStart(to position: JournalPosition) {
    if position > start { kept_store64(startWord, position) }
    kept_fence()
  }

  /// Publishes frames up to a position; false if another process has published since, which the lock excludes.
  func publish(_ position: JournalPosition, after expected: JournalPosition) -> Bool {
    guard kept_exchange64(publishedWord, expected, position) else { return false }
    kept_store64(echoWord, position)
    return true
  }

  /// Where the published frames end, after a crash: one of the two words may be damaged.
  var surelyPublished: JournalPosition { min(published, kept_load64(echoWord)) }

  /// Records the position that is in the database; two processes may settle at the same time.
  func raiseSettled(to position: JournalPosition) { Self.raise(settledWord, to: position) }

  /// Records the position that is on the disk; two processes may sync at the same time.
  func raiseSynced(to position: JournalPosition) { Self.raise(syncedWord, to: position) }

  /// Announces a frame that names a body and ends at or below a position.
  func raiseNamed(to position: JournalPosition) { Self.raise(namedWord, to: position) }

  /// Begins another ring, whose frames follow those of the one before.
  func move(to journal: UInt64) { kept_store64(journalWord, journal) }

  private static func raise(_ word: UnsafeMutablePointer<UInt64>, to position: JournalPosition) {
    var seen = kept_load64(word)
    while position > seen, !kept_exchange64(word, seen, position) { seen = kept_load64(word) }
  }
}
