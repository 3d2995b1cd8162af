// Maps names in another program's text to keys.

import KeptCore

/// The rules for turning names into keys.
package struct KeyNaming: Sendable {
  /// The text before every key.
  package var prefix: String
  /// The text between sections, path components and the names of nested objects.
  package var separator: String
  /// For `.env` files: only names with this prefix are read, mapped by ``EnvironmentName``; nil if every name is a key.
  package var environmentPrefix: String?

  package init(prefix: String = "", separator: String = ".", environmentPrefix: String? = nil) {
    self.prefix = prefix
    self.separator = separator
    self.environmentPrefix = environmentPrefix
  }

  /// The name of a nested element; the outer name is nil at the top level.
  func join(_ outer: String?, _ name: String) -> String {
    guard let outer else { return name }
    // A name that is already too long is not copied for each name in it.
    return outer.utf8.count > Limits.keyBytes ? outer : Self.joined([outer, separator, name])
  }

  /// The key for a name.
  func key(of name: String) throws(StoreError) -> KeyName {
    // A name that is too long by itself is not copied first: there may be many.
    try KeyName(prefix.isEmpty || name.utf8.count > Limits.keyBytes ? name : Self.joined([prefix, name]))
  }

  /// Concatenates texts in exactly the memory they need: a growing text takes up to twice as much.
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
