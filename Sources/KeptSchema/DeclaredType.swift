// The types that a key can be declared with, and their values.

package import KeptValues

/// The type of a declared key: the types of JSON Schema, and two that JSON lacks.
public enum DeclaredType: Sendable, Hashable, CaseIterable, CustomStringConvertible {
  case boolean
  /// Also takes a number without a fraction, and stores it as an integer: 3.0 as 3.
  case integer
  /// Also takes an integer that a double can hold, and stores it as a double: 1 as 1.0.
  case number
  case string, bytes, date, array, object

  /// The name of the type in a schema.
  public var description: String {
    switch self {
    case .boolean: "boolean"
    case .integer: "integer"
    case .number: "number"
    case .string: "string"
    case .bytes: "bytes"
    case .date: "date"
    case .array: "array"
    case .object: "object"
    }
  }

  /// The type with a name in a schema; nil for any other name.
  package init?(word: String) {
    let type = Self.allCases.first { ExactString($0.description) == ExactString(word) }
    guard let type else { return nil }
    self = type
  }

  /// The type of the values of a kind; nil for null.
  package init?(_ kind: Value.Kind) {
    switch kind {
    case .null: return nil
    case .bool: self = .boolean
    case .int, .uint: self = .integer
    case .double: self = .number
    case .string: self = .string
    case .bytes: self = .bytes
    case .date: self = .date
    case .array: self = .array
    case .dictionary: self = .object
    }
  }
}
