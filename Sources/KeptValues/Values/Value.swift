// A stored value together with its kind. 1, 1.0 and true are three values.

/// A value and its kind, as stored and as every language sees it.
///
/// Two values are equal when their bytes and bit patterns are: an NFC string differs from its NFD form, NaN equals
/// itself, and `0.0` differs from `-0.0`.
public enum Value: Sendable {
  /// Occurs inside arrays and dictionaries only; setting a key to null removes it.
  case null
  case bool(Bool)
  case int(Int64)
  /// An integer above `Int64.max`. Smaller ones become `int` when they are stored.
  case uint(UInt64)
  case double(Double)
  case string(String)
  case bytes([UInt8])
  case date(Timestamp)
  case array([Value])
  case dictionary(ValueDictionary)

  /// The kind of a value, without the value.
  public enum Kind: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    case null, bool, int, uint, double, string, bytes, date, array, dictionary
    public var description: String { rawValue }

    /// Written out, because the compiler's version uses a table that it creates at the first use (EagerInitialization).
    public init?(rawValue: String) {
      switch rawValue {
      case "null": self = .null
      case "bool": self = .bool
      case "int": self = .int
      case "uint": self = .uint
      case "double": self = .double
      case "string": self = .string
      case "bytes": self = .bytes
      case "date": self = .date
      case "array": self = .array
      case "dictionary": self = .dictionary
      default: return nil
      }
    }
  }

  public var kind: Kind {
    switch self {
    case .null: .null
    case .bool: .bool
    case .int: .int
    case .uint: .uint
    case .double: .double
    case .string: .string
    case .bytes: .bytes
    case .date: .date
    case .array: .array
    case .dictionary: .dictionary
    }
  }
}

extension Value: Hashable {
  // Not inlined, because each copy adds up to 8 KB to the library; `hash(into:)` and `bytes` likewise.
  @inline(never)
  public static func == (a: Value, b: Value) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.int(let a), .int(let b)): a == b
    case (.uint(let a), .uint(let b)): a == b
    case (.double(let a), .double(let b)): a.bitPattern == b.bitPattern
    case (.string(let a), .string(let b)): ExactString(a) == ExactString(b)
    case (.bytes(let a), .bytes(let b)): a == b
    case (.date(let a), .date(let b)): a == b
    case (.array(let a), .array(let b)): a == b
    case (.dictionary(let a), .dictionary(let b)): a == b
    default: false
    }
  }

  @inline(never)
  public func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
    switch self {
    case .null: break
    case .bool(let value): hasher.combine(value)
    case .int(let value): hasher.combine(value)
    case .uint(let value): hasher.combine(value)
    case .double(let value): hasher.combine(value.bitPattern)
    case .string(let value): hasher.combine(ExactString(value))
    case .bytes(let value): hasher.combine(value)
    case .date(let value): hasher.combine(value)
    case .array(let value): hasher.combine(value)
    case .dictionary(let value): hasher.combine(value)
    }
  }
}

extension Value {
  /// The approximate memory of the value, in addition to its inline storage.
  @inline(never)
  package var bytes: Int {
    switch self {
    case .null, .bool, .int, .uint, .double, .date: 0
    case .string(let text): text.utf8.count
    case .bytes(let bytes): bytes.count
    case .array(let items): items.reduce(0) { $0 + $1.bytes + MemoryLayout<Value>.stride }
    case .dictionary(let members):
      members.reduce(0) { $0 + $1.key.text.utf8.count + $1.value.bytes + 2 * MemoryLayout<Value>.stride }
    }
  }

  /// The memory of a value that is in stored form without a check, in addition to its inline storage; nil if it needs
  /// one.
  package var bytesAsStored: Int? {
    switch self {
    case .bool, .int, .date: 0
    case .double(let value): value.isNaN ? nil : 0
    case .string(let text): text.utf8.count <= Limits.valueBytes ? text.utf8.count : nil
    case .bytes(let bytes): bytes.count <= Limits.valueBytes ? bytes.count : nil
    case .null, .uint, .array, .dictionary: nil
    }
  }
}

// There is no nil literal, on purpose: in `found ? value : nil` it would make a `Value?` that contains null.
extension Value: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(integerLiteral value: Int64) { self = .int(value) }
  public init(floatLiteral value: Double) { self = .double(value) }
  public init(stringLiteral value: String) { self = .string(value) }
  public init(arrayLiteral elements: Value...) { self = .array(elements) }
  public init(dictionaryLiteral elements: (ExactString, Value)...) { self = .dictionary(ValueDictionary(elements)) }
}

extension Value: CustomStringConvertible {
  /// The canonical JSON of the value.
  public var description: String { json }
}
