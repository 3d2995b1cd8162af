// Swift compares strings by canonical equivalence: an NFC and an NFD spelling are equal, and would merge as dictionary
// keys. Kept compares names by their bytes, as C, Python and JSON do.

import CPlatform

/// Text that is compared, ordered and hashed by its UTF-8 bytes.
public struct ExactString: Sendable {
  public let text: String

  public init(_ text: String) {
    var text = text
    text.makeContiguousUTF8()
    self.text = text
  }

  /// The bytes, valid during the call.
  @inlinable @inline(__always)
  package func withBytes<T>(_ body: (UnsafeBufferPointer<UInt8>) -> T) -> T {
    // A contiguous string always provides its bytes; the second expression satisfies the type checker.
    text.utf8.withContiguousStorageIfAvailable(body) ?? Array(text.utf8).withUnsafeBufferPointer(body)
  }

  /// The bytes, for a closure that may throw.
  @inlinable @inline(__always)
  package func withBytes<T>(
    _ body: (UnsafeBufferPointer<UInt8>) throws(StoreError) -> T
  ) throws(StoreError) -> T {
    try withBytes { bytes in Result { () throws(StoreError) in try body(bytes) } }.get()
  }

  /// Below 0, 0 or above 0: whether the bytes are ordered before, equal to, or ordered after those of `other`.
  private func order(_ other: ExactString) -> Int {
    withBytes { own in
      other.withBytes { others in
        // Empty text may have a null address.
        guard let a = own.baseAddress, let b = others.baseAddress else { return own.count - others.count }
        let common = Int(memcmp(a, b, min(own.count, others.count)))
        return common != 0 ? common : own.count - others.count
      }
    }
  }

  /// Whether the bytes begin with those of `prefix`.
  @inlinable package func hasPrefix(_ prefix: ExactString) -> Bool {
    prefix.text.isEmpty || text.begins(with: prefix.text)
  }
}

extension ExactString: Hashable, Comparable {
  // Not inlined: in all functions that compare texts, it would take 12 KB.
  @inline(never)
  public static func == (a: ExactString, b: ExactString) -> Bool {
    // So are the keys that the tables of a process share.
    if a.text._isIdentical(to: b.text) { return true }
    return a.withBytes { a in
      b.withBytes { b in
        // Empty text may have a null address.
        guard a.count == b.count, let one = a.baseAddress, let other = b.baseAddress else { return a.count == b.count }
        return kept_same_bytes(one, other, a.count)
      }
    }
  }

  public static func < (a: ExactString, b: ExactString) -> Bool {
    a.order(b) < 0
  }

  @inlinable public func hash(into hasher: inout Hasher) {
    withBytes { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}

extension ExactString: ExpressibleByStringLiteral, CustomStringConvertible {
  // A literal is contiguous.
  @inlinable public init(stringLiteral text: String) { self.text = text }
  public var description: String { text }
}
