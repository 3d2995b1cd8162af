// The canonical JSON text of a value: keys sorted by their bytes, no spaces, only the escapes that JSON requires. Equal
// values have equal text.

/// A destination for text, byte by byte: an array, a count, or C's memory.
protocol JSONSink {
  mutating func append(_ byte: UInt8)
  mutating func append(contentsOf bytes: UnsafeBufferPointer<UInt8>)
}

extension [UInt8]: JSONSink {}

/// Counts the bytes of a text without keeping them.
struct ByteCount: JSONSink {
  private(set) var count = 0
  mutating func append(_ byte: UInt8) { count += 1 }
  mutating func append(contentsOf bytes: UnsafeBufferPointer<UInt8>) { count += bytes.count }
}

extension Value {
  /// The canonical JSON of the value.
  public var json: String {
    var bytes: [UInt8] = []
    appendJSON(to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The canonical JSON of the value during the call of `body`.
  ///
  /// Throws `failed` if there is not enough memory.
  func withJSON<T>(
    _ body: (UnsafeBufferPointer<UInt8>) throws(StoreError) -> T
  ) throws(StoreError) -> T {
    try CText.lent({ text throws(StoreError) in write(to: &text) }, to: body)
  }

  /// Appends the canonical JSON of the value.
  package func appendJSON(to bytes: inout [UInt8]) { write(to: &bytes) }

  /// The length of the canonical JSON, in bytes.
  var jsonByteCount: Int {
    var bytes = ByteCount()
    write(to: &bytes)
    return bytes.count
  }

  func write(to sink: inout some JSONSink) {
    switch self {
    case .null: sink.append("null")
    case .bool(let value): sink.append(value ? "true" : "false")
    case .int(let value): sink.append(value.description)
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
    sink.append("[")
    for (index, element) in elements.enumerated() {
      if index > 0 { sink.append(",") }
      element.write(to: &sink)
    }
    sink.append("]")
  }

  private func write(_ members: ValueDictionary, to sink: inout some JSONSink) {
    let isWrapped = members.contains { $0.key.isReserved }
    if isWrapped { sink.append("{\"$literal\":") }
    sink.append("{")
    for (index, member) in members.enumerated() {
      if index > 0 { sink.append(",") }
      sink.appendQuoted(member.key.text)
      sink.append(":")
      member.value.write(to: &sink)
    }
    sink.append(isWrapped ? "}}" : "}")
  }
}

// MARK: - Text

extension JSONSink {
  /// Appends text as it is.
  mutating func append(_ text: String) {
    var text = text
    text.withUTF8 { append(contentsOf: $0) }
  }

  /// Appends a JSON string.
  fileprivate mutating func appendQuoted(_ text: String) {
    var text = text
    append(UInt8(ascii: "\""))
    text.withUTF8 { bytes in
      var start = 0
      for index in bytes.indices where Self.needsEscape(bytes[index]) {
        append(contentsOf: UnsafeBufferPointer(rebasing: bytes[start..<index]))
        append(Self.escape(bytes[index]))
        start = index + 1
      }
      append(contentsOf: UnsafeBufferPointer(rebasing: bytes[start...]))
    }
    append(UInt8(ascii: "\""))
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
