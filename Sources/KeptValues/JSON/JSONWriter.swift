// The canonical JSON text of a value: keys sorted by their bytes, no spaces, only the escapes that JSON requires. Equal
// values have equal text.

/// A destination for text, byte by byte: an array, or C's memory.
protocol JSONSink {
  mutating func append(_ byte: UInt8)
  mutating func append(contentsOf bytes: UnsafeBufferPointer<UInt8>)
}

extension [UInt8]: JSONSink {}

extension Value {
  /// The canonical JSON of the value.
  public var json: String {
    var bytes: [UInt8] = []
    appendJSON(to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// JSON with escapes, as it is displayed.
  @inline(never)
  package var displayed: String { DisplayText.json(json) }

  /// The canonical JSON of the value during the call of `body`.
  ///
  /// Throws `failed` if there is not enough memory.
  package func withJSON<T>(
    _ body: (UnsafeBufferPointer<UInt8>) throws(StoreError) -> T
  ) throws(StoreError) -> T {
    try CText.lent({ text throws(StoreError) in write(into: &text) }, to: body)
  }

  /// Appends the canonical JSON of the value.
  package func appendJSON(to bytes: inout [UInt8]) { write(into: &bytes) }

  /// Appends the canonical JSON of the value.
  // Not generic: other modules would call an unspecialised function.
  package func write(to text: inout CText) { write(into: &text) }

  /// The length of the canonical JSON, in bytes.
  package var jsonByteCount: Int {
    CText.counted { write(into: &$0) }
  }

  /// An upper bound of ``jsonByteCount``, which takes less time.
  package var mostJSONBytes: Int {
    switch self {
    case .null, .bool, .int, .uint, .double, .date: Self.mostScalarBytes
    case .string(let text): Self.mostBytes(text)
    case .bytes(let bytes): Self.mostScalarBytes + 2 * bytes.count
    case .array(let elements): elements.reduce(2) { $0 + 1 + $1.mostJSONBytes }
    case .dictionary(let members):
      members.reduce(Self.mostScalarBytes) { $0 + 2 + Self.mostBytes($1.key.text) + $1.value.mostJSONBytes }
    }
  }

  // The longest, a date, takes 42 bytes; the punctuation of bytes and members takes less.
  private static let mostScalarBytes = 64

  /// Of each byte, six may be written.
  private static func mostBytes(_ text: String) -> Int { 2 + 6 * text.utf8.count }

  func write(into sink: inout some JSONSink) {
    switch self {
    case .null: sink.append("null")
    case .bool(let value): sink.append(value ? "true" : "false")
    case .int(let value): sink.append(decimal: value)
    case .uint(let value): write(value, to: &sink)
    case .double(let value): write(value, to: &sink)
    case .string(let value): sink.appendQuoted(value)
    case .bytes(let value): write(value, to: &sink)
    case .date(let value): sink.append("{\"$date\":\"\(value)\"}")
    case .array(let elements): write(elements, to: &sink)
    case .dictionary(let members): write(members, to: &sink)
    }
  }

  private func write(_ value: UInt64, to sink: inout some JSONSink) {
    sink.append(value > Int64.max ? "{\"$numberULong\":\"\(value)\"}" : value.description)
  }

  private func write(_ value: Double, to sink: inout some JSONSink) {
    if value.isFinite {
      // Swift prints the shortest text that reads as the same double, always with a point or an exponent.
      sink.append(value.description)
    } else {
      let name = value.isNaN ? "NaN" : value < 0 ? "-Infinity" : "Infinity"
      sink.append("{\"$numberDouble\":\"\(name)\"}")
    }
  }

  private func write(_ bytes: [UInt8], to sink: inout some JSONSink) {
    sink.append("{\"$binary\":{\"base64\":\"")
    Base64.encode(bytes, to: &sink)
    sink.append("\",\"subType\":\"00\"}}")
  }

  private func write(_ elements: [Value], to sink: inout some JSONSink) {
    sink.append(byte: "[")
    for (index, element) in elements.enumerated() {
      if index > 0 { sink.append(byte: ",") }
      element.write(into: &sink)
    }
    sink.append(byte: "]")
  }

  private func write(_ members: ValueDictionary, to sink: inout some JSONSink) {
    let isWrapped = members.contains { $0.key.isReserved }
    if isWrapped { sink.append("{\"$literal\":") }
    sink.append(byte: "{")
    for (index, member) in members.enumerated() {
      if index > 0 { sink.append(byte: ",") }
      sink.appendQuoted(member.key.text)
      sink.append(byte: ":")
      member.value.write(into: &sink)
    }
    if isWrapped { sink.append(byte: "}") }
    sink.append(byte: "}")
  }
}

// MARK: - Text

extension JSONSink {
  /// Appends an ASCII character.
  @inline(__always)
  mutating func append(byte: Unicode.Scalar) { append(UInt8(ascii: byte)) }

  /// Appends text as it is.
  mutating func append(_ text: String) {
    var text = text
    text.withUTF8 { append(contentsOf: $0) }
  }

  /// Appends the digits of an integer, in a fifth of the time that its description takes.
  mutating func append(decimal number: Int64) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
      var start = digits.count
      var rest = number.magnitude
      repeat {
        start -= 1
        digits[start] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
      } while rest > 0
      if number < 0 {
        start -= 1
        digits[start] = UInt8(ascii: "-")
      }
      append(contentsOf: UnsafeBufferPointer(rebasing: digits[start...]))
    }
  }

  /// Appends a JSON string.
  fileprivate mutating func appendQuoted(_ text: String) {
    var text = text
    text.withUTF8 { appendQuoted($0) }
  }

  fileprivate mutating func appendQuoted(_ bytes: UnsafeBufferPointer<UInt8>) {
    append(byte: "\"")
    var start = 0
    for index in bytes.indices where Self.needsEscape(bytes[index]) {
      append(contentsOf: UnsafeBufferPointer(rebasing: bytes[start..<index]))
      append(Self.escape(bytes[index]))
      start = index + 1
    }
    append(contentsOf: UnsafeBufferPointer(rebasing: bytes[start...]))
    append(byte: "\"")
  }

  private static func needsEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  private static func escape(_ byte: UInt8) -> String {
    switch Unicode.Scalar(byte) {
    case "\"": "\\\""
    case "\\": "\\\\"
    case "\u{8}": "\\b"
    case "\u{c}": "\\f"
    case "\n": "\\n"
    case "\r": "\\r"
    case "\t": "\\t"
    default: (byte < 0x10 ? "\\u000" : "\\u00") + String(byte, radix: 16)
    }
  }
}

extension CText {
  /// Appends UTF-8 text as a JSON string.
  package mutating func append(quoted text: UnsafeBufferPointer<UInt8>) { appendQuoted(text) }
}
