// Reads the content of a row of the table `history`; PastChanges.swift describes it. Another program may have written
// any bytes, so nothing is believed.

import KeptValues

/// The value that a change has replaced, in the bytes of a row.
struct PackedChange {
  let revision: Revision
  /// Milliseconds since 1970.
  let time: Int64
  let form: PastForm
  /// The revision of the first change that folds into it.
  let first: Revision
  /// Whether it leaves a part of another commit.
  let isTorn: Bool
  /// Where it lies in the row.
  let place: Range<Int>
  private let tagBytes: Int?
  private let keyBytes: Int
  private let kindBytes: Int

  static let folded: UInt16 = 0x7FFF
  static let torn: UInt16 = 0x8000
  /// How many revisions before a change the first one may be that folds into it.
  static let mostFolded = Revision(folded)

  /// Reads the change at an offset; nil if there is no whole one.
  private init?(_ bytes: UnsafeRawBufferPointer, at start: Int) {
    guard start + PastChanges.headBytes <= bytes.count else { return nil }
    func number<Number: FixedWidthInteger>(_ offset: Int, _ type: Number.Type) -> Number {
      Number(littleEndian: bytes.loadUnaligned(fromByteOffset: start + offset, as: type))
    }
    guard let form = PastForm(rawValue: number(20, UInt8.self)) else { return nil }
    let tag = number(16, UInt16.self)
    let value = Int(number(24, UInt32.self))
    (revision, time, self.form) = (number(0, UInt64.self), number(8, Int64.self), form)
    let fold = number(22, UInt16.self)
    (first, isTorn) = (revision - min(revision, Revision(fold & Self.folded)), fold & Self.torn != 0)
    tagBytes = tag == PastChanges.noTag ? nil : Int(tag)
    (keyBytes, kindBytes) = (Int(number(18, UInt16.self)), Int(number(21, UInt8.self)))
    let length = PastChanges.headBytes + (tagBytes ?? 0) + keyBytes + kindBytes + value
    guard length <= bytes.count - start else { return nil }
    place = start..<start + length
    switch form {
    case .integer, .real: guard value == 8 else { return nil }
    case .large: guard value == 12 else { return nil }
    default: break
    }
  }

  /// Calls `body` with each change of a row.
  ///
  /// - Returns: whether the row was whole.
  static func forEach<Failure: Error>(
    _ bytes: UnsafeRawBufferPointer, _ body: (PackedChange) throws(Failure) -> Void
  ) throws(Failure) -> Bool {
    var at = 0
    while at < bytes.count {
      guard let change = PackedChange(bytes, at: at) else { return false }
      try body(change)
      at = change.place.upperBound
    }
    return true
  }

  func tag(in bytes: UnsafeRawBufferPointer) -> String? {
    guard let tagBytes else { return nil }
    let start = place.lowerBound + PastChanges.headBytes
    return String(exactly: part(start..<start + tagBytes, bytes))
  }

  func key(in bytes: UnsafeRawBufferPointer) -> UnsafeBufferPointer<UInt8> {
    let start = place.lowerBound + PastChanges.headBytes + (tagBytes ?? 0)
    return part(start..<start + keyBytes, bytes)
  }

  func kind(in bytes: UnsafeRawBufferPointer) -> UnsafeBufferPointer<UInt8> {
    let start = valueStart - kindBytes
    return part(start..<valueStart, bytes)
  }

  func value(in bytes: UnsafeRawBufferPointer) -> UnsafeBufferPointer<UInt8> {
    part(valueStart..<place.upperBound, bytes)
  }

  /// The value as a number, for the forms `integer`, `real` and `large`.
  func number(in bytes: UnsafeRawBufferPointer) -> Int64 {
    Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: valueStart, as: Int64.self))
  }

  /// The bytes that the limits count.
  func total(in bytes: UnsafeRawBufferPointer) -> Int {
    let value = place.upperBound - valueStart
    guard form == .large else { return 32 + keyBytes + value }
    let large = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: valueStart + 8, as: UInt32.self))
    return 32 + keyBytes + Int(large)
  }

  /// Appends the change to others, without what it replaced if a reason is given.
  func append(to others: inout [UInt8], _ bytes: UnsafeRawBufferPointer, _ reason: PastForm?) {
    guard let reason else { return others.append(contentsOf: bytes[place]) }
    let start = others.count
    others.append(contentsOf: bytes[place.lowerBound..<valueStart - kindBytes])
    others[start + 20] = reason.rawValue
    for zero in [21, 24, 25, 26, 27] { others[start + zero] = 0 }
  }

  private var valueStart: Int {
    place.lowerBound + PastChanges.headBytes + (tagBytes ?? 0) + keyBytes + kindBytes
  }

  private func part(_ range: Range<Int>, _ bytes: UnsafeRawBufferPointer) -> UnsafeBufferPointer<UInt8> {
    UnsafeRawBufferPointer(rebasing: bytes[range]).bindMemory(to: UInt8.self)
  }
}
