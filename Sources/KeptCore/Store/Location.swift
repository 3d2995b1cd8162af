// The location of a store, parsed from the text that a program passes.

import CPlatform

/// A parsed location; the ``StorageRegistry`` finds its storage.
struct Location: Hashable {
  let scheme: LocationScheme
  /// What follows the scheme; for an identifier the path of its folder.
  let name: String

  init(_ scheme: LocationScheme, _ name: String) { (self.scheme, self.name) = (scheme, name) }

  /// Text with a known scheme has that scheme, text with a slash is a path, and other text is an identifier.
  init(_ text: String) throws(StoreError) {
    guard !text.utf8.isEmpty, !text.utf8.contains(0) else {
      throw StoreError(.invalid, "a location is empty or holds a NUL; give an identifier, a path or \"memory:\"")
    }
    scheme = LocationScheme.allCases.first { text.utf8.starts(with: $0.rawValue.utf8) } ?? .folder
    let isIdentifier = scheme == .folder && !text.utf8.contains(UInt8(ascii: "/"))
    name =
      isIdentifier
      ? try Self.folder(ofIdentifier: text) : String(Substring(text.utf8.dropFirst(scheme.rawValue.utf8.count)))
  }

  /// The identifier in a location, if the location is one.
  static func identifier(in text: String) -> String? {
    if text.utf8.contains(UInt8(ascii: "/")) || text.utf8.contains(UInt8(ascii: ":")) { return nil }
    return text
  }

  /// `$XDG_CONFIG_HOME/kept/<identifier>.kept`, by default in `~/.config`.
  private static func folder(ofIdentifier identifier: String) throws(StoreError) -> String {
    let isPlain = identifier.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"): true
      default: false
      }
    }
    guard isPlain, !identifier.begins(with: "."), identifier.utf8.count <= 200 else {
      throw StoreError(
        .invalid,
        "\"\(identifier)\" is not an identifier: use up to 200 letters, digits, '.', '-' and '_', "
          + "such as com.example.player; a path needs a slash")
    }
    return try configurationFolder() + "/kept/\(identifier).kept"
  }

  /// According to the XDG specification, a relative path in the variable is ignored.
  private static func configurationFolder() throws(StoreError) -> String {
    if let path = try environment("XDG_CONFIG_HOME"), path.begins(with: "/") { return path }
    if let home = try environment("HOME"), home.begins(with: "/") { return home + "/.config" }
    throw StoreError(
      .unavailable,
      "neither XDG_CONFIG_HOME nor HOME is set to an absolute path; set one, or open the store by its path")
  }

  private static func environment(_ name: String) throws(StoreError) -> String? {
    guard let text = kept_variable(name) else { return nil }
    guard let path = String(validatingCString: text) else { throw .notUTF8("the environment variable \(name)") }
    return path
  }
}
