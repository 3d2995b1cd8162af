// What an observer is told.

/// One commit as an observer sees it: the changes in its scope, all of them at once.
///
/// The C twin is `kept_notice`.
public struct Notice: Sendable, Hashable {
  /// The revision that the changes lead up to.
  public let revision: Revision
  /// Who made the changes.
  public let origin: Origin
  /// In the order of the keys' bytes.
  ///
  /// An initial notice has the present values, with no old ones.
  public let changes: [Change]

  public enum Origin: Sendable, Hashable {
    /// This handle.
    case store
    /// Another handle in this process.
    case process
    /// Another process.
    case otherProcess
    /// Nobody now: these are the values at the time of subscribing.
    case initial
  }

  /// The part of the notice that lies in a scope; nil if nothing does.
  func within(_ scope: Scope) -> Notice? {
    let inScope = changes.filter { scope.contains($0.key) }
    return inScope.isEmpty ? nil : Notice(revision: revision, origin: origin, changes: inScope)
  }
}

/// What a subscription is about.
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
