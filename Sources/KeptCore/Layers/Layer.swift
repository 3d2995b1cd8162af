// The sources that a value can come from, and in which order they are asked.

/// A source of values; the highest one that has a fitting value decides.
///
/// Only the user's layer, the store itself, can be written.
public enum Layer: Sendable, Hashable, CaseIterable, Comparable, CustomStringConvertible {
  /// Defaults that keys are declared with.
  case declared
  /// Defaults that this program has registered.
  case registered
  /// The administrator's defaults.
  case system
  /// The store.
  case user
  /// Variables of the program's environment.
  case environment
  /// The program's command line.
  case arguments
  /// What the administrator prescribes; it locks keys.
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
