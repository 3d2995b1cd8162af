// The name under which a value is stored, checked and hashed once.

import CPlatform

/// A valid key: 1 to 1024 bytes of UTF-8 without NUL, compared byte by byte.
///
/// Dots have no special meaning.
public struct KeyName: Hashable, Comparable, Sendable, CustomStringConvertible {
  public let exact: ExactString
  /// The hash of its bytes, used by every table of this process.
  @usableFromInline package let hash: UInt64

  /// Checks a key.
  ///
  /// Throws `invalid` for a key that is empty, too long or contains a NUL.
  public init(_ text: String) throws(StoreError) {
    let length = text.utf8.count
    guard length > 0 else {
      throw StoreError(.invalid, "the key is empty; it must have 1 to \(Limits.keyBytes) bytes of UTF-8")
    }
    guard length <= Limits.keyBytes else {
      throw StoreError(
        .invalid, key: text, "the key is \(length) bytes long; at most \(Limits.keyBytes) are allowed")
    }
    let exact = ExactString(text)
    guard !exact.withBytes({ $0.holdsNUL }) else {
      throw StoreError(.invalid, "the key contains a NUL at byte \(text.utf8.prefix { $0 != 0 }.count); remove it")
    }
    self.exact = exact
    hash = exact.withBytes(KeyHash.of)
  }

  @inlinable public var text: String { exact.text }
  public var description: String { exact.text }
  public static func < (a: KeyName, b: KeyName) -> Bool { a.exact < b.exact }
  @inlinable public static func == (a: KeyName, b: KeyName) -> Bool { a.hash == b.hash && a.exact == b.exact }
  @inlinable public func hash(into hasher: inout Hasher) { hasher.combine(hash) }

  @inlinable public func _rawHashValue(seed: Int) -> Int { KeyHash.mixed(hash, seed: seed) }

  /// Passes the bytes with their hash to `body`; they are valid during the call.
  @inlinable @inline(__always)
  package func withPrepared<Result>(_ body: (PreparedBytes) -> Result) -> Result {
    exact.withBytes { body(PreparedBytes($0, hash: hash)) }
  }
}

extension UnsafeBufferPointer<UInt8> {
  fileprivate var holdsNUL: Bool { baseAddress.map { memchr($0, 0, count) != nil } ?? false }
}
