// The location of a store, parsed from the text that a program passes.

import CPlatform
import KeptSystem
import KeptValues

/// A parsed location; the ``StorageRegistry`` finds its storage.
struct Location: Hashable {
  let scheme: LocationScheme
  /// The text after the scheme; for an identifier the path of its folder.
  let name: String

  init(_ scheme: LocationScheme, _ name: String) { (self.scheme, self.name) = (scheme, name) }

  /// Text with a known scheme has that scheme, text with a slash is a path, and other text is an identifier.
  init(_ text: String) throws(StoreError) {
    guard !text.utf8.isEmpty, !text.utf8.contains(0) else {
      throw StoreError(.invalid, "the location is empty or contains a NUL; use an identifier, a path or \"memory:\"")
    }
    scheme = LocationScheme.allCases.first { text.utf8.starts(with: $0.rawValue.utf8) } ?? .folder
    let isIdentifier = scheme == .folder && !text.utf8.contains(UInt8(ascii: "/"))
    name =
      isIdentifier
      ? try Self.folder(ofIdentifier: text) : String(Substring(text.utf8.dropFirst(scheme.rawValue.utf8.count)))
    guard scheme != .directory || !name.isEmpty else {
      throw StoreError(.invalid, "\"dir:\" does not name a folder; use a path, such as dir:/home/me/settings")
    }
  }

  /// The identifier in a location, if the location is one.
  static func identifier(in text: String) -> String? {
    if text.utf8.contains(UInt8(ascii: "/")) || text.utf8.contains(UInt8(ascii: ":")) { return nil }
    return text
  }

  /// The end of the name of a store's folder in the user's folder.
  static let ending = ".kept"

  /// `$XDG_CONFIG_HOME/kept`, by default in `~/.config`: the folder of the user's stores.
  static func userFolder() throws(StoreError) -> String { try configurationFolder() + "/kept" }

  /// `$XDG_CONFIG_HOME/kept/<identifier>.kept`.
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
        "\"\(identifier)\" is not an identifier: use up to 200 letters, digits, '-', '_' and '.' (not first), "
          + "such as com.example.player; a path needs a slash")
    }
    return try "\(userFolder())/\(identifier)\(ending)"
  }

  private static func configurationFolder() throws(StoreError) -> String {
    guard let text = kept_configuration_folder() else {
      throw StoreError(
        .unavailable,
        "neither XDG_CONFIG_HOME nor HOME is set to an absolute path, and the user database has no home folder for "
          + "user \(geteuid()); set HOME, or open the store by its path")
    }
    defer { free(text) }
    guard let path = String(validatingCString: text) else { throw .notUTF8("the folder of the user's configuration") }
    return path
  }
}
