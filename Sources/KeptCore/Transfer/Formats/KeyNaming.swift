// Which key stands for a name of another program's text.

/// How names become keys.
package struct KeyNaming: Sendable {
  /// Stands in front of every key.
  package var prefix: String
  /// Stands between sections, the parts of a path and the names of nested objects.
  package var separator: String
  /// Of `.env` files: only names that begin with it, each of which is the key that ``EnvironmentName`` says; nil for
  /// names that are keys themselves.
  package var environmentPrefix: String?

  package init(prefix: String = "", separator: String = ".", environmentPrefix: String? = nil) {
    self.prefix = prefix
    self.separator = separator
    self.environmentPrefix = environmentPrefix
  }

  /// The name of something inside something else; at the top, where there is nothing around it, it stands alone.
  func join(_ outer: String, _ name: String) -> String { outer.isEmpty ? name : outer + separator + name }
}
