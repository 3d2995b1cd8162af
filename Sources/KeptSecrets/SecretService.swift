// A key in the keyring of the user's session, by the program of libsecret, which brings GLib and D-Bus.

package import KeptValues

package enum SecretService {
  /// Stores a random key in the keyring.
  ///
  /// - Parameter label: what the keyring shows to its user.
  package static func make(
    for document: SecretsDocument, label: String, _ access: ProviderAccess
  ) throws(StoreError) -> LockedBytes {
    let key = try LockedBytes.random(Seal.keyBytes)
    let line = try ProviderKey.line(key)
    try line.withBytes { bytes throws(StoreError) in
      try ProgramRun.read(
        [access.secretTool, "store", "--label=\(label)"] + attributes(of: document.id),
        // Keyrings show text, without a line end.
        input: UnsafeBufferPointer(rebasing: bytes.dropLast()), remedy: remedy, access
      ) { _ in }
    }
    return key
  }

  static func key(of store: [UInt8], _ access: ProviderAccess) throws(StoreError) -> LockedBytes {
    try ProgramRun.read(
      [access.secretTool, "lookup"] + attributes(of: store), remedy: remedy, silence: silence, access
    ) {
      output throws(StoreError) in
      guard let key = try ProviderKey.read(output) else {
        throw StoreError(.corrupt, "the keyring has an item that is not a key; add the provider again")
      }
      return key
    }
  }

  // The program fails in the same way if the item does not exist and if nothing unlocks the keyring.
  private static let silence =
    "the keyring is locked, or has no key of this store; unlock it, or add the provider again"

  private static let remedy = "unlock the keyring of the user's session, or use another provider"

  private static func attributes(of store: [UInt8]) -> [String] {
    ["application", "kept", "store", attribute(of: store)]
  }

  /// The identity in hexadecimal digits.
  static func attribute(of store: [UInt8]) -> String {
    store.reduce(into: "") { text, byte in text += (byte < 16 ? "0" : "") + String(byte, radix: 16) }
  }
}
