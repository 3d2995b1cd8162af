// The format of a file, found from its contents and its name.

import Kept

extension Format {
  /// - Parameter path: the file's name; - for standard input.
  /// Throws for an old-style property list, and for a file without anything that tells the format.
  public static func found(in bytes: [UInt8], named path: String) throws(StoreError) -> Format {
    if isBinaryPropertyList(bytes) { return .propertyList }
    let text = JSONComments.removed(from: try PlainText(bytes))
    let start = text.bytes.drop(while: \.isSpace)
    let named = named(path)
    switch start.first.map(Unicode.Scalar.init) {
    // YAML may begin with a merge key, or with a name that begins with this sign.
    case "<" where named != .yaml || Self.isXML(start): return .propertyList
    case "{" where named != .yaml:
      if let format = json(text) { return format }
      if named == .propertyList || isOldStyle(start) {
        throw StoreError(
          .invalid,
          "the file is an old-style property list, which kept cannot read; convert it with plutil -convert xml1, or "
            + "choose another format with --format"
        )
      }
      return .json
    case nil where named == nil:
      throw StoreError(.invalid, "the file has no settings, so its format is unknown; choose one with --format")
    default: break
    }
    // People give dumps the name of an .ini file.
    if named == .ini { return isDump(text) ? .dconf : .ini }
    return named ?? ofLines(text)
  }

  package static func isBinaryPropertyList(_ bytes: [UInt8]) -> Bool { bytes.starts(with: "bplist".utf8) }

  /// The format for the end of a name.
  private static func named(_ path: String) -> Format? {
    let name = path.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) }?.lowercased() ?? ""
    if name == ".env" || name.utf8.starts(with: ".env.".utf8) { return .env }
    let parts = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count > 1, let last = parts.last else { return nil }
    switch String(Substring(last)) {
    case "json", "jsonc": return .json
    case "plist": return .propertyList
    case "toml": return .toml
    case "yaml", "yml": return .yaml
    case "env": return .env
    case "ini": return .ini
    case "dconf": return .dconf
    default: return nil
    }
  }

  /// The kind of JSON; nil if the text is not JSON.
  private static func json(_ text: PlainText) -> Format? {
    guard let shape = JSONShape(text) else { return nil }
    if ["kept", "values"].allSatisfy({ shape.names.contains(ExactString($0)) }) { return .kept }
    return shape.isNested ? .nestedJSON : .json
  }

  /// Whether a text that begins with < is XML, and not YAML.
  private static func isXML(_ text: ArraySlice<UInt8>) -> Bool {
    ["<?xml", "<!--", "<!DOCTYPE", "<plist"].contains { text.starts(with: $0.utf8) }
  }

  /// Whether what follows a brace is a name with an equals sign, or with a semicolon.
  private static func isOldStyle(_ text: ArraySlice<UInt8>) -> Bool {
    let rest = text.dropFirst().drop(while: \.isSpace)
    let quoted =
      rest.first == UInt8(ascii: "\"") ? rest.dropFirst().drop { $0 != UInt8(ascii: "\"") }.dropFirst() : rest
    let sign = quoted.first { ":=;".utf8.contains($0) }
    return sign == UInt8(ascii: "=") || sign == UInt8(ascii: ";")
  }

  /// The format of lines without a name that tells it.
  private static func ofLines(_ text: PlainText) -> Format {
    if isDump(text) { return .dconf }
    let lines = TextLine.all(of: text).map(\.content).filter { $0.first?.isCommentSign == false }
    guard let first = lines.first else { return .env }
    if first.starts(with: "---".utf8) || first.starts(with: "%YAML".utf8) { return .yaml }
    if lines.contains(where: { $0.starts(with: "[[".utf8) && $0.trimmed.suffix(2).elementsEqual("]]".utf8) }) {
      return .toml
    }
    if lines.contains(where: { $0.first == UInt8(ascii: "[") }) { return .ini }
    let name = first.prefix { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ":") }
    let after = first[name.endIndex...].dropFirst().first
    return first[name.endIndex...].first == UInt8(ascii: ":") && after?.isSpace != false ? .yaml : .env
  }

  /// Whether a text is like the output of `dconf dump`: groups that are paths, and values that are GVariant text.
  private static func isDump(_ text: PlainText) -> Bool {
    var hasPath = false
    for line in TextLine.all(of: text) where line.content.first != nil && line.content.first != UInt8(ascii: "#") {
      if line.content.first == UInt8(ascii: "[") {
        let group = line.content.dropFirst().dropLast()
        guard line.content.last == UInt8(ascii: "]"),
          !group.contains(where: { "\"'[]".utf8.contains($0) })
        else { return false }
        hasPath = hasPath || group.contains(UInt8(ascii: "/"))
      } else {
        guard let end = line.content.firstIndex(of: UInt8(ascii: "=")), isVariant(line.content[(end + 1)...]) else {
          return false
        }
      }
    }
    return hasPath
  }

  /// Whether a text begins as GVariant text, which has no words without quotes but these.
  private static func isVariant(_ text: ArraySlice<UInt8>) -> Bool {
    let word = text.prefix { !$0.isSpace && !"<[({'\"".utf8.contains($0) }.text
    guard let first = text.first else { return false }
    switch Unicode.Scalar(first) {
    case "'", "\"", "[", "(", "{", "<", "@": return true
    case "0"..."9", "-", "+", ".": return text.allSatisfy { !$0.isSpace }
    default:
      return [
        "true", "false", "nothing", "just", "b", "inf", "nan", "byte", "int16", "uint16", "int32", "uint32", "handle",
        "int64", "uint64", "double", "string", "objectpath", "signature", "boolean",
      ].contains(word)
    }
  }
}
