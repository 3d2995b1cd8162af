// Checks whether there is memory for something that a caller, a file or another process has made large.
//
// An allocation in Swift cannot fail: the process ends. So a large amount is first requested in a way that can fail.

import CPlatform

@usableFromInline package enum Memory {
  /// The size below which memory is not requested first, in bytes.
  package static let small = 256 << 10

  /// Throws `failed` if `count` bytes are not available now.
  ///
  /// The memory is returned at once: this detects a limit of the process (`ulimit -v`) and a system that is out of
  /// memory, but reserves nothing.
  /// - Parameter purpose: what the memory is for, after "to".
  @usableFromInline
  package static func ask(for count: Int, to purpose: @autoclosure () -> String) throws(StoreError) {
    guard count >= small else { return }
    // The allocator needs some more: pages of its own, and the headers of blocks.
    let (needed, isTooMuch) = count.addingReportingOverflow(count / 8 + 1 << 20)
    guard !isTooMuch, kept_has_memory(needed) != 0 else {
      throw StoreError(
        .failed,
        "not enough memory to \(purpose()) (\(count) bytes are needed), and nothing was changed; free some memory "
          + "and try again"
      )
    }
  }

  /// Makes room for one more element, doubling a full array after requesting the memory.
  @inlinable @inline(__always)
  package static func makeRoom<Element>(
    in array: inout [Element], to purpose: @autoclosure () -> String
  ) throws(StoreError) {
    guard array.count == array.capacity else { return }
    let capacity = max(2 * array.count, 1)
    try ask(for: capacity * MemoryLayout<Element>.stride, to: purpose())
    array.reserveCapacity(capacity)
  }
}

/// A running count of memory that many small values or entries use.
///
/// After each 128 KiB it requests the memory for the next ones, and for the lists and tables of all of them: these
/// double as they grow, and are allocated again when all entries have been collected.
package struct Allowance: Sendable {
  /// The amount that is counted between two requests.
  package static let step = 128 << 10
  /// The memory of an entry in lists and tables during an operation on many entries, in addition to its texts and
  /// value.
  package static let entryBytes = 512

  private let each: Int
  private var untold = 0
  private var count = 0

  /// Creates an empty count.
  ///
  /// - Parameter each: the memory of each one in the lists and tables.
  package init(each: Int = entryBytes) { self.each = each }

  /// Counts the bytes of one value or entry that is about to be created.
  ///
  /// Throws `failed` if the memory is not available.
  package mutating func take(_ bytes: Int, to purpose: @autoclosure () -> String) throws(StoreError) {
    // The overhead of an allocation.
    untold += bytes + 64
    count += 1
    guard untold >= Self.step else { return }
    try Memory.ask(for: Memory.small + bytes + each * count, to: purpose())
    // After a refusal each call requests again.
    untold = 0
  }

  /// Requests the memory of `count` entries in lists and tables at once.
  ///
  /// Throws `failed` if the memory is not available.
  package static func ask(forEntries count: Int, to purpose: @autoclosure () -> String) throws(StoreError) {
    try Memory.ask(for: entryBytes * count, to: purpose())
  }
}
