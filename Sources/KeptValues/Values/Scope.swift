// The scope of a subscription.

/// The keys that an observer observes.
public enum Scope: Sendable, Hashable {
  /// Exactly one key.
  case key(KeyName)
  /// Every key that begins with a text; `""` for every key.
  case prefix(ExactString)

  package func contains(_ key: KeyName) -> Bool {
    switch self {
    case .key(let own): own == key
    case .prefix(let prefix): key.exact.hasPrefix(prefix)
    }
  }
}
