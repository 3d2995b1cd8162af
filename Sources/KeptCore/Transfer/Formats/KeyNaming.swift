// Which key stands for a name in another program's text.

/// How names become keys.
package struct KeyNaming: Sendable {
  /// Stands in front of every key.
  package var prefix: String
  /// Stands between sections, the parts of a path and the names of nested objects.
  package var separator: String
  /// Of `.env` files: only names that begin with it, each of which is the key that ``EnvironmentName`` says; nil where
  /// every name is a key itself.
  package var environmentPrefix: String?

  package init(prefix: String = "", separator: String = ".", environmentPrefix: String? = nil) {
    self.prefix = prefix
    self.separator = separator
    self.environmentPrefix = environmentPrefix
  }

  /// The name of something inside something else; nil around it is the top of the text.
  func join(_ outer: String?, _ name: String) -> String {
    guard let outer else { return name }
    // One that is too long already is not copied for each name in it.
    return outer.utf8.count > Limits.keyBytes ? outer : outer + separator + name
  }
}
