// The settings in environment variables: those with the prefix whose names EnvironmentName would write.
//
// No message quotes a variable's text, because it may be a secret.

package import KeptValues

/// The settings of an environment.
package struct EnvironmentLayer: Sendable {
  package let values: [KeyName: TextValue]
  /// An error for each variable with the prefix that is not read.
  package let problems: [StoreError]

  /// Parses variables written as `NAME=text`.
  ///
  /// The text is used as it is, including white space. Of variables with the same name the first one applies, as for
  /// `getenv`. Throws `invalid` for an invalid prefix.
  package init(prefix: String, _ variables: [String]) throws(StoreError) {
    try Self.check(prefix)
    var values: [KeyName: TextValue] = [:]
    var problems: [StoreError] = []
    for variable in variables where ExactString(variable).hasPrefix(ExactString(prefix)) {
      guard let end = variable.utf8.firstIndex(of: UInt8(ascii: "=")) else { continue }
      let name = String(variable[..<end])
      guard let key = EnvironmentName.key(of: name, prefix: prefix) else {
        problems.append(Self.notAKey(name, prefix: prefix))
        continue
      }
      guard values[key] == nil else {
        problems.append(Self.twice(name, key))
        continue
      }
      values[key] = TextValue(String(variable[variable.utf8.index(after: end)...]))
    }
    self.values = values
    self.problems = problems
  }

  /// Throws `invalid` for a prefix that is empty or cannot occur in a name.
  package static func check(_ prefix: String) throws(StoreError) {
    guard !prefix.isEmpty else {
      throw StoreError(
        .invalid,
        "the prefix of environment variables is empty, so every variable would be a setting; use one such as PLAYER_")
    }
    guard !prefix.utf8.contains(where: { $0 == 0 || $0 == UInt8(ascii: "=") }) else {
      throw StoreError(
        .invalid,
        "the prefix of environment variables contains '=' or a NUL, which a variable name cannot contain; "
          + "use one such as PLAYER_")
    }
  }

  private static func notAKey(_ name: String, prefix: String) -> StoreError {
    let subject = "the environment variable \(shortened(name)) is ignored"
    guard let key = EnvironmentName.intendedKey(of: name, prefix: prefix) else {
      return StoreError(.invalid, "\(subject): its name does not encode a key")
    }
    let canonical = EnvironmentName.name(of: key, prefix: prefix)
    return StoreError(.invalid, key: key.text, "\(subject): the name for this key is \(shortened(canonical))")
  }

  private static func twice(_ name: String, _ key: KeyName) -> StoreError {
    StoreError(
      .invalid, key: key.text, "the environment variable \(shortened(name)) is set twice; the first value is used")
  }

  /// Truncates a long name, because a message must fit into the caller's `kept_error`.
  static func shortened(_ name: String) -> String {
    name.utf8.count <= 160 ? name : String(name.unicodeScalars.prefix(150)) + "…"
  }
}
