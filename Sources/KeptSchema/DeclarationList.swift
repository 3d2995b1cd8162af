// Several declarations in one file, which a program ships for all of its languages.

import KeptSystem
public import KeptValues

/// The declarations of one JSON Schema object: each member of its `properties` declares a key.
public struct DeclarationList: Sendable {
  /// In the byte order of the keys.
  public let declarations: [(key: KeyName, declaration: Declaration)]
  /// The text that it was read from.
  package let text: String?

  /// The canonical text: type and properties, without annotations that describe the file.
  public var json: String {
    let members = declarations.map { "\(Value.string($0.key.text).json):\($0.declaration.json)" }
    return "{\"properties\":{" + members.joined(separator: ",") + "},\"type\":\"object\"}"
  }

  /// A list of stored declarations.
  ///
  /// Throws `corrupt` with the key if the text of one is not a JSON object.
  package init(checking stored: [(key: KeyName, declaration: Declaration)]) throws(StoreError) {
    for (key, declaration) in stored { try declaration.checkText(of: key) }
    (declarations, text) = (stored, nil)
  }

  /// Parses the declarations in a text.
  ///
  /// Throws what ``Declaration`` throws, with the key.
  public init(json text: String) throws(StoreError) {
    guard let root = try Value(schemaJSON: text).asDictionary else {
      throw StoreError(.invalid, "a list of declarations must be a JSON object with \"properties\"")
    }
    var declarations: [(key: KeyName, declaration: Declaration)] = []
    for member in try Self.properties(root) {
      let key = try KeyName(member.key.text)
      do {
        declarations.append((key, try Declaration(member.value)))
      } catch {
        throw error.about(key.text)
      }
    }
    try Self.checkFormerNames(in: declarations)
    (self.declarations, self.text) = (declarations, text)
  }

  /// Throws `invalid` for a former name that another key in the list has, or has had.
  package static func checkFormerNames(in list: [(key: KeyName, declaration: Declaration)]) throws(StoreError) {
    let renamed = list.filter { $0.declaration.formerName != nil }
    guard !renamed.isEmpty else { return }
    let keys = Set(list.map(\.key))
    var formerNames: Set<KeyName> = []
    for (key, declaration) in renamed {
      guard let name = declaration.formerName else { continue }
      let isFirst = formerNames.insert(name).inserted
      guard keys.contains(name) || !isFirst else { continue }
      let reason =
        keys.contains(name)
        ? "which is declared here too; leave out the older declaration, or the keyword"
        : "as another key is; leave the keyword out of one of them"
      throw StoreError(
        .invalid, key: key.text, "is declared with \"renamedFrom\": \"\(Excerpt.of(name.text))\", \(reason)")
    }
  }

  /// Parses the declarations in a file.
  ///
  /// Errors begin with its path.
  public init(contentsOf path: String) throws(StoreError) { try self.init(json: Self.text(of: path), from: path) }

  /// Parses a text from a file, whose path the errors begin with.
  package init(json text: String, from path: String) throws(StoreError) {
    do {
      try self.init(json: text)
    } catch {
      throw StoreError(error.code, key: error.key, offset: error.offset, "\(path): \(error.message)")
    }
  }

  /// The member `properties`, after all other members have been checked.
  private static func properties(_ root: ValueDictionary) throws(StoreError) -> ValueDictionary {
    if root["properties"] == nil, let member = root.first(where: { $0.value.kind == .dictionary }) {
      let key = Value.string(Excerpt.of(member.key.text)).json
      let type = member.value.asDictionary?["type"].map { "\"type\":\(Excerpt.of($0))" } ?? "…"
      throw StoreError(
        .invalid,
        "the list of declarations has no \"properties\" object around its keys; "
          + "write {\"properties\":{\(key):{\(type)}}}")
    }
    for member in root {
      switch member.key {
      case "properties": continue
      case "type":
        guard member.value == "object" else {
          throw StoreError(.invalid, "/type must be \"object\" in a list of declarations")
        }
      case "$schema", "$id", "$comment", "title", "description":
        guard member.value.kind == .string else {
          throw StoreError(
            .invalid, "/\(member.key) must be a string in a list of declarations, not \(member.value.describedAsJSON)")
        }
      default:
        throw StoreError(
          .unsupported,
          "the list of declarations has the unknown keyword \"\(Excerpt.of(member.key.text))\"; leave it out, or put "
            + "it into a key's declaration")
      }
    }
    guard let properties = root["properties"]?.asDictionary else {
      throw StoreError(.invalid, "/properties must be an object that maps keys to declarations")
    }
    return properties
  }
}

// MARK: - Files

extension DeclarationList {
  package static func text(of path: String) throws(StoreError) -> String {
    let bytes = try WholeFile.bytes(of: path, atMost: Limits.valueBytes, "a list of declarations")
    guard let text = bytes.withUnsafeBufferPointer({ String(exactly: $0) }) else {
      throw StoreError(.invalid, "\(path) is not UTF-8; encode it as UTF-8")
    }
    return text
  }
}
