// Access to a value's content by kind, and the name of a kind in messages.

extension Value {
  public var asBool: Bool? { if case .bool(let value) = self { value } else { nil } }
  public var asString: String? { if case .string(let value) = self { value } else { nil } }
  public var asBytes: [UInt8]? { if case .bytes(let value) = self { value } else { nil } }
  public var asDate: Timestamp? { if case .date(let value) = self { value } else { nil } }
  public var asArray: [Value]? { if case .array(let value) = self { value } else { nil } }
  public var asDictionary: ValueDictionary? { if case .dictionary(let value) = self { value } else { nil } }

  /// The kind with its article, for messages: "a string", "an array".
  package var described: String { kind.described }

  /// The type that a declaration has for the kind, with its article: "an integer", "an object".
  package var describedAsJSON: String {
    switch kind {
    case .bool: "a boolean"
    case .int, .uint: "an integer"
    case .double: "a number"
    case .dictionary: "an object"
    case .null, .bytes, .array, .string, .date: described
    }
  }
}

extension Value.Kind {
  /// The kind with its article: "a string", "an array".
  package var described: String {
    switch self {
    case .null, .bytes: "\(self)"
    case .int, .array: "an \(self)"
    case .bool, .uint, .double, .string, .date, .dictionary: "a \(self)"
    }
  }
}
