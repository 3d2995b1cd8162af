// The secrets of an export, encrypted with a key that is made of a passphrase.

package import KeptValues

/// Seals and opens the secrets of one export.
package struct ExportSeal: Sendable {
  private let hash: PassphraseHash
  private let key: LockedBytes

  /// Makes the key of a new export.
  package init(passphrase: String) throws(StoreError) { try self.init(.random(), passphrase) }

  /// Makes the key of an export that has these parameters.
  ///
  /// Throws `unsupported` for a kind of a later version, and `invalid` for wrong parameters.
  package init(_ parameters: ValueDictionary, passphrase: String) throws(StoreError) {
    guard let kind = parameters["kind"]?.asString, kind.begins(with: Self.kind), kind.utf8.count == Self.kind.utf8.count
    else {
      throw StoreError(
        .unsupported, "the secrets of the export are encrypted in a way that this version does not know; update it")
    }
    let hash: PassphraseHash
    do throws(StoreError) { hash = try PassphraseHash(Members(parameters)) } catch {
      throw StoreError(.invalid, "the salt or the limits in \"encryption\" are missing or out of range; export again")
    }
    try self.init(hash, passphrase)
  }

  private init(_ hash: PassphraseHash, _ passphrase: String) throws(StoreError) {
    (self.hash, key) = (hash, try hash.key(of: LockedBytes(copying: passphrase)))
  }

  private static let kind = "passphrase"

  /// What the export says about the key.
  package var parameters: ValueDictionary { hash.parameters }

  /// Encrypts the JSON of a value for a key of the store, as base64.
  package func seal(_ json: UnsafeBufferPointer<UInt8>, for name: KeyName) throws(StoreError) -> String {
    var sealed: [UInt8] = []
    try Memory.ask(for: 3 * (json.count + Seal.overhead), to: "encrypt a value")
    try Seal.seal(json, with: key, for: context(name), to: &sealed)
    return Base64.text(sealed)
  }

  /// Decrypts the JSON of a value; nil if it was not sealed with this passphrase for this key of the store.
  package func open(_ sealed: [UInt8], for name: KeyName) throws(StoreError) -> LockedBytes? {
    try sealed.withUnsafeBufferPointer { sealed throws(StoreError) in
      try Seal.open(sealed, with: key, for: context(name))
    }
  }

  private func context(_ name: KeyName) -> SealContext {
    // The salt is the identity of the export.
    var context = SealContext("kept exported value 1", of: hash.salt)
    context.add(name.exact.text.utf8)
    return context
  }
}
