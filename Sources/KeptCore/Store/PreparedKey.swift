// Keys for the hottest reads: checked and hashed once, compared by their bytes.

import CPlatform

/// The bytes of a key with their hash, valid as long as whoever owns the bytes says.
@usableFromInline package struct PreparedBytes {
  package let bytes: UnsafeBufferPointer<UInt8>
  package let hash: UInt64

  /// No key has them.
  package static var none: PreparedBytes { PreparedBytes(UnsafeBufferPointer(start: nil, count: 0)) }

  @inline(__always)
  package init(_ bytes: UnsafeBufferPointer<UInt8>) {
    self.bytes = bytes
    hash = Index.hash(bytes)
  }

  /// Bytes that were hashed before.
  @inline(__always)
  init(_ bytes: UnsafeBufferPointer<UInt8>, hash: UInt64) {
    self.bytes = bytes
    self.hash = hash
  }

  /// The bytes of text that ends with a NUL; they need not be a valid key: then no index knows them.
  @inline(__always)
  package init(_ text: UnsafePointer<CChar>) {
    let length = strlen(text)
    self.init(UnsafeRawBufferPointer(start: text, count: length).assumingMemoryBound(to: UInt8.self))
  }
}

/// A key that was checked and hashed once.
package final class PreparedKey: @unchecked Sendable {
  package let name: KeyName
  /// They point to a copy that lives as long as this object.
  package let prepared: PreparedBytes

  package init(_ name: KeyName) {
    self.name = name
    prepared = name.exact.withBytes { bytes in
      let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
      _ = copy.initialize(from: bytes)
      return PreparedBytes(UnsafeBufferPointer(copy), hash: name.hash)
    }
  }

  deinit { prepared.bytes.deallocate() }
}
