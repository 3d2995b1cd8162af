// Encodes a type with @ArgumentOverride properties as arguments, in the order of declaration.

import KeptValues

/// A configuration of a program to be started.
///
/// A type with ``ArgumentOverride`` properties needs no further code:
///
/// ```swift
/// var launch = PlayerLaunch()
/// launch.theme = .dark
/// player.arguments = try launch.encodeLaunchArguments()
/// ```
public protocol LaunchArgumentEncodable {
  /// The keys and their values.
  ///
  /// By default, the ``ArgumentOverride`` properties in the order of declaration, those of a superclass first.
  var argumentOverrides: [any ArgumentOverriding] { get }

  /// Unmodified arguments that follow the settings; none by default.
  var additionalLaunchArguments: [String] { get }
}

extension LaunchArgumentEncodable {
  public var argumentOverrides: [any ArgumentOverriding] {
    let levels = sequence(first: Mirror(reflecting: self)) { $0.superclassMirror }
    return levels.reversed().flatMap(\.children).compactMap { $0.value as? any ArgumentOverriding }
  }

  public var additionalLaunchArguments: [String] { [] }

  /// The arguments that override the settings.
  ///
  /// Of two properties with one key the later one applies, and a nil value leaves the key to the other. Throws what
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
