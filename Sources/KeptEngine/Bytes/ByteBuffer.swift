// Bytes in memory of C's allocator: an allocation of Swift that fails ends the process.

import CPlatform
import KeptSystem
package import KeptValues

/// Bytes that grow at their end.
///
/// Not thread-safe. The memory is kept for reuse until the buffer is destroyed.
package final class ByteBuffer {
  private var memory: UnsafeMutableRawPointer?
  private var capacity = 0
  package private(set) var count = 0
  // After "to", in the error for a failed allocation.
  private let purpose: StaticString

  package init(to purpose: StaticString) { self.purpose = purpose }

  deinit { free(memory) }

  /// The contents, until the buffer changes.
  package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: memory, count: count) }

  /// The same, to be overwritten.
  package var mutableBytes: UnsafeMutableRawBufferPointer { UnsafeMutableRawBufferPointer(start: memory, count: count) }

  package func removeAll() { count = 0 }

  /// Removes the bytes after the first ones.
  package func truncate(to length: Int) { count = min(count, max(length, 0)) }

  /// Makes room for more bytes.
  ///
  /// Throws `failed` without memory for them.
  @inline(__always)
  package func reserve(_ more: Int) throws(StoreError) {
    let (needed, isTooMuch) = count.addingReportingOverflow(more)
    guard !isTooMuch else { throw shortage(of: more) }
    if needed > capacity { try grow(to: max(needed, 2 * capacity, 4096)) }
  }

  @inline(never)
  private func grow(to wanted: Int) throws(StoreError) {
    guard let larger = kept_resized_memory(memory, wanted) else { throw shortage(of: wanted) }
    (memory, capacity) = (larger, wanted)
  }

  private func shortage(of bytes: Int) -> StoreError {
    StoreError(
      .failed,
      "not enough memory to \(purpose) (\(bytes) bytes are needed), and nothing was changed; free some memory and try "
        + "again")
  }

  /// Adds bytes of undefined contents; returns where they begin.
  @inline(__always)
  package func add(_ more: Int) throws(StoreError) -> UnsafeMutableRawBufferPointer {
    try reserve(more)
    defer { count += more }
    return UnsafeMutableRawBufferPointer(start: memory.map { $0 + count }, count: more)
  }

  package func add(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
    // Empty bytes may have no address.
    if !bytes.isEmpty { try add(bytes.count).copyMemory(from: bytes) }
  }

  package func add(number: some FixedWidthInteger) throws(StoreError) {
    try withUnsafeBytes(of: number.littleEndian) { bytes throws(StoreError) in try add(bytes) }
  }

  @inline(__always)
  package func addZeros(_ more: Int) throws(StoreError) {
    if more > 0 { try add(more).initializeMemory(as: UInt8.self, repeating: 0) }
  }

  /// Overwrites a number that is in the buffer.
  @inline(__always)
  package func put<Number: FixedWidthInteger>(_ number: Number, at offset: Int) {
    guard offset >= 0, offset <= count - MemoryLayout<Number>.size else { return }
    mutableBytes.storeBytes(of: number.littleEndian, toByteOffset: offset, as: Number.self)
  }
}

extension UnsafeRawBufferPointer {
  /// The number at an offset; nil if it is not in the buffer.
  @inline(__always)
  func number<Number: FixedWidthInteger>(_ offset: Int, _ type: Number.Type) -> Number? {
    guard offset >= 0, offset <= count - MemoryLayout<Number>.size else { return nil }
    return Number(littleEndian: loadUnaligned(fromByteOffset: offset, as: type))
  }

  /// Some of the bytes; nil if not all of them are in the buffer.
  @inline(__always)
  func part(from start: Int, _ length: Int) -> UnsafeRawBufferPointer? {
    guard start >= 0, length >= 0, start <= count, length <= count - start else { return nil }
    return UnsafeRawBufferPointer(rebasing: self[start..<start + length])
  }

  /// The bytes as text; nil if they are not UTF-8.
  package var text: String? { String(exactly: bindMemory(to: UInt8.self)) }

  /// The key that the bytes are; nil if they are not a key.
  package var keyName: KeyName? { text.flatMap { try? KeyName($0) } }

  /// CRC-32C of all bytes.
  var checksum: UInt32 { kept_checksum(0, baseAddress, count) }
}
