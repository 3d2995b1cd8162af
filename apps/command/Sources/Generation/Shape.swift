// The types that a schema describes, as far as programs can name them.

import Kept

/// The type of a value.
indirect enum Shape {
  case boolean
  /// - Parameter isUnsigned: whether it needs the upper half of 64 bits, and nothing below 0.
  case integer(isUnsigned: Bool)
  case number, string, bytes, date
  /// One of some texts, or of some integers.
  case choices(Choices)
  case array(Shape)
  case dictionary(Shape)
  /// An object whose members have names.
  case record([Member])
  /// A type that no language names: a union, a tuple, an object with any members.
  case any

  struct Choices {
    let values: [Value]
    /// Whether they are texts; else they are integers.
    let areTexts: Bool
  }

  struct Member {
    let name: String
    let shape: Shape
    let isRequired: Bool
  }

  /// The type that the words of a schema describe.
  ///
  /// Throws `invalid` for an integer that no type of 64 bits holds.
  init(of words: ValueDictionary) throws(StoreError) {
    switch words["type"]?.asString {
    case "boolean": self = .boolean
    case "integer":
      let isUnsigned = try Self.isUnsigned(words)
      self = Self.choices(words, areTexts: false) ?? .integer(isUnsigned: isUnsigned)
    case "number": self = .number
    case "string": self = Self.choices(words, areTexts: true) ?? .string
    case "bytes": self = .bytes
    case "date": self = .date
    case "array":
      guard words["prefixItems"] == nil, let items = try Self.nested(words["items"]) else {
        self = .any
        return
      }
      self = .array(items)
    case "object": self = try Self.object(words) ?? .any
    default: self = .any
    }
  }

  /// The type of a schema in another one; nil if there is none, or no language names it.
  private static func nested(_ schema: Value?) throws(StoreError) -> Shape? {
    guard let words = schema?.asDictionary else { return nil }
    let shape = try Shape(of: words)
    if case .any = shape { return nil }
    return shape
  }

  private static func object(_ words: ValueDictionary) throws(StoreError) -> Shape? {
    guard let properties = words["properties"]?.asDictionary, !properties.isEmpty else {
      guard words["patternProperties"] == nil else { return nil }
      return try nested(words["additionalProperties"]).map { .dictionary($0) }
    }
    let required = (words["required"]?.asArray ?? []).compactMap(\.asString).map { ExactString($0) }
    var members: [Member] = []
    for property in properties {
      guard let shape = try nested(property.value) else { return nil }
      members.append(Member(name: property.key.text, shape: shape, isRequired: required.contains(property.key)))
    }
    return .record(members)
  }

  private static func choices(_ words: ValueDictionary, areTexts: Bool) -> Shape? {
    guard let values = words["enum"]?.asArray, !values.isEmpty, words["const"] == nil else { return nil }
    let typed: [Value] = values.compactMap { value in
      areTexts ? value.asString.map { .string($0) } : value.asInt64.map { .int($0) }
    }
    return typed.count == values.count ? .choices(Choices(values: typed, areTexts: areTexts)) : nil
  }

  /// Whether an integer needs to be unsigned.
  private static func isUnsigned(_ words: ValueDictionary) throws(StoreError) -> Bool {
    let values = words["const"].map { [$0] } ?? words["enum"]?.asArray
    let stated = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "default"].compactMap { words[$0] }
    let large = (stated + (values ?? [])).first { $0.asInt64 == nil && $0.asUInt64 != nil }
    guard let large else { return false }
    /// The value, perhaps rounded.
    func number(_ value: Value?) -> Double {
      switch value {
      case .int(let value): Double(value)
      case .uint(let value): Double(value)
      default: value?.asDouble ?? -.infinity
      }
    }
    let isNatural =
      values?.allSatisfy { number($0) > -1 }
      ?? (number(words["minimum"]) > -1 || number(words["exclusiveMinimum"]) >= -1)
    guard isNatural else {
      throw StoreError(
        .invalid,
        "has \(large.asUInt64 ?? 0), which only an unsigned integer holds, and may be negative; add \"minimum\": 0, or "
          + "use smaller numbers")
    }
    return true
  }

  /// A value in the form of this type, such as 1.0 for the number 1.
  func form(of value: Value) -> Value {
    switch self {
    case .number: value.asDouble.map { .double($0) } ?? value
    case .integer, .choices: value.asInt64.map { .int($0) } ?? value.asUInt64.map { .uint($0) } ?? value
    default: value
    }
  }
}
