// A file of a store that the engine has open.

package import CPlatform
import KeptSystem
package import KeptValues

/// An open file, which is read and written at offsets.
///
/// It is never mapped: in a mapping a truncated file, or an I/O error, ends the process.
///
/// Thread-safe: its calls have no state.
package final class StoreFile: Sendable {
  package let descriptor: Int32
  package let path: String

  /// Takes ownership of a descriptor.
  package init(taking descriptor: Int32, path: String) { (self.descriptor, self.path) = (descriptor, path) }

  deinit { kept_engine_close(descriptor) }

  package func size() throws(StoreError) -> Int { Int(try status(hasTimes: false).st_size) }

  package func status(hasTimes: Bool = true) throws(StoreError) -> stat {
    var status = stat()
    guard kept_engine_status(descriptor, &status, hasTimes) == 0 else { throw .system("access", path) }
    return status
  }

  /// Reads bytes at an offset; returns how many, which are fewer only at the end of the file.
  package func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(StoreError) -> Int {
    let count = kept_engine_read(descriptor, buffer.baseAddress, buffer.count, Int64(offset))
    guard count >= 0 else { throw .system("read", path) }
    return count
  }

  /// Writes bytes at an offset; if it throws, a part of them may have been written.
  package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(StoreError) {
    guard kept_engine_write(descriptor, bytes.baseAddress, bytes.count, Int64(offset)) == 0 else {
      throw .system("write", path)
    }
  }

  /// Writes zeros.
  ///
  /// Written, not only allocated: a sync after a write into a hole must also write where the new block is.
  package func writeZeros(from start: Int, to end: Int) throws(StoreError) {
    let zeros = UnsafeMutableRawBufferPointer.allocate(byteCount: min(32 << 10, max(end - start, 1)), alignment: 8)
    defer { zeros.deallocate() }
    zeros.initializeMemory(as: UInt8.self, repeating: 0)
    for at in stride(from: start, to: end, by: zeros.count) {
      try write(UnsafeRawBufferPointer(rebasing: zeros[..<min(zeros.count, end - at)]), at: at)
    }
  }

  /// Writes everything that was written to the disk.
  package func sync() throws(StoreError) {
    guard kept_engine_sync(descriptor) == 0 else { throw .system("sync", path) }
  }
}
