// YAML, by Yams. Mappings are parts of keys; anchors and merge keys are resolved.
//
// What a plain scalar is follows Yams, with the rules of YAML 1.1. Where YAML 1.2 reads something else, such as
// `no`, `010` or `1_000`, the report says so. Numbers and dates are converted here: Yams stops at numbers to the base
// 60 that overflow, and takes the 13th month for one of the next year.

import Formats
import Kept
import Yams

enum YAMLFile {
  static func read(_ text: PlainText, whole: Set<ExactString>) throws -> FoundSettings {
    var found = FoundSettings(size: text.bytes.count)
    // A tab alone on its line would be an error.
    if text.bytes.allSatisfy(\.isSpace) { return found }
    do {
      guard let root = try Parser(yaml: text.string, encoding: .utf8).singleRoot() else { return found }
      var losses = Losses()
      let node = YAMLNode(node: root, budget: YAMLBudget(size: text.bytes.count))
      guard let members = try node.members(&losses) else {
        if try node.value(&losses, depth: 0) == .null { return found }
        throw StoreError(.invalid, offset: 0, "the top level of the YAML is not a mapping of keys to values")
      }
      try found.add(members, splitting: whole)
      if Self.hasOldLineBreaks(text.bytes) {
        losses.add("the Unicode line breaks NEL, LS and PS end lines, as in YAML 1.1, even inside values")
      }
      try losses.report(to: &found, at: "the whole file")
    } catch let error as YamlError {
      throw unreadable(error, text)
    }
    return found
  }

  private static func hasOldLineBreaks(_ bytes: [UInt8]) -> Bool {
    bytes.indices.contains { index in
      switch bytes[index] {
      case 0xC2: bytes[index...].starts(with: [0xC2, 0x85])
      case 0xE2: bytes[index...].starts(with: [0xE2, 0x80, 0xA8]) || bytes[index...].starts(with: [0xE2, 0x80, 0xA9])
      default: false
      }
    }
  }

  private static func unreadable(_ error: YamlError, _ text: PlainText) -> StoreError {
    let (problem, mark): (String, Mark?)
    switch error {
    case .scanner(_, let text, let place, _), .parser(_, let text, let place, _), .composer(_, let text, let place, _):
      (problem, mark) = (text, place)
    case .duplicatedKeysInMapping(let keys, let context):
      let names = keys.map { "\"\(FoundSettings.shortened($0))\"" }.joined(separator: ", ")
      return StoreError(
        .invalid,
        "the YAML mapping that begins on line \(context.mark.line) has \(names) twice, perhaps in two Unicode normal "
          + "forms; remove one")
    case .reader(let text, _, _, _): (problem, mark) = (text, nil)
    default: (problem, mark) = ("the parser failed", nil)
    }
    // The parser names a function of its own.
    let isTooDeep = problem.utf8.starts(with: "Maximum nesting level".utf8)
    let line = mark.map { "line \($0.line)" } ?? "the text"
    return StoreError(
      .invalid, offset: mark.map { text.offset(line: $0.line, column: $0.column) },
      "\(line) cannot be read as YAML: \(isTooDeep ? "mappings and lists are nested too deeply" : problem)")
  }
}

/// How much may be read of a text that refers to the same anchors any number of times.
private final class YAMLBudget {
  private var rest: Int

  init(size: Int) { rest = 8 * size + 1 << 16 }

  func spend(_ amount: Int) throws(StoreError) {
    rest -= amount
    guard rest >= 0 else {
      throw StoreError(
        .tooLarge, "the YAML refers to its anchors so often that its values are far larger than the file")
    }
  }
}

/// A value of YAML.
private struct YAMLNode: Foreign {
  let node: Node
  let budget: YAMLBudget

  private func inner(_ node: Node) -> YAMLNode { YAMLNode(node: node, budget: budget) }

  func members(_ losses: inout Losses) throws -> [(name: String, value: YAMLNode)]? {
    guard case .mapping(let mapping) = node, Self.isPlain(mapping.tag.kind) else { return nil }
    return try members(of: mapping, &losses, leavingOut: true)
  }

  /// The members of a mapping; those of merged mappings count only if it does not have them itself.
  private func members(
    of mapping: Node.Mapping, _ losses: inout Losses, leavingOut: Bool = false, merging level: Int = 0
  ) throws -> [(name: String, value: YAMLNode)] {
    guard level <= Limits.nesting else { throw Obstacle.tooDeep }
    try budget.spend(1 + mapping.count)
    var members: [(name: String, value: YAMLNode)] = []
    var merged: [(name: String, value: YAMLNode)] = []
    for (key, value) in mapping {
      guard case .scalar(let scalar) = key else {
        guard leavingOut else { throw Obstacle("is a mapping with a key that is a mapping or a list") }
        losses.leaveOut("a member whose key is a mapping or a list is left out", line: key.mark?.line)
        continue
      }
      try budget.spend(scalar.string.utf8.count)
      if scalar.style == .plain, scalar.string == "<<" {
        for part in try Self.merged(value) { merged += try self.members(of: part, &losses, merging: level + 1) }
      } else {
        if scalar.style == .plain, ![.str, .value].contains(Self.tag(of: scalar)) {
          losses.add(
            "a key that is not a string in YAML is imported as it is written", line: leavingOut ? key.mark?.line : nil)
        }
        members.append((scalar.string, inner(value)))
      }
    }
    var names = Set(members.map { ExactString($0.name) })
    return members + merged.filter { names.insert(ExactString($0.name)).inserted }
  }

  private static func merged(_ value: Node) throws(Obstacle) -> [Node.Mapping] {
    switch value {
    case .mapping(let mapping): return [mapping]
    case .sequence(let sequence):
      let mappings = sequence.compactMap(\.mapping)
      if mappings.count == sequence.count { return mappings }
    default: break
    }
    throw Obstacle("is a mapping with a merge key << whose value is neither a mapping nor a list of mappings")
  }

  func value(_ losses: inout Losses, depth: Int) throws -> Value {
    try budget.spend(1)
    switch node {
    case .scalar(let scalar):
      try budget.spend(scalar.string.utf8.count)
      return try YAMLScalar(scalar).value(&losses)
    case .sequence(let sequence):
      let inside = try deeper(depth)
      note(sequence.tag.kind, &losses)
      return .array(try sequence.map { try inner($0).value(&losses, depth: inside) })
    case .mapping(let mapping):
      let inside = try deeper(depth)
      let members = try members(of: mapping, &losses)
      if mapping.tag.kind == .set {
        losses.add(Losses.set)
        return .array(members.map { .string($0.name) })
      }
      note(mapping.tag.kind, &losses)
      return losses.dictionary(try members.map { (ExactString($0.name), try $0.value.value(&losses, depth: inside)) })
    case .alias: throw Obstacle("is an alias without an anchor")
    }
  }

  private func note(_ tag: Tag.Name, _ losses: inout Losses) {
    if !Self.isPlain(tag) { losses.add("a YAML tag is ignored") }
  }

  private static func isPlain(_ tag: Tag.Name) -> Bool { [.implicit, .nonSpecific, .seq, .map].contains(tag) }

  /// What a scalar is, by the rules of Yams.
  static func tag(of scalar: Node.Scalar) -> Tag.Name {
    guard scalar.tag.kind == .implicit else { return Node.scalar(scalar).tag.kind }
    // Only these begin anything but a string; the rules are regular expressions, which take long.
    switch Unicode.Scalar(scalar.string.utf8.first ?? UInt8(ascii: "~")) {
    case "0"..."9", "+", "-", ".", "~", "<", "=", "y", "Y", "n", "N", "t", "T", "f", "F", "o", "O":
      guard scalar.string.utf8.count < 256 else { return .str }
      // The tag of a scalar remembers what it is found to be, and aliases share it.
      let kind = Node(scalar.string, .implicit, scalar.style).tag.kind
      return kind == .str && isPointFirst(scalar.string) ? .float : kind
    default: return .str
    }
  }

  /// Whether a text is a number such as -.5 or .1e5, which Yams takes for text.
  private static func isPointFirst(_ text: String) -> Bool {
    var rest = text.utf8[...]
    func skipDigits() -> Bool {
      let digits = rest.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
      rest = rest[digits.endIndex...]
      return !digits.isEmpty
    }
    if let sign = rest.first, "+-".utf8.contains(sign) { rest.removeFirst() }
    guard rest.popFirst() == UInt8(ascii: "."), skipDigits() else { return false }
    guard let exponent = rest.popFirst() else { return true }
    if let sign = rest.first, "+-".utf8.contains(sign) { rest.removeFirst() }
    return exponent | 0x20 == UInt8(ascii: "e") && skipDigits() && rest.isEmpty
  }
}

/// A scalar of YAML, and its meaning.
private struct YAMLScalar {
  private let tag: Tag.Name
  private let text: String
  /// Whether the file says what it is.
  private let isTagged: Bool

  init(_ scalar: Node.Scalar) {
    (tag, text, isTagged) = (YAMLNode.tag(of: scalar), scalar.string, scalar.tag.kind != .implicit)
  }

  func value(_ losses: inout Losses) throws(Obstacle) -> Value {
    switch tag {
    case .str, .value, .merge: return .string(text)
    case .null: return .null
    case .bool: return .bool(try bool(&losses))
    case .int where text.utf8.contains(UInt8(ascii: ":")), .float where text.utf8.contains(UInt8(ascii: ":")):
      losses.add("a base-60 number, such as 12:30, is imported as text")
      return .string(text)
    case .int: return try integer(&losses)
    case .float: return try real(&losses)
    case .timestamp: return .date(try date(&losses))
    case .binary: return try ForeignText.bytes(text)
    default:
      losses.add("a YAML tag is ignored")
      return .string(text)
    }
  }

  private func bool(_ losses: inout Losses) throws(Obstacle) -> Bool {
    let word = text.lowercased()
    if ["yes", "no", "on", "off"].contains(word) {
      losses.add("yes, no, on and off are imported as booleans, as in YAML 1.1; quote them if they are text")
    }
    switch word {
    case "true", "yes", "on": return true
    case "false", "no", "off": return false
    default: throw Obstacle("is tagged as a boolean but is not one")
    }
  }

  private func integer(_ losses: inout Losses) throws(Obstacle) -> Value {
    var digits = Array(text.utf8)
    let count = digits.count
    digits.removeAll { $0 == UInt8(ascii: "_") }
    var isOfOldRules = digits.count < count
    let isNegative = digits.first == UInt8(ascii: "-")
    if isNegative || digits.first == UInt8(ascii: "+") { digits.removeFirst() }
    var radix = 10
    if digits.count > 1, digits[0] == UInt8(ascii: "0") {
      switch Unicode.Scalar(digits[1]) {
      case "x": radix = 16
      case "o":
        radix = 8
        losses.add(Self.newNumber)
      case "b": (radix, isOfOldRules) = (2, true)
      default: (radix, isOfOldRules) = (8, true)
      }
      digits.removeFirst(radix == 8 && digits[1] != UInt8(ascii: "o") ? 1 : 2)
    }
    guard digits.first.map({ $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "+") }) == true else {
      throw Obstacle("is not an integer")
    }
    let sign = isNegative ? "-" : ""
    let number = sign + String(decoding: digits, as: UTF8.self)
    if isOfOldRules { losses.add(Self.oldNumber) }
    if let integer = Int64(number, radix: radix) { return .int(integer) }
    if let integer = UInt64(number, radix: radix) { return .uint(integer) }
    let isInteger = digits.allSatisfy { Self.isDigit($0) || radix == 16 }
    throw isInteger ? Obstacle.tooLarge : Obstacle("is not an integer")
  }

  private static let oldNumber =
    "a number such as 010, 0b1 or 1_000 is read as in YAML 1.1; quote it if it is text"
  private static let newNumber =
    "a number such as 1e3, 0o17 or 08 is read as in YAML 1.2, and is text in YAML 1.1; quote it if it is text"

  /// A number with a point or an exponent, or an integer such as 08.
  private func real(_ losses: inout Losses) throws(Obstacle) -> Value {
    let digits = text.utf8.dropFirst(text.utf8.first.map { "+-".utf8.contains($0) } == true ? 1 : 0)
    if !isTagged, !digits.isEmpty, digits.allSatisfy(Self.isDigit) {
      losses.add(Self.newNumber)
      if let integer = Int64(text) { return .int(integer) }
      if let integer = UInt64(text) { return .uint(integer) }
      throw Obstacle.tooLarge
    }
    return .double(try double(&losses))
  }

  private func double(_ losses: inout Losses) throws(Obstacle) -> Double {
    let word = text.replacing("_", with: "").lowercased()
    switch word {
    case ".inf", "+.inf": return .infinity
    case "-.inf": return -.infinity
    case ".nan": return .nan
    default: break
    }
    if word.utf8.count < text.utf8.count { losses.add(Self.oldNumber) }
    // In YAML 1.1 a number has a point, and its exponent a sign.
    let exponent = word.utf8.drop { $0 != UInt8(ascii: "e") }.dropFirst()
    let hasSign = exponent.first.map { "+-".utf8.contains($0) } ?? true
    if !isTagged, !hasSign || !word.utf8.contains(UInt8(ascii: ".")) { losses.add(Self.newNumber) }
    return try ForeignText.double(word)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }

  /// `2001-12-14 21:59:43.10 -5`, or a day alone.
  private func date(_ losses: inout Losses) throws(Obstacle) -> Timestamp {
    let wrong = Obstacle("is not a valid date in the years 0 to 9999")
    var numbers: [Int] = []
    var (fraction, rest) = ("", text.utf8[...])
    func nextNumber() -> String {
      let digits = rest.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
      rest = rest[digits.endIndex...]
      return String(decoding: Array(digits), as: UTF8.self)
    }
    while numbers.count < 6, let number = Int(nextNumber()) {
      numbers.append(number)
      if numbers.count == 6 { break }
      let separators = rest.prefix { "-:Tt \t".utf8.contains($0) }
      rest = rest[separators.endIndex...]
    }
    guard numbers.count == 3 || numbers.count == 6 else { throw wrong }
    if rest.first == UInt8(ascii: ".") {
      rest = rest.dropFirst()
      fraction = nextNumber()
      if fraction.utf8.count > 9 { losses.add(Losses.fraction) }
    }
    rest = rest.drop { $0 == 0x20 || $0 == 0x09 }
    var minutes = 0
    if let sign = rest.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") {
      rest = rest.dropFirst()
      let hours = Int(nextNumber()) ?? 0
      rest = rest.drop { $0 == UInt8(ascii: ":") }
      let more = Int(nextNumber()) ?? 0
      guard hours < 24, more < 60 else { throw wrong }
      minutes = (hours * 60 + more) * (sign == UInt8(ascii: "-") ? -1 : 1)
    } else if rest.isEmpty {
      losses.add("a date without a time zone is imported as UTC, as YAML defines it")
    }
    numbers += Array(repeating: 0, count: 6 - numbers.count)
    let parts = numbers.enumerated().map { index, number in
      let digits = String(number)
      return String(repeating: "0", count: max(0, (index == 0 ? 4 : 2) - digits.utf8.count)) + digits
    }
    let local = "\(parts[0])-\(parts[1])-\(parts[2])T\(parts[3]):\(parts[4]):\(parts[5])"
    guard let point = ForeignText.time(local, fraction: fraction, minutesEast: minutes) else { throw wrong }
    return point
  }
}

extension Tag {
  fileprivate var kind: Name { Name(rawValue: rawValue) }
}
