// The layers that a value can come from, in order of precedence.

/// A source of values.
///
/// The highest layer that has a fitting value decides.
///
/// Only the user layer, the store itself, can be written.
public enum Layer: Sendable, Hashable, CaseIterable, Comparable, CustomStringConvertible {
  /// Declared defaults.
  case declared
  /// Defaults that this program has registered.
  case registered
  /// The administrator's defaults.
  case system
  /// The store.
  case user
  /// Environment variables of the program.
  case environment
  /// The program's command line.
  case arguments
  /// Values that the administrator prescribes; this layer can lock keys.
  case managed

  public var description: String {
    switch self {
    case .declared: "declared"
    case .registered: "registered"
    case .system: "system"
    case .user: "user"
    case .environment: "environment"
    case .arguments: "arguments"
    case .managed: "managed"
    }
  }
}
