// Several declarations in one file, which a program ships for all of its languages.

import CPlatform
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

  /// Throws `invalid` for a key that is its own former name, or whose former name has one in the same list.
  package static func checkFormerNames(in list: [(key: KeyName, declaration: Declaration)]) throws(StoreError) {
    var formerNames: ValueDictionary = [:]
    for (key, declaration) in list {
      if let name = declaration.formerName { formerNames[key.exact] = .string(name.text) }
    }
    for (key, declaration) in list {
      guard let name = declaration.formerName else { continue }
      if name == key {
        throw StoreError(
          .invalid, key: key.text, "is declared with its own name as \"renamedFrom\"; leave the keyword out")
      }
      guard let earlier = formerNames[name.exact]?.asString else { continue }
      let (former, first) = (Excerpt.of(name.text), Excerpt.of(earlier))
      throw StoreError(
        .invalid, key: key.text,
        "is declared with the former name \"\(former)\", which the list declares with the former name \"\(first)\"; "
          + "leave \"\(former)\" out if it is only a former name, or move the values in a migration")
    }
  }

  /// The former names in the text of a list, and perhaps others: some text of a value may look like one.
  package static func formerNames(in text: UnsafeRawBufferPointer) -> [KeyName] {
    let (word, beforeF) = ("\"renamedFrom\"" as StaticString, 8)
    var names: [KeyName] = []
    var start = beforeF
    while start < text.count, let base = text.baseAddress,
      let found = memchr(base + start, Int32(UInt8(ascii: "F")), text.count - start)
    {
      let place = base.distance(to: UnsafeRawPointer(found)) - beforeF
      start = place + beforeF + 1
      guard text.count - place >= word.utf8CodeUnitCount,
        memcmp(base + place, word.utf8Start, word.utf8CodeUnitCount) == 0
      else { continue }
      var scanner = JSONScanner(text.bindMemory(to: UInt8.self), from: place + word.utf8CodeUnitCount)
      scanner.skipSpace()
      guard scanner.skip(":") else { continue }
      scanner.skipSpace()
      guard scanner.next == "\"", (try? scanner.scanString(isKey: true)) != nil,
        let name = try? KeyName(String(decoding: scanner.text, as: UTF8.self))
      else { continue }
      names.append(name)
    }
    return names
  }

  /// Whether ``formerNames(in:)`` finds all former names, because the text has no escapes in the keyword.
  package var showsFormerNames: Bool {
    guard let text else { return false }
    let shown = Set(ExactString(text).withBytes { Self.formerNames(in: UnsafeRawBufferPointer($0)) })
    return declarations.allSatisfy { $0.declaration.formerName.map(shown.contains) ?? true }
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
