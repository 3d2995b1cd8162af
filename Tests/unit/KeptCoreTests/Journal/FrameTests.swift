// Frames of the journal: written frames are read, and nothing else is.

import CPlatform
@testable import KeptValues
import Testing

@testable import KeptCore

/// What the tests compare of a change.
struct FoundChange: Equatable {
  var effect: FrameEffect
  var key: String
  var value: Value?
}

extension FrameReader {
  func found() throws -> [FoundChange] {
    var found: [FoundChange] = []
    try forEachChange { change throws(StoreError) in
      let value = change.effect == .value ? try change.value() : nil
      found.append(FoundChange(effect: change.effect, key: String(decoding: change.key, as: UTF8.self), value: value))
    }
    return found
  }
}

extension FrameWriter {
  var copy: [UInt8] { Array(bytes) }
}

extension Array<UInt8> {
  func frame(at place: FramePlace) -> FrameReader? { withUnsafeBytes { FrameReader($0, at: place) } }

  /// Reads the changes of a frame while its bytes are there.
  func changes(at place: FramePlace) throws -> [FoundChange]? {
    try withUnsafeBytes { try FrameReader($0, at: place)?.found() }
  }
}

@Suite struct `A frame` {
  let place = FramePlace(journal: 7, position: 4096, previous: 0xABCD)
  let head = FrameHead(writer: 3, revision: 12, time: 1_700_000_000_123_456_789, tag: "player")

  private static let values: [Value] = [
    true, false, 0, -1, .int(.max), .int(.min), .uint(.max), 0.5, .double(-0.0), .double(.nan), .double(.infinity), "",
    "ä€😀", .string(String(repeating: "x", count: 20_000)), .bytes([]), .bytes([0, 255]),
    [], [1, "x", .null, [2.5]], [:], ["a": ["b": .bytes([1])]],
  ]

  private func written(_ head: FrameHead, _ body: (FrameWriter) throws -> Void) rethrows -> [UInt8] {
    let writer = FrameWriter(capacity: 64)
    writer.begin(head)
    try body(writer)
    _ = writer.end(at: place)
    return writer.copy
  }

  @Test func `returns the values that were written`() throws {
    let dates = try [(-62_167_219_200, 0), (1, 999_999_999)].map {
      Value.date(try Timestamp(seconds: $0, nanoseconds: $1))
    }
    let values = Self.values + dates
    let keys = try values.indices.map { try KeyName("key.\($0)") }
    let bytes = try written(head) { writer in
      for (key, value) in zip(keys, values) { try writer.add(value, key) }
    }
    #expect(bytes.count % 8 == 0)
    #expect(bytes.frame(at: place)?.head == head)
    let changes = try bytes.changes(at: place)
    #expect(changes?.map(\.value) == values)
    #expect(changes?.map(\.key) == keys.map(\.text))
  }

  @Test func `returns every other effect`() throws {
    let key = try KeyName("k")
    let bytes = try written(FrameHead(writer: 1, revision: 1, time: -5, tag: nil)) { writer in
      try writer.add(.removed, key)
      try writer.add(staged: 9, key)
      try writer.add(declaration: #"{"type":"integer"}"#, key)
      try writer.add(.undeclared, key)
      try writer.add(schemaVersion: 4_000_000_000)
    }
    try bytes.withUnsafeBytes { bytes in
      let frame = try #require(FrameReader(bytes, at: place))
      #expect(frame.head.tag == nil)
      #expect(frame.head.time == -5)
      var effects: [FrameEffect] = []
      try frame.forEachChange { change throws(StoreError) in
        effects.append(change.effect)
        switch change.effect {
        case .staged: #expect(try change.body() == 9)
        case .declared: #expect(try change.declaration() == #"{"type":"integer"}"#)
        case .schemaVersion: #expect(try change.schemaVersion() == 4_000_000_000)
        default: #expect(try change.keyName() == key)
        }
      }
      #expect(effects == [.removed, .staged, .declared, .undeclared, .schemaVersion])
    }
  }

  @Test func `may have an empty tag, and cuts off one that is too long`() {
    #expect(written(FrameHead(writer: 1, revision: 1, time: 0, tag: "")) { _ in }.frame(at: place)?.head.tag == "")
    let long = String(repeating: "t", count: 70_000)
    let bytes = written(FrameHead(writer: 1, revision: 1, time: 0, tag: long)) { _ in }
    #expect(bytes.frame(at: place)?.head.tag == String(long.prefix(FrameFormat.longestTag)))
  }

  @Test func `is not read if any bit of it is another`() throws {
    let bytes = try written(head) { writer in
      try writer.add(70, KeyName("audio.volume"))
      try writer.add("dark", KeyName("theme"))
    }
    for bit in 0..<bytes.count * 8 {
      var damaged = bytes
      damaged[bit / 8] ^= 1 << (bit % 8)
      #expect(damaged.frame(at: place) == nil, "bit \(bit)")
    }
  }

  @Test func `is not read at another place`() throws {
    let key = try KeyName("k")
    let bytes = try written(head) { try $0.add(.removed, key) }
    let others = [
      FramePlace(journal: 8, position: place.position, previous: place.previous),
      FramePlace(journal: 7, position: place.position + 8, previous: place.previous),
      FramePlace(journal: 7, position: place.position, previous: place.previous ^ 1),
    ]
    for other in others { #expect(bytes.frame(at: other) == nil) }
    #expect(bytes.frame(at: place) != nil)
  }

  @Test func `is not read if it is cut off`() throws {
    let bytes = try written(head) { try $0.add("a text", KeyName("k")) }
    for count in 0..<bytes.count { #expect(Array(bytes[..<count]).frame(at: place) == nil) }
  }

  @Test func `of zeros does not exist`() {
    #expect([UInt8](repeating: 0, count: 4096).frame(at: place) == nil)
    #expect([UInt8](repeating: 0, count: 4096).frame(at: FramePlace(journal: 0, position: 0, previous: 0)) == nil)
  }

  @Test func `with a right checksum and any other bytes is refused, or read, without a crash`() {
    var random = SeededRandom(seed: 42)
    for _ in 0..<20_000 {
      var bytes = written(head) { writer in
        for index in 0..<3 { try? writer.add(["a": [1, "text"]], KeyName("key.\(index)")) }
      }
      for _ in 0...Int.random(in: 0..<4, using: &random) {
        bytes[Int.random(in: 32..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      let sum = bytes.withUnsafeBytes { place.checksum(of: $0, upTo: $0.count) }
      for byte in 0..<4 { bytes[4 + byte] = UInt8(truncatingIfNeeded: sum >> (8 * UInt32(byte))) }
      bytes.withUnsafeBytes { bytes in
        guard let frame = FrameReader(bytes, at: place) else { return }
        try? frame.forEachChange { change throws(StoreError) in
          _ = try? change.keyName()
          _ = try? change.value()
          _ = try? change.body()
          _ = try? change.declaration()
          _ = try? change.schemaVersion()
        }
      }
    }
  }
}

@Suite struct `A checksum` {
  @Test func `is CRC-32C`() {
    let digits = Array("123456789".utf8)
    #expect(kept_checksum(0, digits, digits.count) == 0xE306_9283)
    #expect(kept_checksum(0, nil, 0) == 0)
  }

  @Test func `is the same by the instruction of the processor, by the table, and in pieces`() {
    var random = SeededRandom(seed: 7)
    for count in 0..<100 {
      let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
      let sum = kept_checksum(0, bytes, count)
      #expect(~kept_checksum_by_table(~0, bytes, count) == sum)
      let half = count / 2
      #expect(kept_checksum(kept_checksum(0, bytes, half), Array(bytes[half...]), count - half) == sum)
    }
  }
}
