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
    return outer.utf8.count > Limits.keyBytes ? outer : Self.joined([outer, separator, name])
  }

  /// The key of a name.
  func key(of name: String) throws(StoreError) -> KeyName {
    // One that is too long by itself is not copied first: there may be many.
    try KeyName(prefix.isEmpty || name.utf8.count > Limits.keyBytes ? name : Self.joined([prefix, name]))
  }

  /// Texts behind each other, in as much memory as they need: a text that grows takes up to twice as much.
  private static func joined(_ parts: [String]) -> String {
    let count = parts.reduce(0) { $0 + $1.utf8.count }
    return String(unsafeUninitializedCapacity: count) { bytes in
      var end = 0
      for part in parts {
        ExactString(part).withBytes { part in
          guard let from = part.baseAddress, let to = bytes.baseAddress else { return }
          (to + end).initialize(from: from, count: part.count)
          end += part.count
        }
      }
      return end
    }
  }
}
