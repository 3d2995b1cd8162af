// What counts as a JSON text, decided byte by byte before anything is built of it: RFC 8259, no key twice, no number
// out of range, and the byte at which a text is wrong.
//
// No sentence quotes the text: it may hold a secret.

/// The strict scan of a JSON text.
struct JSONScanner {
  /// How deep the brackets of a text may stand: every container of a value can have a `$literal` around it, and the
  /// innermost value be a `$binary`, which has two of its own.
  static let bracketNesting = 2 * Limits.nesting + 2

  /// What memory is for.
  static let purpose = "read a JSON text"

  let bytes: UnsafeBufferPointer<UInt8>
  var position = 0
  var findings = JSONFindings()
  /// Whether another program has written the text: it may have the integer `-0`, which is the double -0.0.
  var isForeign = false
  // The text of the key that was scanned last, unescaped; here so that keys share one allocation.
  var text: [UInt8] = []
  private var depth = 0
  // What long keys take, while they are compared.
  private var allowance = Allowance(each: 0)
  // How long the canonical text will be at least: its commas, its brackets of arrays and of empty objects.
  private var leastLength = 0

  init(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int = 0) {
    self.bytes = bytes
    position = start
  }

  /// Checks a whole text.
  ///
  /// Throws `invalid` or `tooLarge`, always with an offset.
  static func scan(_ bytes: UnsafeBufferPointer<UInt8>) throws(StoreError) -> JSONFindings {
    guard bytes.count <= Limits.jsonTextBytes else {
      throw StoreError(
        .tooLarge, offset: Limits.jsonTextBytes,
        "the JSON text has \(bytes.count) bytes; at most \(Limits.jsonTextBytes) are read")
    }
    var scanner = JSONScanner(bytes)
    try scanner.scanValue()
    scanner.skipSpace()
    guard scanner.next == nil else { throw scanner.invalid("the JSON text goes on after its value; remove the rest") }
    return scanner.findings
  }

  /// Passes over one value of a larger text.
  ///
  /// The limits of a value count for it alone, and `findings` are of it alone.
  mutating func scanPart() throws(StoreError) -> Range<Int> {
    findings = JSONFindings()
    leastLength = 0
    skipSpace()
    let start = position
    try scanValue()
    guard position - start <= Limits.jsonTextBytes else {
      throw StoreError(
        .tooLarge, offset: start,
        "a value has \(position - start) bytes of JSON; at most \(Limits.jsonTextBytes) are read")
    }
    return start..<position
  }
}

/// What the scan leaves for the one who builds the value.
struct JSONFindings {
  /// How many elements or members each array and object has, in the order in which they begin.
  var counts: [UInt32] = []
  /// The numbers with a point or an exponent, correctly rounded in every locale, in the order of the text.
  var doubles: [Double] = []
  /// How many bytes of memory the value takes, at most.
  var memory = 0

  /// Counts the memory of a container and what stands in it, without their texts.
  fileprivate mutating func weigh(_ count: UInt32, each stride: Int) {
    // What an allocation costs beside what is in it: its header, Swift's, and the rounding.
    memory += count == 0 ? 0 : 64 + Int(count) * stride
  }

  /// Counts the memory of a string, at most.
  fileprivate mutating func weigh(text count: Int) {
    // Up to 15 bytes stand in the value itself.
    memory += count <= 15 ? 0 : 64 + count
  }
}

// MARK: - Values and containers

extension JSONScanner {
  private mutating func scanValue() throws(StoreError) {
    skipSpace()
    switch next {
    case "{": try scanObject()
    case "[": try scanArray()
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
    case nil: throw invalid("the JSON text ends where a value must stand")
    default:
      throw invalid("a JSON value must stand here: an object, an array, text in double quotes, a number or a word")
    }
  }

  private mutating func scanObject() throws(StoreError) {
    let place = try enterContainer()
    var keys: Set<ExactString> = []
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
      guard skip("}") else { throw invalid("',' or '}' must stand here, after a member of an object") }
    }
    findings.weigh(findings.counts[place], each: MemoryLayout<ValueDictionary.Member>.stride)
    depth -= 1
  }

  mutating func scanKey(unlike keys: inout Set<ExactString>) throws(StoreError) {
    skipSpace()
    guard next == "\"" else { throw invalid("a key in double quotes must stand here, in an object") }
    let start = position
    try scanString(isKey: true)
    // A set grows by twice as many places, of which a quarter stays empty.
    if keys.count == keys.capacity { try Memory.ask(for: 48 * keys.count, to: Self.purpose) }
    // What is too long to stand in its place.
    if text.count > 15 { try allowance.take(text.count, to: Self.purpose) }
    guard keys.insert(ExactString(String(decoding: text, as: UTF8.self))).inserted else {
      throw invalid(at: start, "an object has this key twice; keep one of the two")
    }
    skipSpace()
    guard skip(":") else { throw invalid("':' must stand here, after a key") }
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
      guard skip("]") else { throw invalid("',' or ']' must stand here, after an element of an array") }
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

  /// Refuses a value that is sure to be too large before anything is built of it.
  private mutating func countCanonical(_ length: Int) throws(StoreError) {
    leastLength += length
    guard leastLength <= Limits.valueBytes else {
      throw StoreError(
        .tooLarge, offset: position,
        "the value has, as JSON, more than \(Limits.valueBytes) bytes; no more can be stored under a key")
    }
  }

  /// The place of the container among the findings.
  private mutating func enterContainer() throws(StoreError) -> Int {
    guard depth < Self.bracketNesting else { throw StoreError.nestedTooDeeply(at: position) }
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
        throw invalid(at: start, "a word must be true, false or null; text stands in double quotes")
      }
      position += 1
    }
  }
}

// MARK: - Bytes

extension JSONScanner {
  /// The byte at the position, as a scalar so that it compares with a literal; nil at the end.
  var next: Unicode.Scalar? { position < bytes.count ? Unicode.Scalar(bytes[position]) : nil }

  /// Passes over a byte if it is the one that comes next.
  mutating func skip(_ expected: Unicode.Scalar) -> Bool {
    guard next == expected else { return false }
    position += 1
    return true
  }

  mutating func skipSpace() {
    while let next, next == " " || next == "\n" || next == "\r" || next == "\t" { position += 1 }
  }

  /// The error for the byte at an offset, or at the position.
  func invalid(at offset: Int? = nil, _ message: String) -> StoreError {
    StoreError(.invalid, offset: offset ?? position, message)
  }

  func notANumber(at offset: Int) -> StoreError {
    invalid(
      at: offset, "JSON has no NaN and no Infinity; write {\"$numberDouble\":\"NaN\"}, \"Infinity\" or \"-Infinity\"")
  }
}

extension StoreError {
  /// A value with more containers inside each other than ``Limits/nesting``.
  static func nestedTooDeeply(at offset: Int? = nil, limit: Int = Limits.nesting) -> StoreError {
    StoreError(.tooLarge, offset: offset, "arrays and dictionaries are nested more than \(limit) deep; flatten them")
  }
}
