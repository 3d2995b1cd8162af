// The words of the pulse that belong to the journal: how far it reaches, and what of it may be overwritten.
//
// Invariants:
// - `published` is where the frames end that count. Only the holder of the write lock moves it, after it has written
//   the frames; a writer that is killed before that has written nothing. It only grows, and is a multiple of 8.
// - `start` is the first position that has not been overwritten. It is raised before a byte below it is, so a reader
//   that copies frames and finds `start` at or below their position afterwards has copied what was published.
// - `settled` is the position up to which frames are in the database and on the disk. No writer overwrites a byte above
//   it: `start` never passes `settled`.
// - `named` is the end of the last group of frames that names a body. It is raised before that is published.
// - `synced` is the position up to which the ring is on the disk, with the bodies that its frames name. While `named`
//   is above it, a sync of the ring begins with one of the database's log.
// - `dirty` is 1 from before the first publishing after everything was settled. It is cleared under the write lock,
//   when `settled` has reached `published`. A thread sleeps without bound only if it has found it 0 after it counted
//   the wakes, and the writer that sets it wakes all sleepers before it publishes.
// - `doubt` is 1 after a sync has failed: the system may have dropped what it could not write, and a later sync would
//   succeed without it.
// - `echo` is `published` a moment later, for a process that finds the page after a crash: a changed bit makes one of
//   them differ.
// - `journal` is the id of the ring. The holder of the write lock changes it when it has made another ring; meanwhile
//   it is 0, and everything is settled. A process that gets the write lock and finds 0 makes the ring: the one that
//   had begun was killed.
//
// These hold on ARM too: Tests/robustness/models/test_journal_order.py tries each order on which they rely. System
// calls promise no order, so a fence stands between the store of `start` and the write of the ring, and one between a
// reader's copy and its load of `start`.

import CPlatform

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

  /// Publishes frames up to a position; false if another process has published meanwhile, which the lock excludes.
  func publish(_ position: JournalPosition, after expected: JournalPosition) -> Bool {
    guard kept_exchange64(publishedWord, expected, position) else { return false }
    kept_store64(echoWord, position)
    return true
  }

  /// Where the published frames end, after a crash: one of the two words may be damaged.
  var surelyPublished: JournalPosition { min(published, kept_load64(echoWord)) }

  /// Records what is in the database; two processes may settle at the same time.
  func raiseSettled(to position: JournalPosition) { Self.raise(settledWord, to: position) }

  /// Records what is on the disk; two processes may sync at the same time.
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
