// What a subscription is about.

/// Which keys an observer hears of.
public enum Scope: Sendable, Hashable {
  /// Exactly one key.
  case key(KeyName)
  /// Every key that begins with a text; `""` is everything.
  case prefix(ExactString)

  func contains(_ key: KeyName) -> Bool {
    switch self {
    case .key(let own): own == key
    case .prefix(let prefix): key.exact.hasPrefix(prefix)
    }
  }
}
