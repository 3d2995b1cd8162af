// How a value is represented in the tables, so that any SQLite tool shows it readably.
//
//   kind        SQLite type   content
//   bool        INTEGER       0 or 1
//   int         INTEGER
//   uint        TEXT          decimal digits: SQLite's integers end at Int64.max
//   double      REAL          or the TEXT 'NaN', because SQLite turns a NaN into NULL
//   string      TEXT
//   bytes       BLOB
//   date        TEXT          RFC 3339
//   array       TEXT          canonical JSON
//   dictionary  TEXT          canonical JSON

import CSQLite
import KeptValues

extension SQLiteStatement {
  /// Binds the kind and the value to two consecutive parameters.
  func bind(_ index: Int32, kindAnd value: Value) throws(StoreError) {
    try bind(index, kindOf: value)
    try bind(index + 1, value)
  }

  /// Binds the kind and the value without a copy, and runs the statement to its end.
  func finish(_ index: Int32, lentKindAnd value: Value) throws(StoreError) {
    try bind(index, kindOf: value)
    try finish(index + 1, lent: value)
  }

  /// Binds the value without a copy, and runs the statement to its end.
  func finish(_ index: Int32, lent value: Value) throws(StoreError) {
    switch value {
    case .string(let text): try finish(index, lent: ExactString(text))
    case .array, .dictionary:
      try value.withJSON { text throws(StoreError) in
        try bind(index, lentText: text)
        try finish()
      }
    case .bytes(let bytes): try finish(index, lent: bytes)
    default:
      try bind(index, value)
      try finish()
    }
  }

  func bind(_ index: Int32, kindOf value: Value) throws(StoreError) { try bind(index, constant: value.kind.name) }

  private func bind(_ index: Int32, _ value: Value) throws(StoreError) {
    switch value {
    case .null: try bindNull(index)
    case .bool(let value): try bind(index, value ? 1 : Int64(0))
    case .int(let value): try bind(index, value)
    case .uint(let value): try bind(index, text: ExactString(String(value)))
    case .double(let value) where value.isNaN: try bind(index, text: "NaN")
    case .double(let value): try bind(index, value)
    case .string(let value): try bind(index, text: ExactString(value))
    case .bytes(let value): try bind(index, bytes: value)
    case .date(let value): try bind(index, text: ExactString(value.description))
    case .array, .dictionary: try value.withJSON { text throws(StoreError) in try bind(index, text: text) }
    }
  }

  /// Reads the value from the columns `column` (kind) and `column + 1` (value).
  ///
  /// Throws `corrupt` if the two do not match: another program wrote them.
  func value(_ column: Int32) throws(StoreError) -> Value {
    guard let kind = withBytes(column, Value.Kind.init(name:)) else {
      let name = string(column) ?? ""
      throw StoreError(.corrupt, "its row has the unknown kind \"\(name)\"; set the key again")
    }
    // Enough for text and bytes; a structure requests more memory when its content is known.
    try Memory.ask(for: count(column + 1), to: "read a value")
    guard let value = try value(of: kind, column + 1) else {
      throw StoreError(.corrupt, "its row is marked as \(kind) but holds another type; set the key again")
    }
    return value
  }

  /// Reads a value of a kind; nil if the column does not hold this kind.
  private func value(of kind: Value.Kind, _ column: Int32) throws(StoreError) -> Value? {
    switch (kind, type(column)) {
    case (.bool, SQLITE_INTEGER): return 0...1 ~= integer(column) ? .bool(integer(column) == 1) : nil
    case (.int, SQLITE_INTEGER): return .int(integer(column))
    case (.uint, SQLITE_TEXT): return string(column).flatMap(UInt64.init).map(Value.uint)
    case (.double, SQLITE_FLOAT): return .double(double(column))
    case (.double, SQLITE_TEXT): return string(column) == "NaN" ? .double(.nan) : nil
    case (.string, SQLITE_TEXT): return string(column).map(Value.string)
    case (.bytes, SQLITE_BLOB): return .bytes(bytes(column))
    case (.date, SQLITE_TEXT):
      guard let text = string(column) else { return nil }
      return try damaged { () throws(StoreError) in .date(try Timestamp(text: text)) }
    case (.array, SQLITE_TEXT), (.dictionary, SQLITE_TEXT):
      let value = try damaged { () throws(StoreError) in
        try withBytes(column) { bytes throws(StoreError) in try Value(jsonBytes: bytes) }
      }
      return value.kind == kind ? value : nil
    default: return nil
    }
  }

  /// Reports stored text that cannot be parsed as damage, not as the caller's mistake.
  private func damaged(_ read: () throws(StoreError) -> Value) throws(StoreError) -> Value {
    do {
      return try read()
    } catch {
      // A lack of memory says nothing about the row.
      guard error.code != .failed else { throw error }
      throw StoreError(.corrupt, offset: error.offset, "its row is damaged (\(error.message)); set the key again")
    }
  }
}

extension Value.Kind {
  /// The raw value, for SQLite to keep; no String is created or compared.
  fileprivate var name: StaticString {
    switch self {
    case .null: "null"
    case .bool: "bool"
    case .int: "int"
    case .uint: "uint"
    case .double: "double"
    case .string: "string"
    case .bytes: "bytes"
    case .date: "date"
    case .array: "array"
    case .dictionary: "dictionary"
    }
  }

  fileprivate init?(name: UnsafeBufferPointer<UInt8>) {
    let kind = Self.allCases.first { kind in
      kind.name.utf8CodeUnitCount == name.count
        && kind.name.withUTF8Buffer { $0.elementsEqual(name) }
    }
    guard let kind else { return nil }
    self = kind
  }
}
