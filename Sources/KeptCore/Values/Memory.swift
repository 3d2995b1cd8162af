// Checks that there is memory for data whose size a caller, a file or another process determines.
//
// A Swift allocation cannot fail: the process ends. So large amounts are first requested in a way that can fail.

import CPlatform

package enum Memory {
  /// The size in bytes below which no check is made.
  static let small = 256 << 10

  /// Throws `failed` if a number of bytes cannot be allocated now.
  ///
  /// They are released at once. This detects a limit of the process (`ulimit -v`) and a system that is out of memory,
  /// but reserves nothing.
  /// - Parameter purpose: what they are for, after "to".
  package static func ask(for count: Int, to purpose: @autoclosure () -> String) throws(StoreError) {
    guard count >= small else { return }
    // The allocator needs some more: its own pages, and the space between the blocks.
    let (needed, isTooMuch) = count.addingReportingOverflow(count / 8 + 1 << 20)
    guard !isTooMuch, kept_has_memory(needed) != 0 else {
      throw StoreError(
        .failed, "there is no memory to \(purpose()): it needs \(count) bytes; free some, nothing was changed")
    }
  }

  /// Makes room for one more element, doubling the capacity if it is used up; checks for the memory first.
  @inline(__always)
  static func makeRoom<Element>(in array: inout [Element], to purpose: @autoclosure () -> String) throws(StoreError) {
    guard array.count == array.capacity else { return }
    let capacity = max(2 * array.count, 1)
    try ask(for: capacity * MemoryLayout<Element>.stride, to: purpose())
    array.reserveCapacity(capacity)
  }
}

package struct Allowance: Sendable {
  static let step = 128 << 10
  package static let entryBytes = 512
  private let each: Int
  private var untold = 0
  private var count = 0
  package init(each: Int = entryBytes) { self.each = each }
  package mutating func take(_ bytes: Int, to purpose: @autoclosure () -> String) throws(StoreError) {
    untold += bytes + 64
    count += 1
    guard untold >= Self.step else { return }
    try Memory.ask(for: Memory.small + bytes + each * count, to: purpose())
    untold = 0
  }
  package static func ask(forEntries count: Int, to purpose: @autoclosure () -> String) throws(StoreError) {
    try Memory.ask(for: entryBytes * count, to: purpose())
  }
}
extension Value {
  package var bytes: Int {
    switch self {
    case .null, .bool, .int, .uint, .double, .date: 0
    case .string(let text): text.utf8.count
    case .bytes(let bytes): bytes.count
    case .array(let items): items.reduce(0) { $0 + $1.bytes + MemoryLayout<Value>.stride }
    case .dictionary(let members):
      members.reduce(0) { $0 + $1.key.text.utf8.count + $1.value.bytes + 2 * MemoryLayout<Value>.stride }
    }
/// Memory that is used up in small parts, and checked for in larger ones.

  /// Uses a number of bytes.
  ///
  /// Throws `failed` if they cannot be allocated.
  }
}
