// The words of the pulse that belong to the journal: how far it reaches, and what of it may be overwritten.
//
// Invariants:
// - `published` is where the frames end that count. Only the holder of the write lock moves it, after it has written
//   the frames; a writer that is killed before that has written nothing. It only grows, and is a multiple of 8.
// - `start` is the first position that has not been overwritten. It is raised before a byte below it is, so a reader
//   that copies frames and finds `start` at or below their position afterwards has copied what was published.
// - `settled` is the position up to which frames are in the database and on the disk. No writer overwrites a byte above
//   it: `start` never passes `settled`.
//
// On ARM, a store of `start` must not be reordered after the write of the ring. The system call that follows is a
// barrier on Linux in practice, but does not promise it, so a full fence stands between them; and readers have a fence
// between their copy and their load of `start`.

import CPlatform

struct JournalWords: @unchecked Sendable {
  // The words are only accessed atomically.
  private let publishedWord: UnsafeMutablePointer<UInt64>
  private let startWord: UnsafeMutablePointer<UInt64>
  private let settledWord: UnsafeMutablePointer<UInt64>

  /// The bytes that they need; each has a cache line of its own, because different threads write them.
  static let bytes = 192

  init(_ memory: UnsafeMutableRawPointer) {
    publishedWord = memory.assumingMemoryBound(to: UInt64.self)
    startWord = (memory + 64).assumingMemoryBound(to: UInt64.self)
    settledWord = (memory + 128).assumingMemoryBound(to: UInt64.self)
  }

  /// Sets all words; no other process may use them yet.
  func reset(to position: JournalPosition) {
    kept_store64(startWord, position)
    kept_store64(settledWord, position)
    kept_store64(publishedWord, position)
  }

  var published: JournalPosition { kept_load64(publishedWord) }
  var start: JournalPosition { kept_load64(startWord) }
  var settled: JournalPosition { kept_load64(settledWord) }

  /// Announces that everything below a position is about to be overwritten.
  func raiseStart(to position: JournalPosition) {
    if position > start { kept_store64(startWord, position) }
    kept_fence()
  }

  /// Publishes frames up to a position; false if another process has published meanwhile, which the lock excludes.
  func publish(_ position: JournalPosition, after expected: JournalPosition) -> Bool {
    kept_exchange64(publishedWord, expected, position)
  }

  /// Records what is in the database; two processes may settle at the same time.
  func raiseSettled(to position: JournalPosition) {
    var seen = settled
    while position > seen, !kept_exchange64(settledWord, seen, position) { seen = settled }
  }
}
