// The objects for kinds that JSON lacks: a closed profile of MongoDB's Extended JSON, version 2, relaxed.
//
//   {"$numberULong":"18446744073709551615"}            an integer above Int64.max
//   {"$numberLong":"42"}                               read only: an integer
//   {"$numberDouble":"NaN"}, "Infinity", "-Infinity"   a double that is not a finite number
//   {"$binary":{"base64":"AAEC","subType":"00"}}       bytes
//   {"$date":"2026-11-20T23:44:01.25Z"}                a date
//   {"$literal":{"$a":1}}                              the dictionary inside, whose own keys have no special meaning

extension ExactString {
  /// Whether a key is reserved for the forms above.
  var isReserved: Bool { text.utf8.first == UInt8(ascii: "$") }
}

extension JSONBuilder {
  /// Parses an object whose only key begins with a dollar sign, up to its closing brace.
  ///
  /// Returns nil for a keyword of a JSON Schema.
  mutating func extended(_ key: ExactString, at offset: Int) throws(StoreError) -> Value? {
    switch key {
    case "$numberULong": return try unsignedInteger(at: offset)
    case "$numberLong": return try integer(at: offset)
    case "$numberDouble": return try double(at: offset)
    case "$binary": return try bytes(at: offset)
    case "$date": return try date(at: offset)
    case "$literal": return try literal(at: offset)
    default:
      guard isSchema else { throw StoreError.unknownForm(at: offset) }
      return nil
    }
  }

  private mutating func unsignedInteger(at offset: Int) throws(StoreError) -> Value {
    guard let text = try string(), let value = UInt64(text), ExactString(value.description) == ExactString(text) else {
      throw StoreError(
        .invalid, offset: offset,
        "$numberULong takes an integer from 0 to \(UInt64.max) as a string without leading zeros")
    }
    return Int64(exactly: value).map { .int($0) } ?? .uint(value)
  }

  private mutating func integer(at offset: Int) throws(StoreError) -> Value {
    guard let text = try string(), let value = Int64(text), ExactString(value.description) == ExactString(text) else {
      throw StoreError(
        .invalid, offset: offset,
        "$numberLong takes an integer from \(Int64.min) to \(Int64.max) as a string without leading zeros")
    }
    return .int(value)
  }

  private mutating func double(at offset: Int) throws(StoreError) -> Value {
    switch try string().map({ ExactString($0) }) {
    case "NaN": return .double(.nan)
    case "Infinity": return .double(.infinity)
    case "-Infinity": return .double(-.infinity)
    default:
      throw StoreError(
        .invalid, offset: offset,
        "$numberDouble takes \"NaN\", \"Infinity\" or \"-Infinity\"; write other numbers bare, such as 1.5")
    }
  }

  private mutating func bytes(at offset: Int) throws(StoreError) -> Value {
    guard next == "{", try begin() == 2 else { throw Self.malformedBinary(at: offset) }
    var base64: String?
    var subType: String?
    while let key = try key() {
      guard let text = try string() else { throw Self.malformedBinary(at: offset) }
      if key == "base64" { base64 = text }
      if key == "subType" { subType = text }
    }
    guard let base64, let subType, ExactString(subType) == "00" else { throw Self.malformedBinary(at: offset) }
    guard let bytes = Base64.decode(base64) else {
      throw StoreError(
        .invalid, offset: offset,
        "\"base64\" must use the alphabet A-Z a-z 0-9 + /, and be padded with = to a multiple of 4 characters")
    }
    return .bytes(bytes)
  }

  private static func malformedBinary(at offset: Int) -> StoreError {
    StoreError(.invalid, offset: offset, "$binary takes exactly {\"base64\":\"…\",\"subType\":\"00\"}")
  }

  private mutating func date(at offset: Int) throws(StoreError) -> Value {
    guard let text = try string() else {
      throw StoreError(.invalid, offset: offset, "$date takes a string such as \"2026-11-20T23:44:01.25Z\"")
    }
    do {
      return .date(try Timestamp(text: text))
    } catch {
      throw StoreError(error.code, offset: offset, error.message)
    }
  }

  private mutating func literal(at offset: Int) throws(StoreError) -> Value {
    guard next == "{" else {
      throw StoreError(.invalid, offset: offset, "$literal takes an object, whose keys are then used as they are")
    }
    let inside = scanner.position
    let count = try begin()
    return try dictionary(of: count, from: try key(), takesDollars: true, at: inside)
  }

  /// The next text, if it is a string.
  private mutating func string() throws(StoreError) -> String? { next == "\"" ? try scanner.string() : nil }
}
