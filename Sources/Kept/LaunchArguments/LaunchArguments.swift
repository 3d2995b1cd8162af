// Settings for a program to be started, as its arguments.

import KeptCore
import KeptValues

/// The arguments that override settings of a program, whatever is stored.
///
/// ```swift
/// var launch = LaunchArguments()
/// try launch.set(8, for: .level)
/// try launch.set("Ada", for: .userName)
/// player.arguments = launch.arguments     // -CurrentLevel <integer>8</integer> -UserName <string>Ada</string>
/// ```
///
/// They are read by a program that opens its store with `StoreOptions(arguments: CommandLine.arguments)`, or that reads
/// Foundation's argument domain. Values are written as elements of an XML property list, so that numbers, including
/// negative ones, and texts keep their types. The fractional seconds of a date are truncated, and `-0.0` becomes 0.
///
/// In C and Python, write the arguments directly: `-audio.volume 30`.
public struct LaunchArguments: Sendable, Hashable {
  private struct Pair: Sendable, Hashable {
    let key: ExactString
    let fragment: String
  }

  private var pairs: [Pair] = []

  public init() {}

  /// The keys and their values alternately, in the order of the keys' last sets.
  public var arguments: [String] { pairs.flatMap { ["-" + $0.key.text, $0.fragment] } }

  /// Sets a key; nil removes it.
  ///
  /// Throws `invalid` for a value that no store, or no argument, can hold, and for a key such as `5`: `-5` is a number
  /// on a command line.
  public mutating func set<Value>(_ value: Value, for key: Key<Value>) throws(StoreError) {
    try put(try key.write(value), for: try key.keyName())
  }

  /// Sets the key with a name; nil removes it.
  ///
  /// Throws `invalid` as ``set(_:for:)`` does.
  public mutating func set(_ value: some Storable, forKey name: String) throws(StoreError) {
    do { try put(try value.stored(), for: try KeyName(name)) } catch { throw error.about(name) }
  }

  mutating func put(_ value: Value, for key: KeyName) throws(StoreError) {
    if value == .null { return pairs.removeAll { $0.key == key.exact } }
    do throws(StoreError) {
      let fragment = try PropertyListElement.text(of: try value.checked(for: key))
      // Checked with the parser itself, which decides whether it is an argument.
      guard ArgumentLayer(["-" + key.text, fragment]).values[key] != nil else {
        throw StoreError(.invalid, "cannot be an argument: it would be read as a number; use another key")
      }
      pairs.removeAll { $0.key == key.exact }
      pairs.append(Pair(key: key.exact, fragment: fragment))
    } catch { throw error.about(key.text) }
  }
}
