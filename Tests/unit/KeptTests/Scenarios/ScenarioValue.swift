// A scenario as in its file: JSON, with the forms of a text expanded, and taken apart field by field.

import Foundation

/// A part of a scenario.
///
/// A text is an array of bytes, since a scenario may contain texts that are not UTF-8.
indirect enum ScenarioValue: Hashable, Sendable {
  case null
  case bool(Bool)
  case number(Int64)
  case large(UInt64)
  case fraction(Double)
  case text([UInt8])
  case list([ScenarioValue])
  case object([String: ScenarioValue])

  static func text(_ string: String) -> ScenarioValue { .text(Array(string.utf8)) }
  static func number(_ number: UInt64) -> ScenarioValue { Int64(exactly: number).map { .number($0) } ?? .large(number) }
}

/// An error in a scenario or in its runner.
struct ScenarioFault: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

extension ScenarioValue: Decodable {
  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let bool = try? container.decode(Bool.self) {
      self = .bool(bool)
    } else if let number = try? container.decode(Int64.self) {
      self = .number(number)
    } else if let number = try? container.decode(UInt64.self) {
      self = .large(number)
    } else if let number = try? container.decode(Double.self) {
      self = .fraction(number)
    } else if let text = try? container.decode(String.self) {
      self = .text(text)
    } else if let list = try? container.decode([ScenarioValue].self) {
      self = .list(list)
    } else {
      self = .object(try container.decode([String: ScenarioValue].self))
    }
  }
}

extension ScenarioValue {
  /// The same, with `hex`, `repeat` and `join` expanded everywhere.
  func spelledOut() throws -> ScenarioValue {
    switch self {
    case .list(let elements): return .list(try elements.map { try $0.spelledOut() })
    case .object(let members):
      if let hex = members["hex"] { return .text(try Self.bytes(ofHex: hex.string())) }
      if let part = members["repeat"], let times = members["times"] {
        return .text(Self.repeated(try part.bytes(), times: Int(try times.integer())))
      }
      if case .list(let parts) = members["join"] { return .text(try parts.map { try $0.bytes() }.reduce([], +)) }
      return .object(try members.mapValues { try $0.spelledOut() })
    default: return self
    }
  }

  /// Without the members of objects that `expected` does not name.
  func reduced(to expected: ScenarioValue?) -> ScenarioValue {
    switch (self, expected) {
    case (.object(let members), .object(let wanted)?):
      let named = members.filter { wanted[$0.key] != nil }.map { ($0.key, $0.value.reduced(to: wanted[$0.key])) }
      return .object(Dictionary(uniqueKeysWithValues: named))
    case (.list(let elements), .list(let wanted)?) where elements.count == wanted.count:
      return .list(zip(elements, wanted).map { $0.reduced(to: $1) })
    default: return self
    }
  }

  private static func repeated(_ part: [UInt8], times: Int) -> [UInt8] {
    // Millions of one byte, fast also in a debug build.
    if part.count == 1, let byte = part.first { return Array(repeating: byte, count: times) }
    var bytes: [UInt8] = []
    for _ in 0..<times { bytes += part }
    return bytes
  }

  private static func bytes(ofHex hex: String) throws -> [UInt8] {
    let digits = hex.compactMap(\.hexDigitValue)
    guard digits.count == hex.count, digits.count.isMultiple(of: 2) else { throw ScenarioFault("\(hex) is not hex") }
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
  }

  func bytes() throws -> [UInt8] {
    guard case .text(let bytes) = try spelledOut() else { throw ScenarioFault("\(self) is not text") }
    return bytes
  }

  func string() throws -> String {
    guard let string = String(validating: try bytes(), as: UTF8.self) else {
      throw ScenarioFault("a text is not UTF-8; the scenario must say not_in swift")
    }
    return string
  }

  func integer() throws -> Int64 {
    guard case .number(let number) = self else { throw ScenarioFault("\(self) is not a 64-bit integer") }
    return number
  }

  func unsigned() throws -> UInt64 {
    if case .large(let number) = self { return number }
    guard let number = UInt64(exactly: try integer()) else { throw ScenarioFault("\(self) is negative") }
    return number
  }

  func flag() throws -> Bool {
    guard case .bool(let flag) = self else { throw ScenarioFault("\(self) is not a bool") }
    return flag
  }

  func elements() throws -> [ScenarioValue] {
    guard case .list(let elements) = self else { throw ScenarioFault("\(self) is not a list") }
    return elements
  }
}

/// An object whose members are taken out as they are used.
struct ScenarioFields {
  private(set) var rest: [String: ScenarioValue]

  init(_ value: ScenarioValue) throws {
    guard case .object(let members) = value else { throw ScenarioFault("\(value) is not an object") }
    rest = members
  }

  /// Takes all members that are left, in a step that is refused as a whole.
  mutating func takeRest() { rest = [:] }

  /// Takes a field that may be missing.
  mutating func takeIfThere(_ name: String) -> ScenarioValue? { rest.removeValue(forKey: name) }

  /// Takes a field that must be there.
  mutating func take(_ name: String) throws -> ScenarioValue {
    guard let value = takeIfThere(name) else { throw ScenarioFault("the field \"\(name)\" is missing") }
    return value
  }

  mutating func string(_ name: String) throws -> String { try take(name).string() }
  mutating func string(_ name: String, otherwise: String) throws -> String {
    try takeIfThere(name)?.string() ?? otherwise
  }
}
