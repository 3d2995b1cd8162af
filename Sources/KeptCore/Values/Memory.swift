// Whether there is memory for what a caller, a file or another process has made large.
//
// An allocation of Swift cannot fail: the process ends. So what may be large is asked for first, in a way that can.

import CPlatform

package enum Memory {
  /// What is not worth asking for, in bytes.
  static let small = 256 << 10

  /// Throws `failed` where so many bytes cannot be had now.
  ///
  /// They are given back at once: this tells a limit of the process (`ulimit -v`) and a system that is out of memory,
  /// but reserves nothing.
  /// - Parameter purpose: what they are for, behind "to".
  package static func ask(for count: Int, to purpose: @autoclosure () -> String) throws(StoreError) {
    guard count >= small else { return }
    // The allocator needs some more: pages of its own, and what stands between the blocks.
    let (needed, isTooMuch) = count.addingReportingOverflow(count / 8 + 1 << 20)
    guard !isTooMuch, kept_has_memory(needed) != 0 else {
      throw StoreError(
        .failed, "there is no memory to \(purpose()): it needs \(count) bytes; free some, nothing was changed")
    }
  }

  /// Makes room for one more element, by twice as much where there is none left; asks for it before.
  @inline(__always)
  static func makeRoom<Element>(in array: inout [Element], to purpose: @autoclosure () -> String) throws(StoreError) {
    guard array.count == array.capacity else { return }
    let capacity = max(2 * array.count, 1)
    try ask(for: capacity * MemoryLayout<Element>.stride, to: purpose())
    array.reserveCapacity(capacity)
  }
}

/// Memory that is used up bit by bit, by many values or entries, none of which is large.
///
/// Each time 128 KiB have been taken, it asks for what comes next, and for the lists and tables of all that was taken:
/// they double as they grow, and are made anew when all has been gathered.
package struct Allowance: Sendable {
  /// What is taken between two questions.
  static let step = 128 << 10
  /// What an entry takes in lists and tables while an operation on many of them lasts, beside its texts and its value.
  package static let entryBytes = 512

  private let each: Int
  private var untold = 0
  private var count = 0

  /// - Parameter each: what one of them takes in the lists and tables.
  package init(each: Int = entryBytes) { self.each = each }

  /// Takes so many bytes for one value or entry, which is not there yet.
  ///
  /// Throws `failed` where they cannot be had.
  package mutating func take(_ bytes: Int, to purpose: @autoclosure () -> String) throws(StoreError) {
    // What an allocation has beside its bytes.
    untold += bytes + 64
    count += 1
    guard untold >= Self.step else { return }
    try Memory.ask(for: Memory.small + bytes + each * count, to: purpose())
    // After a refusal each one asks again.
    untold = 0
  }

  /// Asks once for what so many entries take in lists and tables.
  ///
  /// Throws `failed` where they cannot be had.
  package static func ask(forEntries count: Int, to purpose: @autoclosure () -> String) throws(StoreError) {
    try Memory.ask(for: entryBytes * count, to: purpose())
  }
}

extension Value {
  /// About so much memory it takes, beside its place.
  package var bytes: Int {
    switch self {
    case .null, .bool, .int, .uint, .double, .date: 0
    case .string(let text): text.utf8.count
    case .bytes(let bytes): bytes.count
    case .array(let items): items.reduce(0) { $0 + $1.bytes + MemoryLayout<Value>.stride }
    case .dictionary(let members):
      members.reduce(0) { $0 + $1.key.text.utf8.count + $1.value.bytes + 2 * MemoryLayout<Value>.stride }
    }
  }
}
