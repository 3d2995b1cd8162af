// The types that a value may have, and its form as one of them.

import KeptValues

/// A set of declared types, and null.
struct TypeSet: OptionSet, Sendable {
  package let rawValue: UInt16

  package static var boolean: TypeSet { TypeSet(rawValue: 1) }
  package static var integer: TypeSet { TypeSet(rawValue: 2) }
  package static var number: TypeSet { TypeSet(rawValue: 4) }
  package static var string: TypeSet { TypeSet(rawValue: 8) }
  package static var bytes: TypeSet { TypeSet(rawValue: 16) }
  package static var date: TypeSet { TypeSet(rawValue: 32) }
  package static var array: TypeSet { TypeSet(rawValue: 64) }
  package static var object: TypeSet { TypeSet(rawValue: 128) }
  package static var null: TypeSet { TypeSet(rawValue: 256) }
  package static var all: TypeSet { TypeSet(rawValue: 511) }

  package init(rawValue: UInt16) { self.rawValue = rawValue }

  package init(_ type: DeclaredType) {
    switch type {
    case .boolean: self = .boolean
    case .integer: self = .integer
    case .number: self = .number
    case .string: self = .string
    case .bytes: self = .bytes
    case .date: self = .date
    case .array: self = .array
    case .object: self = .object
    }
  }

  /// The type of the values of a kind.
  package init(_ kind: Value.Kind) { self = DeclaredType(kind).map { TypeSet($0) } ?? .null }

  /// A value in the form of one of the types; nil if none can represent it exactly.
  @inline(__always)
  package func form(of value: Value) -> Value? {
    if case .uint = value { return integer(value) ?? double(value) }
    if contains(TypeSet(value.kind)) { return value }
    return switch value {
    case .int: double(value)
    case .double: integer(value)
    default: nil
    }
  }

  private func integer(_ value: Value) -> Value? {
    contains(.integer) ? value.asInt64.map { .int($0) } ?? value.asUInt64.map { .uint($0) } : nil
  }

  private func double(_ value: Value) -> Value? {
    contains(.number) ? value.asDouble.map { .double($0) } : nil
  }
}

extension TypeSet: CustomStringConvertible {
  /// The type names for a message: "integer, string or null".
  package var description: String {
    var words: [String] = []
    for type in DeclaredType.allCases where contains(TypeSet(type)) { words.append(type.description) }
    if contains(.null) { words.append("null") }
    let last = words.popLast() ?? ""
    return words.isEmpty ? last : words.joined(separator: ", ") + " or " + last
  }
}
