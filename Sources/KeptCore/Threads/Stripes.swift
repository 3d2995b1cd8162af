// Counts threads that are in the middle of something, in several words, so that they seldom write to the same cache
// line.

import CPlatform

/// The counts of the threads that are inside something.
///
/// There are only as many as the processors need, because a thread that waits for all others reads every count.
struct Stripes: @unchecked Sendable {
  // The words are only accessed atomically. A late reader may still use them, so most owners never free them.
  private let words: UnsafeMutablePointer<UInt64>
  private let count = kept_stripe_count()

  private static let wordsApart = 16

  init() {
    let words = Int(count) * Self.wordsApart
    self.words = UnsafeMutableRawPointer.allocate(byteCount: words * 8, alignment: Self.wordsApart * 8)
      .initializeMemory(as: UInt64.self, repeating: 0, count: words)
  }

  func deallocate() { words.deallocate() }

  /// The word in which this thread counts.
  @inline(__always)
  var own: UnsafeMutablePointer<UInt64> { words + Int(kept_stripe(count)) * Self.wordsApart }

  /// Finds every count 0 once, one after the other.
  ///
  /// - Parameter pause: called with a growing number while one is not 0; false gives up.
  /// - Returns: whether it did not give up.
  @discardableResult
  @inline(__always)
  func awaitEmpty(_ pause: (Int) -> Bool = Self.pause) -> Bool {
    kept_are_zero(words, Int(count), Self.wordsApart) || awaitEach(pause)
  }

  @inline(never)
  private func awaitEach(_ pause: (Int) -> Bool) -> Bool {
    var attempt = 0
    for stripe in 0..<Int(count) {
      while kept_load64(words + stripe * Self.wordsApart) != 0 {
        guard pause(attempt) else { return false }
        attempt += 1
      }
    }
    return true
  }

  /// Lets other threads run, at last also those of a lower priority.
  static func pause(attempt: Int) -> Bool {
    if attempt < 100 { sched_yield() } else { MonotonicTime.letPass(microseconds: 50) }
    return true
  }

  /// Resets the counts in the child of a fork: the threads that were inside do not exist there.
  func forget() {
    for stripe in 0..<Int(count) { kept_store64(words + stripe * Self.wordsApart, 0) }
  }
}
