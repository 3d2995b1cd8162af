// What a newer file of declarations does to the values that programs with an older one have stored.

import Kept

enum Evolution {
  struct Finding {
    enum Effect: String {
      case breaks, mayBreak = "may break", note
    }
    let key: KeyName
    let effect: Effect
    let sentence: String
    /// The lines of a migration's step in Python, where `t` is its transaction; empty for all but the last finding of a
    /// key.
    var step: [String] = []
  }

  /// The findings, in the byte order of the keys.
  static func findings(from old: DeclarationList, to new: DeclarationList) -> [Finding] {
    let before = Dictionary(uniqueKeysWithValues: old.declarations.map { ($0.key, $0.declaration) })
    let after = Dictionary(uniqueKeysWithValues: new.declarations.map { ($0.key, $0.declaration) })
    let formerNames = Set(after.values.compactMap(\.formerName))
    return Set(before.keys).union(after.keys).sorted().flatMap { key -> [Finding] in
      switch (before[key], after[key]) {
      case (let old?, let new?): findings(key, from: old, to: new) + renamed(key, new, before)
      case (_?, nil): formerNames.contains(key) ? [] : [removed(key)]
      case (nil, let new?): renamed(key, new, before)
      default: []
      }
    }
  }

  private static func removed(_ key: KeyName) -> Finding {
    let name = Value.string(key.text).json
    return Finding(
      key: key, effect: .breaks, sentence: "it is not declared any more, and its value stays in the store, unused",
      step: ["t.pop(\(name), None)", "t.undeclare(\(name))"])
  }

  /// What becomes of the value under the former name.
  private static func renamed(_ key: KeyName, _ new: Declaration, _ before: [KeyName: Declaration]) -> [Finding] {
    guard let name = new.formerName, let old = before[name] else { return [] }
    if old.isSecret && !new.isSecret {
      let sentence =
        "the value of \(Excerpt.of(name.text)) is a secret and stays under that name; declare the new name secret too"
      return [Finding(key: key, effect: .breaks, sentence: sentence)]
    }
    return findings(key, from: old, to: new, formerName: name)
  }

  private static func findings(
    _ key: KeyName, from old: Declaration, to new: Declaration, formerName: KeyName? = nil
  ) -> [Finding] {
    // Values that take another name may become numbers on the way.
    let isConverted = formerName != nil && old.type == .integer && new.type == .number
    guard old.type == new.type || isConverted else {
      let effect = formerName == nil ? "the store refuses the declaration" : "values stay under the former name"
      return [
        Finding(
          key: key, effect: .breaks, sentence: "type is \(new.type) instead of \(old.type), and \(effect)",
          step: step(key, formerName, converting(old.type, to: new.type), undeclares: formerName == nil))
      ] + notes(key, from: old, to: new, nil)
    }
    let isSecret = old.isSecret || new.isSecret
    let comparison = SchemaComparison(from: old.schema(typedAs: isConverted ? new : old), to: new.schema())
    var findings: [Finding] = []
    for finding in comparison.findings {
      let sentence = isSecret ? "fewer values are allowed" : finding.sentence
      findings.append(Finding(key: key, effect: finding.isCertain ? .breaks : .mayBreak, sentence: sentence))
    }
    if isSecret { findings = Array(findings.sorted { $0.effect == .breaks && $1.effect != .breaks }.prefix(1)) }
    if !findings.isEmpty {
      let conversion = isSecret ? "convert(old)" : limited(by: comparison.findings, new)
      findings[findings.count - 1].step = step(key, formerName, conversion)
    }
    return findings + notes(key, from: old, to: new, formerName)
  }

  private static func notes(
    _ key: KeyName, from old: Declaration, to new: Declaration, _ formerName: KeyName?
  ) -> [Finding] {
    var notes = formerName.map { ["it takes over the value of \(Excerpt.of($0.text))"] } ?? []
    if old.type == new.type, !SchemaComparison(from: new.schema(), to: old.schema()).findings.isEmpty {
      notes.append("new values are allowed, which programs with the older declaration refuse")
    }
    if old.isSecret != new.isSecret { notes.append("it is \(new.isSecret ? "secret now" : "not secret any more")") }
    if old.defaultValue != new.defaultValue {
      let shown = [new, old].map { $0.defaultValue.map { Shown.cut(Shown.json($0), to: 60) } ?? "none" }
      notes.append(
        old.isSecret || new.isSecret ? "default has changed" : "default is \(shown[0]) instead of \(shown[1])")
    }
    return notes.map { Finding(key: key, effect: .note, sentence: $0) }
  }

  // MARK: - Steps

  private static func step(
    _ key: KeyName, _ formerName: KeyName?, _ conversion: String, undeclares: Bool = false
  ) -> [String] {
    let (name, oldName) = (Value.string(key.text).json, Value.string((formerName ?? key).text).json)
    return ["old = t.pop(\(oldName), None)"] + (undeclares ? ["t.undeclare(\(name))"] : [])
      + ["if old is not None: t[\(name)] = \(conversion)"]
  }

  /// The nearest value within new limits; a call of the program's own `convert` where something else has changed.
  private static func limited(by findings: [SchemaComparison.Finding], _ new: Declaration) -> String {
    var text = "old"
    for word in findings.map(\.word) {
      let limit = word.flatMap { new.words[$0] }
      guard let limit, limit.kind == .int || new.type == .number else { return "convert(old)" }
      switch word {
      case "minimum": text = "max(\(text), \(limit.json))"
      case "maximum": text = "min(\(text), \(limit.json))"
      case "maxLength": text += "[:\(limit.json)]"
      default: return "convert(old)"
      }
    }
    return text
  }

  private static func converting(_ old: DeclaredType, to new: DeclaredType) -> String {
    switch (old, new) {
    case (.integer, .number): "float(old)"
    case (.number, .integer): "round(old)"
    case (.integer, .string), (.number, .string): "str(old)"
    default: "convert(old)"
    }
  }
}

extension Declaration {
  /// The rules for values, with the type of a declaration.
  fileprivate func schema(typedAs other: Declaration? = nil) -> Value {
    var schema = words
    if let other { schema["type"] = other.words["type"] }
    for word: ExactString in ["default", "summary", "secret", "since", "replacedBy", "renamedFrom"] {
      schema[word] = nil
    }
    return .dictionary(schema)
  }
}
