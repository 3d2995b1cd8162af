// A key that systemd-creds encrypts with the key of the machine, or with its TPM.

package import KeptValues

package enum SystemCredential {
  /// Encrypts a random key for this machine.
  package static func make(
    for document: SecretsDocument, _ access: ProviderAccess
  ) throws(StoreError) -> (Provider, LockedBytes) {
    let name = "kept-" + SecretService.attribute(of: document.id)
    let key = try LockedBytes.random(Seal.keyBytes)
    let sealed = try key.withBytes { bytes throws(StoreError) in
      try ProgramRun.read(
        [access.systemdCreds, "encrypt", "--name=\(name)", "-", "-"], input: bytes,
        remedy: "only root can use the key of the machine; use another provider", access
      ) { output throws(StoreError) in
        guard !output.isEmpty, let text = String(exactly: output) else {
          throw StoreError(.unavailable, "it printed no encrypted credential; run systemd-creds setup")
        }
        return text
      }
    }
    return (.systemCredential(name: name, sealed: sealed), key)
  }

  static func key(_ name: String, _ sealed: String, _ access: ProviderAccess) throws(StoreError) -> LockedBytes {
    try ExactString(sealed).withBytes { bytes throws(StoreError) in
      try ProgramRun.read(
        [access.systemdCreds, "decrypt", "--name=\(name)", "-", "-"], input: bytes,
        remedy: "only root of the machine that encrypted the key can decrypt it; use another provider, and add this "
          + "one again", access
      ) { output throws(StoreError) in
        guard let key = try ProviderKey.read(output) else {
          throw StoreError(.corrupt, "the credential has \(output.count) bytes that are not a key; add it again")
        }
        return key
      }
    }
  }
}
