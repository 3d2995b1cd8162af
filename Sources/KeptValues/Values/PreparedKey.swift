// Prepared keys for frequent reads: checked and hashed once, compared by their bytes.

public import CPlatform

/// The hash of keys that every table of this process uses.
@usableFromInline package enum KeyHash {
  // One seed for the process, so that a prepared key serves every store.
  @usableFromInline package static let seed = UInt64.random(in: 1 ... .max)

  @inlinable @inline(__always)
  package static func of(_ key: UnsafeBufferPointer<UInt8>) -> UInt64 { kept_hash(key.baseAddress, key.count, seed) }

  /// Mixes a hash with the seed of a dictionary: the standard library would hash it once more, in 150 instructions.
  ///
  /// In the order of one dictionary, keys must not come to neighbouring places of another.
  @inlinable
  package static func mixed(_ hash: UInt64, seed: Int) -> Int {
    let mixed = (hash ^ UInt64(bitPattern: Int64(seed))) &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: mixed.byteSwapped)
  }
}

/// The bytes of a key with their hash, valid while the owner keeps the bytes.
@usableFromInline package struct PreparedBytes {
  @usableFromInline package let bytes: UnsafeBufferPointer<UInt8>
  @usableFromInline package let hash: UInt64

  /// Bytes that are not a valid key.
  package static var none: PreparedBytes { PreparedBytes(UnsafeBufferPointer(start: nil, count: 0)) }

  @inlinable @inline(__always)
  package init(_ bytes: UnsafeBufferPointer<UInt8>) {
    self.bytes = bytes
    hash = KeyHash.of(bytes)
  }

  /// Whether these are the bytes of the key.
  @inlinable @inline(__always)
  package func hasBytes(_ others: UnsafeBufferPointer<UInt8>) -> Bool {
    guard bytes.count == others.count, let a = bytes.baseAddress, let b = others.baseAddress else { return false }
    return kept_same_bytes(a, b, bytes.count)
  }

  /// Bytes that are already hashed.
  @inlinable @inline(__always)
  package init(_ bytes: UnsafeBufferPointer<UInt8>, hash: UInt64) {
    self.bytes = bytes
    self.hash = hash
  }

  /// The bytes of NUL-terminated text.
  ///
  /// They need not be a valid key; no index contains an invalid one.
  @inlinable @inline(__always)
  package init(_ text: UnsafePointer<CChar>) {
    let length = strlen(text)
    self.init(UnsafeRawBufferPointer(start: text, count: length).assumingMemoryBound(to: UInt8.self))
  }
}

/// A key that was checked and hashed once.
package final class PreparedKey: @unchecked Sendable {
  package let name: KeyName
  /// The bytes are a copy that lives as long as this object.
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
