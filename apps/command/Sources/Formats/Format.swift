// The formats of files that `kept import` reads.

public enum Format: String, CaseIterable, Sendable {
  /// What `kept export` writes.
  case kept
  /// A JSON object whose members are keys, with or without comments.
  case json
  /// A JSON object whose nested objects are parts of keys.
  case nestedJSON = "nested-json"
  /// A property list: XML or binary.
  case propertyList = "plist"
  case toml
  case yaml
  /// Lines of the form `NAME=value`.
  case env
  /// Lines of the form `[section]` and `name = value`.
  case ini
  /// The output of `dconf dump`.
  case dconf

  /// What a file in the format is.
  public var description: String {
    switch self {
    case .kept: "an export of kept"
    case .json: "JSON"
    case .nestedJSON: "nested JSON"
    case .propertyList: "a property list"
    case .toml: "TOML"
    case .yaml: "YAML"
    case .env: "an .env file"
    case .ini: "an .ini file"
    case .dconf: "the output of dconf dump"
    }
  }
}
