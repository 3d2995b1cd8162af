// A key that is made of a passphrase, by Argon2id.

import CSodium
package import KeptValues

/// The parameters of Argon2id.
package struct PassphraseHash: Sendable, Equatable {
  let salt: [UInt8]
  let operations: Int
  /// In bytes.
  let memory: Int

  private static let saltBytes = 16
  // A hostile document must not take all time or memory.
  private static let validOperations = 1...16
  private static let validMemory = 8 << 10...1 << 30

  private init(salt: [UInt8], operations: Int, memory: Int) {
    (self.salt, self.operations, self.memory) = (salt, operations, memory)
  }

  /// Creates parameters with a random salt.
  ///
  /// The default ones are those of RFC 9106 for little memory.
  package static func random(operations: Int = 3, memory: Int = 64 << 20) throws(StoreError) -> PassphraseHash {
    guard validOperations ~= operations, validMemory ~= memory else {
      throw StoreError(
        .invalid,
        "Argon2id needs 1 to 16 operations and 8 KiB to 1 GiB of memory, not \(operations) and \(memory) bytes")
    }
    return PassphraseHash(salt: try Sodium.load().random(saltBytes), operations: operations, memory: memory)
  }

  init(_ members: Members) throws(StoreError) {
    guard case .int(let operations) = members["operations"], case .int(let memory) = members["memory"],
      Self.validOperations ~= Int(operations), Self.validMemory ~= Int(memory)
    else { throw Members.damaged("the limits of a passphrase are missing or out of range") }
    self.init(
      salt: try members.bytes("salt", count: Self.saltBytes), operations: Int(operations), memory: Int(memory))
  }

  var parameters: ValueDictionary {
    [
      "kind": "passphrase", "salt": .string(Base64.text(salt)), "operations": .int(Int64(operations)),
      "memory": .int(Int64(memory)),
    ]
  }

  package func key(of passphrase: LockedBytes) throws(StoreError) -> LockedBytes {
    guard passphrase.count > 0 else { throw StoreError(.invalid, "the passphrase is empty; give another one") }
    let sodium = try Sodium.load()
    try Memory.ask(for: memory, to: "make a key of a passphrase")
    return try LockedBytes(count: Seal.keyBytes) { key throws(StoreError) in
      let status = try passphrase.withBytes { bytes in
        bytes.withMemoryRebound(to: CChar.self) { text in
          sodium.functions.pointee.crypto_pwhash(
            key.baseAddress, UInt64(key.count), text.baseAddress, UInt64(text.count), salt, UInt64(operations), memory,
            Int32(KEPT_ARGON2ID13))
        }
      }
      guard status == 0 else {
        throw StoreError(.failed, "not enough memory to make a key of the passphrase (\(memory) bytes); free some")
      }
    }
  }
}
