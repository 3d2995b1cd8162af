// Reads frames that were copied out of the journal. Everything in them is checked before it is used: the checksum finds
// damage, and a file that someone else made may have any bytes under a right checksum.

import CPlatform
import KeptSystem
import KeptValues

/// One frame in a buffer, whose checksum was right.
struct FrameReader {
  let head: FrameHead
  /// The bytes of the frame in the ring.
  let length: Int
  /// The content at the place of the next frame.
  let checksum: UInt32
  /// Whether it only fills the end of the ring; then it has no changes, and its head has no meaning.
  let isPadding: Bool
  /// How many changes it has.
  let count: Int
  private let changes: UnsafeRawBufferPointer

  /// Reads the frame at the beginning of a buffer.
  ///
  /// - Returns: nil if there is no whole frame for this place.
  init?(_ bytes: UnsafeRawBufferPointer, at place: FramePlace) {
    guard let word = bytes.number(0, UInt32.self), let found = bytes.number(4, UInt32.self) else { return nil }
    isPadding = word & 7 == 1
    length = Self.length(of: bytes)
    guard isPadding || word & 7 == 0, length <= bytes.count else { return nil }
    guard length >= (isPadding ? FrameFormat.paddingBytes : FrameFormat.headBytes) else { return nil }
    let frame = UnsafeRawBufferPointer(rebasing: bytes[..<length])
    let end = isPadding ? FrameFormat.paddingBytes : length
    guard place.checksum(of: frame, upTo: end) == found else { return nil }
    checksum = found
    if isPadding {
      head = FrameHead(writer: 0, revision: 0, time: 0, tag: nil)
      (count, changes) = (0, UnsafeRawBufferPointer(start: nil, count: 0))
      return
    }
    guard let writer = frame.number(8, UInt64.self), let revision = frame.number(16, UInt64.self),
      let time = frame.number(24, Int64.self), let count = frame.number(32, UInt32.self),
      let tagLength = frame.number(36, UInt16.self)
    else { return nil }
    let tagEnd = FrameFormat.headBytes + (tagLength == FrameFormat.noTag ? 0 : Int(tagLength))
    guard tagEnd <= length else { return nil }
    let tag = tagLength == FrameFormat.noTag ? nil : frame.text(FrameFormat.headBytes..<tagEnd)
    guard tag != nil || tagLength == FrameFormat.noTag else { return nil }
    head = FrameHead(writer: writer, revision: revision, time: time, tag: tag)
    self.count = Int(count)
    changes = UnsafeRawBufferPointer(rebasing: frame[tagEnd...])
  }

  /// The length that the beginning of a frame says, which may be damaged; 0 if the buffer has none.
  static func length(of bytes: UnsafeRawBufferPointer) -> Int { bytes.number(0, UInt32.self).map { Int($0 & ~7) } ?? 0 }

  /// One change, whose bytes are those of the buffer.
  struct Change {
    let effect: FrameEffect
    /// The bytes of the key, which may be no valid key.
    let key: UnsafeBufferPointer<UInt8>
    fileprivate let kind: UInt8
    let payload: UnsafeRawBufferPointer
  }

  /// Calls `body` with each change, in the order of the commit.
  ///
  /// Throws `corrupt` if the content does not have the form that its head says.
  func forEachChange(_ body: (Change) throws(StoreError) -> Void) throws(StoreError) {
    var at = 0
    for _ in 0..<count {
      let start = at + FrameFormat.changeBytes
      guard start <= changes.count, let effect = FrameEffect(rawValue: changes[at]) else { throw Self.malformed }
      let kind = changes[at + 1]
      let keyEnd = start + Int(UInt16(littleEndian: changes.loadUnaligned(fromByteOffset: at + 2, as: UInt16.self)))
      let end = keyEnd + Int(UInt32(littleEndian: changes.loadUnaligned(fromByteOffset: at + 4, as: UInt32.self)))
      guard end <= changes.count else { throw Self.malformed }
      let key = UnsafeRawBufferPointer(rebasing: changes[start..<keyEnd])
      let payload = UnsafeRawBufferPointer(rebasing: changes[keyEnd..<end])
      try body(Change(effect: effect, key: key.bindMemory(to: UInt8.self), kind: kind, payload: payload))
      at = end
    }
  }

  fileprivate static var malformed: StoreError {
    StoreError(.corrupt, "a frame of the journal has a valid checksum but an invalid form; another program wrote it")
  }
}

extension FrameReader.Change {
  /// The key.
  func keyName() throws(StoreError) -> KeyName {
    guard let text = String(exactly: key), let name = try? KeyName(text) else { throw FrameReader.malformed }
    return name
  }

  /// The value, for the effect `value`.
  func value() throws(StoreError) -> Value {
    guard let value = try readValue() else { throw FrameReader.malformed }
    return value
  }

  /// The id of the body or the bodies, for the effects `staged` and `bulk`.
  func body() throws(StoreError) -> UInt64 { try number() }

  /// The text of the declaration, for the effect `declared`.
  func declaration() throws(StoreError) -> String {
    guard let text = String(exactly: payload.bindMemory(to: UInt8.self)) else { throw FrameReader.malformed }
    return text
  }

  /// The version, for the effect `schemaVersion`.
  func schemaVersion() throws(StoreError) -> UInt32 { try number() }

  private func number<Number: FixedWidthInteger>() throws(StoreError) -> Number {
    guard let number = payload.number(0, Number.self), payload.count == Number.bitWidth / 8 else {
      throw FrameReader.malformed
    }
    return number
  }

  private func readValue() throws(StoreError) -> Value? {
    switch kind {
    case Value.Kind.bool.number:
      let number: UInt8 = try number()
      return number <= 1 ? .bool(number == 1) : nil
    case Value.Kind.int.number: return .int(try number())
    case Value.Kind.uint.number: return .uint(try number())
    case Value.Kind.double.number: return .double(Double(bitPattern: try number()))
    case Value.Kind.string.number: return String(exactly: payload.bindMemory(to: UInt8.self)).map { .string($0) }
    case Value.Kind.bytes.number: return .bytes(Array(payload))
    case Value.Kind.date.number:
      guard payload.count == 12, let seconds = payload.number(0, Int64.self),
        let nanoseconds = payload.number(8, Int32.self)
      else { return nil }
      return (try? Timestamp(seconds: seconds, nanoseconds: nanoseconds)).map { .date($0) }
    case Value.Kind.array.number, Value.Kind.dictionary.number:
      let value: Value
      do throws(StoreError) { value = try Value(jsonBytes: payload.bindMemory(to: UInt8.self)) } catch {
        guard error.code == .failed else { return nil }
        throw error
      }
      return value.kind.number == kind ? value : nil
    default: return nil
    }
  }
}

extension UnsafeRawBufferPointer {
  /// The number at an offset; nil if it does not lie in the buffer.
  @inline(__always)
  fileprivate func number<Number: FixedWidthInteger>(_ offset: Int, _ type: Number.Type) -> Number? {
    guard offset >= 0, offset <= count - Number.bitWidth / 8 else { return nil }
    return Number(littleEndian: loadUnaligned(fromByteOffset: offset, as: type))
  }

  fileprivate func text(_ range: Range<Int>) -> String? {
    String(exactly: UnsafeRawBufferPointer(rebasing: self[range]).bindMemory(to: UInt8.self))
  }
}
