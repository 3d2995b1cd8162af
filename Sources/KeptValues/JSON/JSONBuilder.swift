// Builds the value of a text that the scan has accepted: a second pass, which checks and measures nothing.
//
// Only two kinds of errors remain: nesting that is too deep, and invalid forms (ExtendedJSON.swift). Arrays are
// allocated with their final size, and only the scan's findings exist in addition to the value, so the memory for a
// text is bounded by its length.

/// A position in a text that the scan has accepted, with the scan's findings.
///
/// The text may be in memory that another thread is changing: whatever it contains by now, no byte outside of it
/// is read, and the parse terminates.
struct JSONBuilder {
  var scanner: JSONScanner
  private var counts: IndexingIterator<[UInt32]>
  private var doubles: IndexingIterator<[Double]>
  private var depth = 0
  /// Whether the text is a JSON Schema, whose keywords may begin with a dollar sign.
  package let isSchema: Bool

  /// The value of a text.
  package static func value(
    of bytes: UnsafeBufferPointer<UInt8>, _ findings: JSONFindings, isSchema: Bool = false
  ) throws(StoreError) -> Value {
    try Memory.ask(for: findings.memory, to: "build a value from its JSON text")
    var builder = JSONBuilder(bytes, findings, isSchema: isSchema)
    return try builder.value()
  }

  private init(_ bytes: UnsafeBufferPointer<UInt8>, _ findings: JSONFindings, isSchema: Bool) {
    scanner = JSONScanner(bytes)
    counts = findings.counts.makeIterator()
    doubles = findings.doubles.makeIterator()
    self.isSchema = isSchema
  }

  package mutating func value() throws(StoreError) -> Value {
    switch next {
    case "{": return try object()
    case "[": return try array()
    case "\"": return .string(try scanner.string())
    case "t": return word(4, .bool(true))
    case "f": return word(5, .bool(false))
    case "n": return word(4, .null)
    default: return try number()
    }
  }

  /// The next character after white space.
  package var next: Unicode.Scalar? {
    mutating get {
      scanner.skipSpace()
      return scanner.next
    }
  }

  private mutating func word(_ length: Int, _ value: Value) -> Value {
    scanner.position += length
    return value
  }
}

// MARK: - Containers

extension JSONBuilder {
  private mutating func array() throws(StoreError) -> Value {
    try enter(at: scanner.position)
    var elements: [Value] = []
    elements.reserveCapacity(try begin())
    while next != "]" {
      elements.append(try value())
      if next == "," { scanner.position += 1 }
    }
    scanner.position += 1
    depth -= 1
    return .array(elements)
  }

  private mutating func object() throws(StoreError) -> Value {
    let offset = scanner.position
    let count = try begin()
    let first = try key()
    if let first, first.isReserved, count == 1, let value = try extended(first, at: offset) {
      _ = try key()
      return value
    }
    return try dictionary(of: count, from: first, takesDollars: isSchema, at: offset)
  }

  /// The dictionary of an object whose first key has been read.
  ///
  /// - Parameter takesDollars: whether its keys may begin with a dollar sign.
  package mutating func dictionary(
    of count: Int, from first: ExactString?, takesDollars: Bool, at offset: Int
  ) throws(StoreError) -> Value {
    try enter(at: offset)
    var members: [ValueDictionary.Member] = []
    members.reserveCapacity(count)
    var key = first
    while let name = key {
      guard takesDollars || !name.isReserved else { throw StoreError.unknownForm(at: offset) }
      members.append(ValueDictionary.Member(key: name, value: try value()))
      key = try self.key()
    }
    depth -= 1
    return .dictionary(ValueDictionary(members))
  }

  /// Skips the opening bracket of a container; returns the number of its elements or members.
  package mutating func begin() throws(StoreError) -> Int {
    guard let count = counts.next() else { throw StoreError.changedText(at: scanner.position) }
    scanner.position += 1
    return Int(count)
  }

  /// The next key of an object; nil, after its closing brace, at its end.
  package mutating func key() throws(StoreError) -> ExactString? {
    if next == "," { scanner.position += 1 }
    guard next != "}" else {
      scanner.position += 1
      return nil
    }
    let key = ExactString(try scanner.string())
    if next == ":" { scanner.position += 1 }
    return key
  }

  /// Counts the nesting of the value.
  ///
  /// Objects that only denote a kind (`$binary`, `$literal` and so on) are not counted.
  private mutating func enter(at offset: Int) throws(StoreError) {
    guard depth < Limits.nesting else { throw StoreError.nestedTooDeeply(at: offset) }
    depth += 1
  }
}

// MARK: - Numbers

extension JSONBuilder {
  private mutating func number() throws(StoreError) -> Value {
    let isNegative = scanner.skip("-")
    let start = scanner.position
    var magnitude: UInt64 = 0
    while let digit = scanner.next, "0"..."9" ~= digit {
      magnitude = magnitude &* 10 &+ UInt64(digit.value - 0x30)
      scanner.position += 1
    }
    guard scanner.position > start else { throw StoreError.changedText(at: start) }
    if scanner.next == "." || scanner.next == "e" || scanner.next == "E" { return .double(try double()) }
    // The scan accepts this number only if it represents the double.
    if isNegative && magnitude == 0 { return .double(-0.0) }
    // The scan accepts it in another program's text alone.
    if !isNegative && magnitude > Int64.max { return .uint(magnitude) }
    return .int(Int64(truncatingIfNeeded: isNegative ? 0 &- magnitude : magnitude))
  }

  private mutating func double() throws(StoreError) -> Double {
    while let next = scanner.next, "0"..."9" ~= next || "eE.+-".unicodeScalars.contains(next) {
      scanner.position += 1
    }
    guard let double = doubles.next() else { throw StoreError.changedText(at: scanner.position) }
    return double
  }
}

extension StoreError {
  /// The error for a text that has changed since the scan accepted it.
  static func changedText(at offset: Int) -> StoreError {
    StoreError(.invalid, offset: offset, "the JSON text changed while it was read; do not change it during the call")
  }

  static func unknownForm(at offset: Int) -> StoreError {
    StoreError(
      .invalid, offset: offset,
      "an object has a key that begins with $, but is not a known form; wrap the object as {\"$literal\":{…}}")
  }
}
