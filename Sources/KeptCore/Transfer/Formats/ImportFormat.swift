// Which texts can be imported.

/// The format of a text that is imported.
///
/// The raw values are the `KEPT_FORMAT_…` of the C header.
public enum ImportFormat: UInt32, Hashable, Sendable {
  /// What Kept exports.
  case kept
  /// A JSON object whose members are keys.
  case json
  /// A JSON object whose objects are parts of keys.
  case nestedJSON
  /// A property list: XML, binary, or old style.
  case propertyList
  /// Lines `NAME=value`, as in a `.env` file.
  case env
  /// `[section]` and `name = value`.
  case ini
  /// What `dconf dump` writes.
  case dconf
}
