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

  /// Waits for a moment for the write lock to be free; returns whether it is.
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
  /// After a loss of power the page may be newer than the journal, and tells only what was synced.
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
