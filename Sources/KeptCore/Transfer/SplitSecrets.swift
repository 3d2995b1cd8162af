// Secrets for which nested JSON gives an object: its members would become keys of their own, which are no secrets.

/// The keys above those that an import must not make.
struct SplitSecrets {
  private var secrets = PrefixTable<Secret>()

  private final class Secret {
    let key: KeyName

    init(_ key: KeyName) { self.key = key }
  }

  /// - Parameter separator: stands between a key and the members that it was split into.
  mutating func insert(_ key: KeyName, separator: String) {
    secrets.insert(Secret(key), for: ExactString(key.text + separator))
  }

  /// The secret whose member the key would be; nil: there is none.
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
      "is declared secret, and its members would become keys that are not; import the text as flat JSON, or declare "
        + "the keys of the members first")
  }
}
