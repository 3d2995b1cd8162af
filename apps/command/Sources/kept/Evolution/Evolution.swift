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
      case (let old?, let new?): findings(key, from: old, to: new) + renamed(key, new, before, after)
      case (_?, nil): formerNames.contains(key) ? [] : [removed(key)]
      case (nil, let new?): renamed(key, new, before, after)
      default: []
      }
    }
  }

  private static func removed(_ key: KeyName) -> Finding {
    Finding(
      key: key, effect: .breaks, sentence: "it is no longer declared, and its value stays in the store, unused",
      step: ["t.pop(\(Python.text(key)), None)", undeclaring(key)])
  }

  /// What becomes of the value under the former name.
  private static func renamed(
    _ key: KeyName, _ new: Declaration, _ before: [KeyName: Declaration], _ after: [KeyName: Declaration]
  ) -> [Finding] {
    guard let name = new.formerName, let old = before[name] else { return [] }
    if old.isSecret && !new.isSecret {
      let sentence =
        "the value of \(Excerpt.of(name.text)) is a secret and stays under that name; declare the new name secret too"
      return [Finding(key: key, effect: .breaks, sentence: sentence)]
    }
    var found = findings(key, from: old, to: new, formerName: name)
    if before[key] != nil || after[name] != nil {
      // Both may have values, of different programs, so a step cannot rename one.
      for index in found.indices where !found[index].step.isEmpty {
        found[index].step = ["# \(Python.text(name)) and \(Python.text(key)) may both have a value: choose one"]
      }
    }
    return found
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
          step: step(key, formerName, from: old, to: new))
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
      findings[findings.count - 1].step = step(key, formerName, from: old, to: new, comparison.findings)
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

  /// A step that converts a value.
  ///
  /// It is run while the older declarations apply, and a value must fit these when it is written, and the newer ones
  /// afterwards. A secret keeps a declaration that says so, or its value would be stored like any other.
  private static func step(
    _ key: KeyName, _ formerName: KeyName?, from old: Declaration, to new: Declaration,
    _ findings: [SchemaComparison.Finding] = []
  ) -> [String] {
    let name = Python.text(key)
    let (isSecret, isSameType) = (old.isSecret || new.isSecret, old.type == new.type)
    // The rules of a secret are not shown.
    let conversion =
      isSecret ? nil : isSameType ? limited(by: findings, from: old, to: new) : converted(from: old, to: new)
    // The program's own conversion may give every value of the newer declaration.
    let fitsOld = conversion?.fitsOld ?? (isSameType && SchemaComparison.contains(new.schema(), in: old.schema()))
    var step = formerName.map { ["t.rename(\(Python.text($0)), \(name))"] } ?? []
    step.append("old = t.pop(\(name), None)")
    if !fitsOld {
      step.append(undeclaring(key))
      if isSecret {
        // The former name becomes a secret as well.
        let former = formerName.map { ", \"renamedFrom\": \(Python.text($0))" } ?? ""
        step.append("t.declare({\(name): {\"type\": \"\(new.type)\", \"secret\": True\(former)}})")
      }
    }
    return step + ["if old is not None: t[\(name)] = \(conversion?.text ?? "convert(old)")"]
  }

  private static func undeclaring(_ key: KeyName) -> String {
    "if t.declaration(\(Python.text(key))): t.undeclare(\(Python.text(key)))"
  }

  private typealias Conversion = (text: String, fitsOld: Bool)

  /// The nearest value within new limits; nil if something else has changed, or if a limit does not fit.
  private static func limited(
    by findings: [SchemaComparison.Finding], from old: Declaration, to new: Declaration
  ) -> Conversion? {
    var (text, fitsOld) = ("old", true)
    for word in findings.map(\.word) {
      guard let word, let limit = new.words[word] else { return nil }
      switch word {
      case "minimum", "maximum":
        guard limit.kind == .int || new.type == .number && limit.asDouble?.isFinite == true,
          (try? new.admitted(limit)) != nil
        else { return nil }
        // The limit comes first, because it is returned then if the value is not a number (NaN).
        text = "\(word == "minimum" ? "max" : "min")(\(limit.json), \(text))"
        fitsOld = fitsOld && (try? old.admitted(limit)) != nil
      case "maxLength":
        guard let most = limit.asInt64, new.words["pattern"] == nil else { return nil }
        text += "[:\(most)]"
        fitsOld = old.words["pattern"] == nil && most >= old.words["minLength"]?.asInt64 ?? 0
      default: return nil
      }
    }
    return (text, fitsOld)
  }

  /// A value of another type, if the newer declaration allows all of them.
  private static func converted(from old: Declaration, to new: Declaration) -> Conversion? {
    let (text, values): (String, Value)
    switch (old.type, new.type) {
    case (.integer, .number):
      // Larger integers are rounded.
      (text, values) = ("float(old)", old.schema(typedAs: new))
      let exact: [ExactString] = ["exclusiveMinimum", "exclusiveMaximum", "multipleOf", "enum", "const"]
      guard
        SchemaComparison.contains(old.schema(), in: ["type": "number"])
          || !exact.contains(where: { new.words[$0] != nil })
      else { return nil }
    case (.number, .integer):
      guard let least = old.words["minimum"]?.asDouble, let most = old.words["maximum"]?.asDouble,
        let low = Int64(exactly: least.rounded(.down)), let high = Int64(exactly: most.rounded(.up))
      else { return nil }
      (text, values) = ("round(old)", ["type": "integer", "minimum": .int(low), "maximum": .int(high)])
    case (.integer, .string): (text, values) = ("str(old)", ["type": "string", "minLength": 1, "maxLength": 20])
    case (.number, .string): (text, values) = ("str(old)", ["type": "string", "minLength": 1, "maxLength": 24])
    default: return nil
    }
    return SchemaComparison.contains(values, in: new.schema()) ? (text, false) : nil
  }
}

/// Literals of Python.
private enum Python {
  /// A text as a literal, with invisible characters escaped.
  static func text(_ key: KeyName) -> String {
    "\"" + key.text.unicodeScalars.map(escaped).joined() + "\""
  }

  private static func escaped(_ scalar: Unicode.Scalar) -> String {
    if scalar == "\"" || scalar == "\\" { return "\\\(scalar)" }
    guard DisplayText.escapes(String(scalar)) else { return String(scalar) }
    let digits = String(scalar.value, radix: 16)
    return "\\U" + String(repeating: "0", count: 8 - digits.utf8.count) + digits
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
