// From declarations to a source file: the languages, and the steps that they share.

public import Kept

/// A language that keys can be written in.
///
/// Another language is one more case, and one more file that writes it. Pages for people are ``PageFormat``.
public enum Target: String, CaseIterable, Sendable {
  case c, cxx, python, swift

  /// The source text of a list of declarations; the same list gives the same text.
  ///
  /// Throws `invalid`, with the key, for what the language cannot express.
  /// - Parameters:
  ///   - name: what the list is called, such as `player`: the prefix of the names in C.
  ///   - names: names for keys whose own make none, or the name of another key.
  public func text(
    of list: DeclarationList, called name: String, _ names: [KeyName: String] = [:]
  ) throws(StoreError) -> String {
    do throws(StoreError) { return try text(of: GeneratedSchema(list, called: name, names)) } catch {
      guard let key = error.key,
        list.declarations.contains(where: { $0.key.exact == ExactString(key) && $0.declaration.isSecret })
      else { throw error }
      throw StoreError(
        error.code, key: key,
        "is a secret, and the language cannot express its declaration; give it another name with --as "
          + "\(Shell.quoted("\(key)=NAME")), or change its rules (the reason is left out, because it may show a value)")
    }
  }

  private func text(of schema: GeneratedSchema) throws(StoreError) -> String {
    switch self {
    case .c: try CHeader.text(of: schema)
    case .cxx: try CxxHeader.text(of: schema)
    case .python: try PythonModule.text(of: schema)
    case .swift: try SwiftFile.text(of: schema)
    }
  }
}

/// A list of declarations, ready to be written.
struct GeneratedSchema {
  let name: Words
  let keys: [GeneratedKey]
  /// The canonical text of the list.
  let json: String

  init(_ list: DeclarationList, called name: String, _ names: [KeyName: String]) throws(StoreError) {
    self.name = try Words(given: name)
    var keys: [GeneratedKey] = []
    for (key, declaration) in list.declarations {
      do throws(StoreError) {
        let words = try names[key].map { name throws(StoreError) in try Words(given: name) } ?? Words(of: key.text)
        keys.append(try GeneratedKey(key, words, declaration))
      } catch { throw error.naming(key) }
    }
    self.keys = keys
    json = list.json
  }

  /// 64 bits of the canonical text (FNV-1a), in hexadecimal.
  var fingerprint: String {
    let hash = json.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  static let notice = "Written by kept generate. Change the declarations, not this file."
}

/// A key with everything that its declaration says.
struct GeneratedKey {
  let key: KeyName
  let words: Words
  let shape: Shape
  let rules: ValueDictionary
  let fallback: Value?
  let summary: String?
  let isSecret: Bool
  let formerName: KeyName?

  init(_ key: KeyName, _ words: Words, _ declaration: Declaration) throws(StoreError) {
    guard !words.isEmpty else {
      throw StoreError(
        .invalid,
        "has no letter or digit to make a name of; give it one with --as \(Shell.quoted("\(key.text)=NAME"))")
    }
    (self.key, self.words) = (key, words)
    let json = try Value(json: "{\"$literal\":\(declaration.json)}")
    rules = json.asDictionary ?? ValueDictionary()
    shape = try Shape(of: rules)
    (fallback, summary, isSecret) = (declaration.defaultValue, declaration.summary, declaration.isSecret)
    formerName = declaration.formerName
  }

  /// What compilers say of a program that uses the key; nil unless it is deprecated.
  var deprecation: String? {
    guard rules["deprecated"] == true else { return nil }
    return CommentText.of("\(key.text) is deprecated" + (summary.map { ": \($0)" } ?? ""))
  }

  /// Whether its values are texts that the code has names for.
  var hasNamedTexts: Bool { if case .choices(let choices) = shape { choices.areTexts } else { false } }

  /// What the key is for, and the rules that its values follow.
  var sentences: [String] {
    let purpose = summary ?? rules["title"]?.asString ?? rules["description"]?.asString ?? ""
    let text = CommentText.of(purpose)
    return (text.isEmpty ? [] : [text.ends(with: ".") ? text : text + "."]) + [details]
  }

  private var details: String {
    var parts = ["`\(CommentText.of(key.text))`"]
    for word in Self.shownRules {
      let name = ExactString(word)
      guard let value = rules[name], !isSecret || !Self.hiddenRules.contains(name) else { continue }
      parts.append(
        value == true && word != "default"
          ? word : "\(word) \(CommentText.of(word == "type" ? value.asString ?? "" : value.json))")
    }
    if let formerName { parts.append("formerly `\(CommentText.of(formerName.text))`") }
    return parts.joined(separator: ", ") + "."
  }

  /// The rules that C and C++ have constants for.
  static let bounds = [
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems",
    "maxItems", "minProperties", "maxProperties",
  ]

  /// Those that say something about the value of a secret, which no comment has.
  private static let hiddenRules: Set<ExactString> = [
    "default", "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf", "pattern",
  ]

  /// Those that a line of text says well.
  private static let shownRules = [
    "type", "default", "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf", "minLength",
    "maxLength", "pattern", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "format", "secret",
    "deprecated",
  ]
}
