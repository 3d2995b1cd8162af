// The key pair of a data key: a process that does not have the data key seals a secret with the public key.
// docs/internals/file-format.md has the format.

import CSodium
package import KeptValues

/// A secret key that is made of a data key, with X25519.
struct KeyPair {
  static let publicBytes = 32
  let publicKey: [UInt8]
  private let secretKey: LockedBytes

  private init(secretKey: LockedBytes) throws(StoreError) {
    let sodium = try Sodium.load()
    var publicKey = [UInt8](repeating: 0, count: Self.publicBytes)
    let isMade = try secretKey.withBytes { secret in
      sodium.functions.pointee.crypto_scalarmult_curve25519_base(&publicKey, secret.baseAddress)
    }
    guard isMade == 0 else { throw StoreError(.failed, "libsodium could not make a key pair; try again") }
    (self.publicKey, self.secretKey) = (publicKey, secretKey)
  }

  /// The pair of a data key.
  init(of dataKey: LockedBytes, _ number: UInt32, _ store: [UInt8]) throws(StoreError) {
    var context = SealContext("kept key pair 1", of: store)
    context.add(number)
    try self.init(secretKey: Seal.subkey(of: dataKey, context))
  }

  /// A pair for one value.
  static func random() throws(StoreError) -> KeyPair { try KeyPair(secretKey: .random(Seal.keyBytes)) }

  /// The key that the owner of another pair can make too; nil if the public key is not valid.
  func shared(with other: some Sequence<UInt8>) throws(StoreError) -> LockedBytes? {
    let (sodium, other) = (try Sodium.load(), Array(other))
    var isMade = false
    let shared = try LockedBytes(count: Seal.keyBytes) { shared throws(StoreError) in
      isMade =
        try secretKey.withBytes { secret in
          sodium.functions.pointee.crypto_scalarmult_curve25519(shared.baseAddress, secret.baseAddress, other)
        } == 0
    }
    return isMade ? shared : nil
  }
}

extension SecretsDocument {
  /// Encrypts a value as ``DataKeys/seal(_:for:at:)`` does, without the data key: this process cannot read it.
  package func seal(
    _ plain: UnsafeBufferPointer<UInt8>, for key: KeyName, at revision: Revision
  ) throws(StoreError) -> [UInt8] {
    guard let current = keys.first(where: \.isCurrent) else { throw Members.damaged("no data key is current") }
    let pair = try KeyPair.random()
    guard let shared = try pair.shared(with: current.publicKey) else {
      throw Members.damaged("the public key of data key \(current.number) is not valid")
    }
    let header = SealedHeader(key: current.number, revision: revision, isPublic: true)
    try Memory.ask(for: plain.count + SealedHeader.overhead + KeyPair.publicBytes, to: "encrypt a value")
    var sealed = header.bytes + pair.publicKey
    let context = SealContext(valueOf: id, key, header, pair.publicKey, current.publicKey)
    try Seal.seal(plain, with: shared, for: context, to: &sealed)
    return sealed
  }
}
