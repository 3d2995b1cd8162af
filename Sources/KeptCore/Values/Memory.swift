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

/// Memory that is used up bit by bit, and asked for before.
struct Allowance {
  private var spent = 0
  private var granted = Memory.small

  /// Takes so many bytes.
  ///
  /// Throws `failed` where they cannot be had.
  mutating func take(_ count: Int, to purpose: @autoclosure () -> String) throws(StoreError) {
    spent += count
    guard spent > granted else { return }
    let more = max(spent / 2, 4 * Memory.small)
    try Memory.ask(for: more, to: purpose())
    granted = spent + more
  }
}
