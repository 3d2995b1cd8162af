// How bytes are encrypted: each time with a key that is made of a lasting one, a random salt, and what the bytes are
// for. docs/decisions/26-encrypted-secrets.md has the reasons, docs/internals/file-format.md the format.

import CSodium
import KeptValues

/// What sealed bytes are for: they cannot be opened for anything else.
struct SealContext {
  fileprivate var bytes: [UInt8] = []

  init(_ purpose: String, of store: [UInt8]) {
    add(Array(purpose.utf8))
    add(store)
  }

  /// The context of a value; that of one that was sealed without the data key has both public keys.
  init(valueOf store: [UInt8], _ key: KeyName, _ header: SealedHeader, _ publicKeys: [UInt8]...) {
    self.init(header.isPublic ? "kept value 2" : "kept value 1", of: store)
    add(key.exact.text.utf8)
    add(header.revision)
    for key in publicKeys { add(key) }
  }

  mutating func add(_ number: some FixedWidthInteger) {
    var bytes: [UInt8] = []
    bytes.append(littleEndian: number)
    add(bytes)
  }

  /// Adds a part, with its length before it: no two lists of parts have the same bytes.
  mutating func add(_ part: some Collection<UInt8>) {
    bytes.append(littleEndian: UInt32(truncatingIfNeeded: part.count))
    bytes.append(contentsOf: part)
  }
}

enum Seal {
  static let keyBytes = 32
  private static let saltBytes = 24
  private static let tagBytes = 16
  /// How much longer sealed bytes are.
  static let overhead = saltBytes + tagBytes

  /// Appends the salt, the encrypted bytes and the tag.
  static func seal(
    _ plain: UnsafeBufferPointer<UInt8>, with key: LockedBytes, for context: SealContext, to sealed: inout [UInt8]
  ) throws(StoreError) {
    let sodium = try Sodium.load()
    let salt = sodium.random(saltBytes)
    let start = sealed.count + saltBytes
    sealed.append(contentsOf: salt)
    sealed.append(contentsOf: repeatElement(0, count: plain.count + tagBytes))
    let isSealed = try withSubkey(sodium, of: key, salt, context) { subkey in
      sealed.withUnsafeMutableBufferPointer {
        sodium.functions.pointee.crypto_aead_chacha20poly1305_ietf_encrypt(
          $0.baseAddress.map { $0 + start }, nil, plain.baseAddress, UInt64(plain.count), nil, 0, nil, nonce, subkey)
      }
    }
    guard isSealed == 0 else { throw StoreError(.failed, "libsodium could not encrypt the value; try again") }
  }

  /// Returns the plain bytes; nil if the bytes were not sealed with this key for this context.
  static func open(
    _ sealed: UnsafeBufferPointer<UInt8>, with key: LockedBytes, for context: SealContext
  ) throws(StoreError) -> LockedBytes? {
    guard sealed.count >= overhead, let start = sealed.baseAddress else { return nil }
    let sodium = try Sodium.load()
    let salt = Array(sealed.prefix(saltBytes))
    var isOpen = false
    let plain = try LockedBytes(count: sealed.count - overhead) { plain throws(StoreError) in
      isOpen =
        try withSubkey(sodium, of: key, salt, context) { subkey in
          sodium.functions.pointee.crypto_aead_chacha20poly1305_ietf_decrypt(
            plain.baseAddress, nil, nil, start + saltBytes, UInt64(sealed.count - saltBytes), nil, 0, nonce, subkey)
        } == 0
    }
    return isOpen ? plain : nil
  }

  /// The key that another one gives for a context without a salt, for other uses than sealing.
  static func subkey(of key: LockedBytes, _ context: SealContext) throws(StoreError) -> LockedBytes {
    let sodium = try Sodium.load()
    return try LockedBytes(count: keyBytes) { subkey throws(StoreError) in
      _ = try withSubkey(sodium, of: key, [], context) { made in
        if let made { subkey.baseAddress?.update(from: made, count: keyBytes) }
        return 0
      }
    }
  }

  // Each key is used once.
  private static let nonce = [UInt8](repeating: 0, count: 12)

  /// Calls `body` with the key for a salt and a context, and wipes it.
  private static func withSubkey(
    _ sodium: Sodium, of key: LockedBytes, _ salt: [UInt8], _ context: SealContext,
    _ body: (UnsafePointer<UInt8>?) -> Int32
  ) throws(StoreError) -> Int32 {
    let message = salt + context.bytes
    return try key.withBytes { key in
      withUnsafeTemporaryAllocation(of: UInt8.self, capacity: keyBytes) { subkey in
        defer { sodium.functions.pointee.sodium_memzero(subkey.baseAddress, subkey.count) }
        let isMade = sodium.functions.pointee.crypto_generichash_blake2b(
          subkey.baseAddress, subkey.count, message, UInt64(message.count), key.baseAddress, key.count)
        return isMade == 0 ? body(UnsafePointer(subkey.baseAddress)) : isMade
      }
    }
  }
}

extension [UInt8] {
  mutating func append(littleEndian number: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
  }
}
