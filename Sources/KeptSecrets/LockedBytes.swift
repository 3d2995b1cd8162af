// Memory for keys and for plain text: not swapped and not in a core dump where the system permits it, and wiped.

import CSodium
import KeptSystem
package import KeptValues

/// Bytes that are wiped when they are released.
///
/// A process may lock a limited amount of memory (`ulimit -l`), and bytes beyond that may be swapped. A child after a
/// fork has a copy, which may be swapped, too.
package final class LockedBytes: @unchecked Sendable {
  // Written only by the initializer.
  private let memory: UnsafeMutableBufferPointer<UInt8>
  private let sodium: Sodium

  /// Allocates bytes, which `fill` writes.
  package init(
    count: Int, _ fill: (UnsafeMutableBufferPointer<UInt8>) throws(StoreError) -> Void
  ) throws(StoreError) {
    sodium = try Sodium.load()
    guard let start = LockedPool.take(count, sodium) else {
      throw StoreError(.failed, "not enough memory for a secret (\(count) bytes); free some and try again")
    }
    memory = UnsafeMutableBufferPointer(start: start, count: count)
    try fill(memory)
  }

  package convenience init(copying bytes: UnsafeBufferPointer<UInt8>) throws(StoreError) {
    try self.init(count: bytes.count) { _ = $0.update(fromContentsOf: bytes) }
  }

  package convenience init(copying text: String) throws(StoreError) {
    let bytes = ExactString(text)
    try self.init(count: text.utf8.count) { memory in
      _ = bytes.withBytes { memory.update(fromContentsOf: $0) }
    }
  }

  deinit { LockedPool.giveBack(memory, sodium) }

  static func random(_ count: Int) throws(StoreError) -> LockedBytes {
    let sodium = try Sodium.load()
    return try LockedBytes(count: count) { sodium.functions.pointee.randombytes_buf($0.baseAddress, count) }
  }

  package var count: Int { memory.count }

  /// The bytes, valid during the call.
  package func withBytes<T>(
    _ body: (UnsafeBufferPointer<UInt8>) throws(StoreError) -> T
  ) throws(StoreError) -> T {
    try body(UnsafeBufferPointer(memory))
  }
}

/// The memory of small secrets, which share pages: an allocation by libsodium takes several system calls, and locks a
/// page at least.
enum LockedPool {
  private static let sizes = [64, 512, 4096]
  private static let chunk = 16 << 10
  // The places that are free, for each size. They are never returned to the system.
  private static let free = Monitor<[[UnsafeMutablePointer<UInt8>]]>(sizes.map { _ in [] })

  /// Initializes what two threads of a forked child must not initialize at the same time.
  static func prepare() { _ = free }

  static func take(_ count: Int, _ sodium: Sodium) -> UnsafeMutablePointer<UInt8>? {
    guard let size = sizes.firstIndex(where: { count <= $0 }) else { return allocate(count, sodium) }
    return free.updateQuietly { free in
      if free[size].isEmpty, let start = allocate(chunk, sodium) {
        free[size] = stride(from: 0, to: chunk, by: sizes[size]).map { start + $0 }
      }
      return free[size].popLast()
    }
  }

  static func giveBack(_ memory: UnsafeMutableBufferPointer<UInt8>, _ sodium: Sodium) {
    guard let start = memory.baseAddress else { return }
    guard let size = sizes.firstIndex(where: { memory.count <= $0 }) else {
      return sodium.functions.pointee.sodium_free(start)
    }
    sodium.functions.pointee.sodium_memzero(start, memory.count)
    free.updateQuietly { $0[size].append(start) }
  }

  private static func allocate(_ count: Int, _ sodium: Sodium) -> UnsafeMutablePointer<UInt8>? {
    sodium.functions.pointee.sodium_malloc(count)?.bindMemory(to: UInt8.self, capacity: count)
  }
}
