// The formats of texts that can be imported.

/// The format of a text that is imported.
///
/// The raw values are the `KEPT_FORMAT_…` of the C header.
public enum ImportFormat: UInt32, Hashable, Sendable {
  /// Kept's export format.
  case kept
  /// A JSON object whose members are keys.
  case json
  /// A JSON object whose nested objects are components of keys.
  case nestedJSON
  /// A property list: XML, binary, or old style.
  case propertyList
  /// Lines of the form `NAME=value`, as in a `.env` file.
  case env
  /// Lines of the form `[section]` and `name = value`.
  case ini
  /// The output of `dconf dump`.
  case dconf
}
