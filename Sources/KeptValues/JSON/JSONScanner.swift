// Decides whether a text is JSON, byte by byte and before anything is built from it: RFC 8259, without duplicate keys
// and without numbers out of range. An error has the offset of the invalid byte.
//
// No message quotes the text, because it may hold a secret.

/// The strict scan of a JSON text.
package struct JSONScanner {
  /// The limit on nested brackets of a text: every container of a value can have a `$literal` around it, and the
  /// innermost value can be a `$binary`, which has two brackets of its own.
  static let bracketNesting = 2 * Limits.nesting + 2

  /// The purpose of memory requests, for error messages.
  package static let purpose = "read a JSON text"

  package let bytes: UnsafeBufferPointer<UInt8>
  package var position = 0
  package var findings = JSONFindings()
  /// Whether another program has written the text: it may contain the integer `-0`, which is the double -0.0, and what
  /// a value or a key of Kept cannot have is not an error of the text.
  package var isForeign = false
  /// Why the last value or key of another program's text cannot be imported.
  package var obstacle: StoreError?
  // The text of the last key, unescaped; stored here so that keys share one allocation.
  package var text: [UInt8] = []
  private var depth = 0
  // The memory of long keys while they are compared.
  private var allowance = Allowance(each: 0)
  // A lower bound of the canonical text's length: its commas, the brackets of its arrays and of its empty objects.
  private var leastLength = 0

  package init(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int = 0) {
    self.bytes = bytes
    position = start
  }

  /// Checks a whole text.
  ///
  /// Throws `invalid` or `tooLarge`, always with an offset.
  package static func scan(_ bytes: UnsafeBufferPointer<UInt8>) throws(StoreError) -> JSONFindings {
    guard bytes.count <= Limits.jsonTextBytes else {
      throw StoreError(
        .tooLarge, offset: Limits.jsonTextBytes,
        "the JSON text is \(bytes.count) bytes long; at most \(Limits.jsonTextBytes) are allowed")
    }
    var scanner = JSONScanner(bytes)
    try scanner.scanValue()
    scanner.skipSpace()
    guard scanner.next == nil else { throw scanner.invalid("unexpected text after the JSON value; remove it") }
    return scanner.findings
  }

  /// Skips one value of a larger text.
  ///
  /// The limits of a value apply to it alone, and `findings` describes it alone.
  mutating func scanPart() throws(StoreError) -> Range<Int> {
    findings = JSONFindings()
    obstacle = nil
    leastLength = 0
    skipSpace()
    let start = position
    try scanValue()
    if position - start > Limits.jsonTextBytes {
      try pass(
        StoreError(
          .tooLarge, offset: start,
          "the JSON of the value is \(position - start) bytes long; at most \(Limits.jsonTextBytes) are allowed"))
    }
    return start..<position
  }

  /// Throws an error, which for another program's text only keeps the value or key from being imported.
  package mutating func pass(_ error: StoreError) throws(StoreError) {
    guard isForeign else { throw error }
    obstacle = obstacle ?? error
  }
}

/// The findings that the scan passes to the builder of the value.
package struct JSONFindings {
  /// The number of elements or members of each array and object, in the order of their beginnings.
  package var counts: [UInt32] = []
  /// The numbers with a decimal point or an exponent, correctly rounded in every locale, in the order of the text.
  var doubles: [Double] = []
  /// An upper bound of the memory that the value takes, in bytes.
  package var memory = 0

  /// Adds the memory of a container and its elements, without their texts.
  fileprivate mutating func weigh(_ count: UInt32, each stride: Int) {
    // The overhead of an allocation: its header, Swift's object header, and rounding.
    memory += count == 0 ? 0 : 64 + Int(count) * stride
  }

  /// Adds an upper bound of the memory of a string.
  fileprivate mutating func weigh(text count: Int) {
    // Up to 15 bytes are stored inline.
    memory += count <= 15 ? 0 : 64 + count
  }
}

// MARK: - Values and containers

extension JSONScanner {
  private mutating func scanValue() throws(StoreError) {
    skipSpace()
    switch next {
    case "{", "[":
      if depth >= Self.bracketNesting {
        try pass(StoreError.nestedTooDeeply(at: position))
        try skipContainer()
      } else if next == "{" {
        try scanObject()
      } else {
        try scanArray()
      }
    case "\"":
      let start = position
      try scanString(isKey: false)
      findings.weigh(text: position - start - 2)
    case "-": try scanNumber()
    case let digit? where "0"..."9" ~= digit: try scanNumber()
    case "t": try scanWord("true")
    case "f": try scanWord("false")
    case "n": try scanWord("null")
    case "N", "I": throw notANumber(at: position)
    case nil: throw invalid("the JSON text ends where a value is expected")
    default:
      throw invalid("expected a JSON value: an object, an array, a string, a number, true, false or null")
    }
  }

  private mutating func scanObject() throws(StoreError) {
    let place = try enterContainer()
    var keys = ScannedKeys()
    skipSpace()
    if next == "}" {
      position += 1
      try countCanonical(2)
    } else {
      repeat {
        try scanKey(unlike: &keys)
        findings.weigh(text: text.count)
        try scanValue()
        findings.counts[place] += 1
      } while try skipComma()
      guard skip("}") else { throw invalid("expected ',' or '}' after a member of an object") }
    }
    findings.weigh(findings.counts[place], each: MemoryLayout<ValueDictionary.Member>.stride)
    depth -= 1
  }

  @discardableResult
  mutating func scanKey(unlike keys: inout ScannedKeys) throws(StoreError) -> ExactString {
    skipSpace()
    guard next == "\"" else { throw invalid("expected a key in double quotes in an object") }
    let start = position
    try scanString(isKey: true)
    // Longer keys are not stored inline.
    if text.count > 15 { try allowance.take(text.count, to: Self.purpose) }
    let key = ExactString(String(decoding: text, as: UTF8.self))
    guard try keys.insert(key) else {
      throw invalid(at: start, "an object has this key twice; remove one")
    }
    skipSpace()
    guard skip(":") else { throw invalid("expected ':' after a key") }
    return key
  }

  private mutating func scanArray() throws(StoreError) {
    let place = try enterContainer()
    try countCanonical(2)
    skipSpace()
    if !skip("]") {
      repeat {
        try scanValue()
        findings.counts[place] += 1
      } while try skipComma()
      guard skip("]") else { throw invalid("expected ',' or ']' after an element of an array") }
    }
    findings.weigh(findings.counts[place], each: MemoryLayout<Value>.stride)
    depth -= 1
  }

  private mutating func skipComma() throws(StoreError) -> Bool {
    skipSpace()
    guard skip(",") else { return false }
    try countCanonical(1)
    return true
  }

  /// Skips an array or an object without recursion.
  private mutating func skipContainer() throws(StoreError) {
    // Whether each open container is an object.
    var open: [Bool] = []
    repeat {
      skipSpace()
      var isClosed = false
      if next == "{" || next == "[" {
        try Memory.makeRoom(in: &open, to: Self.purpose)
        open.append(next == "{")
        position += 1
        skipSpace()
        isClosed = next == "}" || next == "]"
        if !isClosed {
          try skipKey(if: open.last)
          continue
        }
      } else {
        try scanValue()
      }
      while let isObject = open.last {
        skipSpace()
        if !isClosed, skip(",") {
          try skipKey(if: isObject)
          break
        }
        guard skip(isObject ? "}" : "]") else { throw invalid("expected ',' or a closing bracket") }
        isClosed = false
        open.removeLast()
      }
    } while !open.isEmpty
  }

  private mutating func skipKey(if isObject: Bool?) throws(StoreError) {
    var keys = ScannedKeys()
    if isObject == true { try scanKey(unlike: &keys) }
  }

  /// Refuses a value that is certain to be too large before anything is built from it.
  private mutating func countCanonical(_ length: Int) throws(StoreError) {
    leastLength += length
    if leastLength > Limits.valueBytes, obstacle == nil {
      try pass(
        StoreError(
          .tooLarge, offset: position,
          "the value is longer than \(Limits.valueBytes) bytes as JSON, the most that can be stored under a key"))
    }
  }

  /// Returns the index of the container in the findings.
  private mutating func enterContainer() throws(StoreError) -> Int {
    depth += 1
    try Memory.makeRoom(in: &findings.counts, to: Self.purpose)
    findings.counts.append(0)
    position += 1
    return findings.counts.count - 1
  }

  private mutating func scanWord(_ word: StaticString) throws(StoreError) {
    let start = position
    for index in 0..<word.utf8CodeUnitCount {
      guard position < bytes.count, bytes[position] == word.utf8Start[index] else {
        throw invalid(at: start, "expected true, false or null; strings need double quotes")
      }
      position += 1
    }
  }
}

// MARK: - Bytes

extension JSONScanner {
  /// The byte at the position, as a scalar so that it compares with a literal; nil at the end.
  package var next: Unicode.Scalar? { position < bytes.count ? Unicode.Scalar(bytes[position]) : nil }

  /// Skips the next byte if it is the expected one.
  package mutating func skip(_ expected: Unicode.Scalar) -> Bool {
    guard next == expected else { return false }
    position += 1
    return true
  }

  package mutating func skipSpace() {
    while let next, next == " " || next == "\n" || next == "\r" || next == "\t" { position += 1 }
  }

  /// Returns the error for the byte at an offset, or at the position.
  package func invalid(at offset: Int? = nil, _ message: String) -> StoreError {
    StoreError(.invalid, offset: offset ?? position, message)
  }

  func notANumber(at offset: Int) -> StoreError {
    let remedy = isForeign ? "a string" : "{\"$numberDouble\":\"…\"} with \"NaN\", \"Infinity\" or \"-Infinity\""
    return invalid(at: offset, "JSON has no NaN or Infinity; write \(remedy)")
  }
}

extension StoreError {
  /// Returns the error for a value with more nested containers than a limit allows.
  package static func nestedTooDeeply(at offset: Int? = nil, limit: Int = Limits.nesting) -> StoreError {
    StoreError(
      .tooLarge, offset: offset, "arrays and dictionaries are nested more than \(limit) levels deep; flatten them"
    )
  }
}
