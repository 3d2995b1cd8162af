// Secrets for which nested JSON has an object: its members would become separate keys that are not secret.

import KeptValues

/// The prefixes of keys that an import must not create.
struct SplitSecrets {
  private var secrets = PrefixTable<Secret>()

  private final class Secret {
    let key: KeyName

    init(_ key: KeyName) { self.key = key }
  }

  /// - Parameter separator: the text between a key and the members that it was split into.
  mutating func insert(_ key: KeyName, separator: String) {
    secrets.insert(Secret(key), for: ExactString(key.text + separator))
  }

  /// The secret that the key would be a member of; nil if there is none.
  func secret(above key: KeyName) -> KeyName? {
    var secret: KeyName?
    secrets.each(of: key) { found in
      secret = found.key
      return false
    }
    return secret
  }

  /// Why the secret's object is not imported.
  static func refusal(of key: KeyName) -> StoreError {
    StoreError(
      .invalid, key: key.text,
      "is declared secret, but its members would become keys that are not; import the text as flat JSON, or declare "
        + "the keys of the members first")
  }
}
