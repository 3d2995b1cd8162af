// How a type with @ArgumentOverride properties becomes arguments: in the order in which it declares them.

public import KeptCore

/// A configuration of a program that is to be started.
///
/// A type with ``ArgumentOverride`` properties needs to say no more:
///
/// ```swift
/// var launch = PlayerLaunch()
/// launch.theme = .dark
/// player.arguments = try launch.encodeLaunchArguments()
/// ```
public protocol LaunchArgumentEncodable {
  /// The keys and their values; by default the ``ArgumentOverride`` properties, as they are declared, those of a
  /// superclass first.
  var argumentOverrides: [any ArgumentOverriding] { get }

  /// Arguments that follow the settings as they are; none by default.
  var additionalLaunchArguments: [String] { get }
}

extension LaunchArgumentEncodable {
  public var argumentOverrides: [any ArgumentOverriding] {
    let levels = sequence(first: Mirror(reflecting: self)) { $0.superclassMirror }
    return levels.reversed().flatMap(\.children).compactMap { $0.value as? any ArgumentOverriding }
  }

  public var additionalLaunchArguments: [String] { [] }

  /// The arguments with which the program finds what is set here.
  ///
  /// Of two properties with one key the later one counts, and nil leaves the key to the other. Throws what
  /// ``LaunchArguments/set(_:for:)`` throws, with the key.
  public func encodeLaunchArguments() throws(StoreError) -> [String] {
    var launch = LaunchArguments()
    for override in argumentOverrides {
      do throws(StoreError) {
        guard let value = try override.overridingValue() else { continue }
        try launch.put(value, for: try KeyName(override.key))
      } catch { throw error.about(override.key) }
    }
    return launch.arguments + additionalLaunchArguments
  }
}
