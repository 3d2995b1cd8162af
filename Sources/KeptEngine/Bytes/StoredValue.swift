// How a value is stored, in frames, records and the history: a kind, and a payload
// (docs/internals/file-format.md describes them).

import CPlatform
package import KeptValues

/// The kind and the payload of a value; the payload is in a buffer.
package struct StoredValue {
  package let kind: UInt8
  package let payload: UnsafeRawBufferPointer

  package init(kind: UInt8, payload: UnsafeRawBufferPointer) { (self.kind, self.payload) = (kind, payload) }

  static let none: UInt8 = 0
  /// The sealed bytes of a secret.
  package static let sealed: UInt8 = 10
  /// The highest kind.
  static let last: UInt8 = sealed
  /// A changed value of more bytes is not kept in memory, but read in the journal.
  static let mostInMemory = 4096

  /// Whether it is a secret that was sealed.
  package var isSealed: Bool { kind == Self.sealed }

  /// The value; nil if the bytes are not a value.
  ///
  /// For a secret that was sealed, it is the sealed bytes. Throws `failed` without memory for it.
  package func value() throws(StoreError) -> Value? {
    switch kind {
    case 1: number(UInt8.self).flatMap { $0 <= 1 ? .bool($0 == 1) : nil }
    case 2: number(Int64.self).map { .int($0) }
    case 3: number(UInt64.self).flatMap { $0 > Int64.max ? .uint($0) : nil }
    case 4: number(UInt64.self).map { .double(Double(bitPattern: $0)) }
    case 5: payload.text.map { .string($0) }
    case 6, Self.sealed: .bytes(Array(payload))
    case 7: date
    case 8, 9: try container()
    default: nil
    }
  }

  private func number<Number: FixedWidthInteger>(_ type: Number.Type) -> Number? {
    payload.count == MemoryLayout<Number>.size ? payload.number(0, type) : nil
  }

  private var date: Value? {
    guard payload.count == 12, let seconds = payload.number(0, Int64.self),
      let nanoseconds = payload.number(8, Int32.self)
    else { return nil }
    return (try? Timestamp(seconds: seconds, nanoseconds: nanoseconds)).map { .date($0) }
  }

  private func container() throws(StoreError) -> Value? {
    do throws(StoreError) {
      let value = try Value(jsonBytes: payload.bindMemory(to: UInt8.self))
      return value.storedKind == kind ? value : nil
    } catch {
      guard error.code == .failed else { return nil }
      throw error
    }
  }
}

extension StoredValue {
  /// The bytes of a string; nil for a value of another kind.
  package var string: UnsafeBufferPointer<UInt8>? { kind == 5 ? payload.bindMemory(to: UInt8.self) : nil }

  /// Whether readers without a lock read it from a record.
  package var isShort: Bool { payload.count <= KEPT_RECORDS_TEXT && isPlain && kind != 6 }

  /// Whether the bytes are those of a value; false if that takes more than a look.
  var isPlain: Bool {
    switch kind {
    case 1: payload.count == 1 && payload[0] <= 1
    case 2, 4: payload.count == 8
    case 5: payload.isPlainText
    case 6: true
    default: false
    }
  }
}

extension StoredValue {
  /// Whether it is stored as another value is.
  package func isSame(as other: StoredValue) -> Bool { kind == other.kind && payload.isSame(as: other.payload) }
}

extension UnsafeRawBufferPointer {
  /// Whether all bytes are ASCII, and none is 0.
  var isPlainText: Bool { kept_is_plain_text(baseAddress, count) }
}

extension Value {
  var storedKind: UInt8 {
    switch self {
    case .null: 0
    case .bool: 1
    case .int: 2
    case .uint: 3
    case .double: 4
    case .string: 5
    case .bytes: 6
    case .date: 7
    case .array: 8
    case .dictionary: 9
    }
  }

  /// Passes the stored form to `body`; its bytes are valid during the call.
  package func withStored(_ body: (StoredValue) throws(StoreError) -> Void) throws(StoreError) {
    func pass(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
      try body(StoredValue(kind: storedKind, payload: bytes))
    }
    func pass(number: some FixedWidthInteger) throws(StoreError) {
      try withUnsafeBytes(of: number.littleEndian) { bytes throws(StoreError) in try pass(bytes) }
    }
    switch self {
    case .null: try pass(UnsafeRawBufferPointer(start: nil, count: 0))
    case .bool(let value): try pass(number: value ? 1 : 0 as UInt8)
    case .int(let value): try pass(number: value)
    case .uint(let value): try pass(number: value)
    case .double(let value): try pass(number: value.bitPattern)
    case .string(let text):
      try ExactString(text).withBytes { text throws(StoreError) in try pass(UnsafeRawBufferPointer(text)) }
    case .bytes(let bytes):
      try bytes.withUnsafeBytes { bytes in Result { () throws(StoreError) in try pass(bytes) } }.get()
    case .date(let date):
      var words: (Int64, Int32) = (date.seconds.littleEndian, date.nanoseconds.littleEndian)
      try withUnsafeBytes(of: &words) { bytes throws(StoreError) in
        try pass(UnsafeRawBufferPointer(rebasing: bytes[..<12]))
      }
    case .array, .dictionary:
      try withJSON { text throws(StoreError) in try pass(UnsafeRawBufferPointer(text)) }
    }
  }
}
