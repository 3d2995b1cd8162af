// Frames in a journal: the written ones are read, and no others.

import CPlatform
import KeptEngine
import KeptValues
import Testing

@Suite struct JournalTests {
  private let folder: TestFolder
  private let journal: Journal

  init() throws {
    folder = try TestFolder()
    let header = JournalHeader(store: .random(), journal: 7, number: 3)
    try Journal.make(header, in: folder.make("journal.3"))
    let file = folder.open("journal.3")
    #expect(try Journal.header(of: file) == header)
    journal = Journal(file, header, begin: 4096)
  }

  /// A change as text.
  private func described(_ change: FrameChange) throws -> String {
    let key = change.key.isEmpty ? "" : try change.keyName().text
    switch change.effect {
    case .value: return "\(key)=\(try change.value().json)"
    case .declared, .historyLimits: return "\(key) \(change.effect) \(try change.json())"
    case .schemaVersion: return "schema \(try change.schemaVersion())"
    default: return "\(key) \(change.effect)"
    }
  }

  /// All frames from the beginning, each as its revision and its changes.
  private func read(upTo limit: Position? = nil) throws -> (frames: [String], scanner: FrameScanner) {
    let scanner = try FrameScanner(journal, at: journal.first(after: 99), upTo: limit)
    var frames: [String] = []
    while let frame = try scanner.read() {
      var changes: [String] = []
      // A closure with untyped errors cannot be passed.
      try frame.forEachChange { change throws(StoreError) in
        changes.append((try? described(change)) ?? "malformed")
      }
      frames.append("\(frame.head.revision) \(frame.head.tag ?? "-"): \(changes.joined(separator: ", "))")
    }
    return (frames, scanner)
  }

  /// The revisions of the frames in a file that has replaced the journal's.
  private func read(journal file: StoreFile) throws -> [Revision] {
    let replaced = Journal(file, journal.header, begin: journal.begin)
    let scanner = try FrameScanner(replaced, at: replaced.first(after: 99))
    var revisions: [Revision] = []
    while let frame = try scanner.read() { revisions.append(frame.head.revision) }
    return revisions
  }

  private func write(_ build: (FrameWriter) throws -> Void) throws -> FramePlace {
    let writer = FrameWriter()
    writer.begin(at: journal.first(after: 99))
    try build(writer)
    try journal.write(writer.bytes, at: journal.begin)
    return writer.place
  }

  @Test func `zeros are written ahead after short frames alone`() throws {
    let size = try journal.file.size()
    let end = journal.begin + Position(size - JournalHeader.frames)
    try journal.writeAhead(of: end, after: 64 << 10)
    #expect(try journal.file.size() == size)
    try journal.writeAhead(of: end, after: 64)
    #expect(try journal.file.size() > size)
  }

  @Test func `every kind of change is read as it was written`() throws {
    let end = try write { writer in
      try writer.begin(FrameHead(writer: 1, revision: 10, time: 5, tag: "käse"))
      try writer.add(.int(-3), for: "a")
      try writer.add(.string("x\u{0}y"), for: "b")
      try writer.add(.bytes([0, 255]), for: "c")
      try writer.add(.date(Timestamp(seconds: -1, nanoseconds: 7)), for: "d")
      try writer.add(.array([.null, .double(0.5)]), for: "e")
      try writer.add(.uint(.max), for: "f")
      try writer.add(.bool(true), for: "g")
      try writer.end()
      try writer.begin(FrameHead(writer: 1, revision: 11, time: 6))
      try writer.add(.removed, for: "a")
      try writer.add(.declared, #"{"type":"string"}"#, for: "b")
      try writer.add(.undeclared, for: "c")
      try writer.add(schemaVersion: 4)
      try writer.add(.historyLimits, "{}")
      try writer.add(.acknowledged)
      try writer.end()
    }
    let (frames, scanner) = try read()
    #expect(
      frames == [
        #"10 käse: a=-3, b="x\u0000y", c={"$binary":{"base64":"AP8=","subType":"00"}}, "#
          + #"d={"$date":"1969-12-31T23:59:59.000000007Z"}, e=[null,0.5], f={"$numberULong":"18446744073709551615"}, "#
          + "g=true",
        #"11 -: a removed, b declared {"type":"string"}, c undeclared, schema 4,  historyLimits {},  acknowledged"#,
      ])
    #expect(scanner.place == end)
    #expect(scanner.next == nil)
  }

  @Test func `reading ends at the limit, and not with the last frame that verifies`() throws {
    var places: [Position] = []
    _ = try write { writer in
      for revision in 1...5 as ClosedRange<UInt64> {
        try writer.begin(FrameHead(writer: 1, revision: revision, time: 0))
        try writer.add(.int(1), for: "k")
        try writer.end()
        places.append(writer.place.position)
      }
    }
    #expect(try read(upTo: places[2]).frames.count == 3)
    #expect(try read(upTo: places[2] + 8).frames.count == 3)
    #expect(try read().frames.count == 5)
  }

  @Test func `a seal ends the journal, and names the next one`() throws {
    let end = try write { writer in
      try writer.begin(FrameHead(writer: 1, revision: 1, time: 0))
      try writer.add(.int(1), for: "k")
      try writer.end()
      try writer.seal(next: 1234)
    }
    let (frames, scanner) = try read()
    #expect(frames.count == 1)
    #expect(scanner.next == 1234)
    #expect(scanner.place == end)
    #expect(end.journal == 1234)
  }

  @Test func `a commit that was not ended is dropped by the next one and by a seal`() throws {
    _ = try write { writer in
      for (revision, key) in [(1, "a"), (2, "b"), (3, "c")] as [(Revision, KeyName)] {
        try writer.begin(FrameHead(writer: 1, revision: revision, time: 0))
        try writer.add(.int(1), for: key)
        if revision == 2 { try writer.end() }
      }
      try writer.seal(next: 5)
    }
    let (frames, scanner) = try read()
    #expect(frames == ["2 -: b=1"] && scanner.next == 5)
  }

  @Test func `a copy of removals has no payload: a full disk has room for it`() throws {
    let (one, other) = (FrameWriter(), FrameWriter())
    for writer in [one, other] {
      writer.begin(at: journal.first(after: 99))
      try writer.begin(FrameHead(writer: 1, revision: 1, time: 0))
    }
    let start = one.mark
    try one.add(.removed, for: "a")
    let end = one.mark
    try one.end()
    try other.add(one, from: start, to: end)
    #expect(!other.hasPayload)
  }

  @Test func `a frame at another place, or behind another one, does not verify`() throws {
    _ = try write { writer in
      try writer.begin(FrameHead(writer: 1, revision: 1, time: 0))
      try writer.add(.int(1), for: "k")
      try writer.end()
    }
    #expect(try read().frames.count == 1)
    var place = journal.first(after: 98)
    #expect(try FrameScanner(journal, at: place).read() == nil)
    place = journal.first(after: 99)
    place.journal = 8
    #expect(try FrameScanner(journal, at: place).read() == nil)
    let moved = Journal(journal.file, journal.header, begin: journal.begin + 8)
    #expect(try FrameScanner(moved, at: moved.first(after: 99)).read() == nil)
  }

  @Test(arguments: [40, 4000, 70_000, 1 << 20]) func `each damaged byte ends reading before its frame`(size: Int) throws
  {
    var first: Position = 0
    _ = try write { writer in
      for revision in 1...3 as ClosedRange<UInt64> {
        try writer.begin(FrameHead(writer: 1, revision: revision, time: 0))
        try writer.add(.bytes(Array(repeating: 7, count: size)), for: "k")
        try writer.end()
        if revision == 1 { first = writer.place.position - journal.begin }
      }
    }
    #expect(try read().frames.count == 3)
    let original = try folder.contents("journal.3")
    let start = JournalHeader.frames + Int(first)
    for offset in stride(from: 0, to: Int(first), by: max(1, Int(first) / 97)) {
      var bytes = original
      bytes[start + offset] ^= 0x10
      try folder.write(bytes, to: "journal.3")
      #expect(try read(journal: folder.open("journal.3")).count == 1, "byte \(offset)")
    }
  }

  @Test func `a truncated journal has the frames that are whole`() throws {
    var ends: [Int] = []
    _ = try write { writer in
      for revision in 1...4 as ClosedRange<UInt64> {
        try writer.begin(FrameHead(writer: 1, revision: revision, time: 0))
        try writer.add(.bytes(Array(repeating: 7, count: 100)), for: "k")
        try writer.end()
        ends.append(JournalHeader.frames + Int(writer.place.position - journal.begin))
      }
    }
    let original = try folder.contents("journal.3")
    for size in stride(from: JournalHeader.frames, to: ends[3] + 16, by: 7) {
      try folder.write(Array(original[..<size]), to: "journal.3")
      #expect(try read(journal: folder.open("journal.3")).count == ends.filter { $0 <= size }.count, "\(size) bytes")
    }
  }

  @Test func `malformed changes under a right checksum are damage and no crash`() throws {
    var numbers = SeededRandom(1)
    for _ in 0..<2000 {
      var bytes = (0..<Int.random(in: 5...20, using: &numbers) * 8).map { _ in
        UInt8.random(in: 0...9, using: &numbers) < 8 ? UInt8.random(in: 0...6, using: &numbers) : 255
      }
      let length = UInt32(bytes.count)
      for index in 0..<4 { bytes[index] = UInt8(truncatingIfNeeded: length >> (8 * index)) }
      let place = journal.first(after: 99)
      let sum = bytes.withUnsafeBytes { kept_test_checksum(place, $0) }
      for index in 0..<4 { bytes[4 + index] = UInt8(truncatingIfNeeded: sum >> (8 * index)) }
      try bytes.withUnsafeBytes { try journal.file.write($0, at: JournalHeader.frames) }
      let scanner = try FrameScanner(journal, at: place)
      do {
        guard let frame = try scanner.read() else {
          Issue.record("it does not verify")
          continue
        }
        try frame.forEachChange { change throws(StoreError) in
          _ = try? change.keyName()
          _ = try? change.value()
          _ = try? change.json()
          _ = try? change.schemaVersion()
        }
      } catch {
        #expect(error.code == .corrupt)
      }
    }
  }

  @Test func `a damaged head is not a journal`() throws {
    let original = try folder.contents("journal.3")
    for byte in 0..<48 {
      var bytes = original
      bytes[byte] ^= 1
      try folder.write(bytes, to: "journal.3")
      // Its copy is whole.
      #expect(try Journal.header(of: folder.open("journal.3"))?.number == 3, "byte \(byte)")
      bytes[256 + byte] ^= 2
      try folder.write(bytes, to: "journal.3")
      #expect(try Journal.header(of: folder.open("journal.3")) == nil, "byte \(byte)")
    }
    try folder.write(Array(original[..<47]), to: "journal.3")
    #expect(try Journal.header(of: folder.open("journal.3")) == nil)
    try folder.write([], to: "journal.3")
    #expect(try Journal.header(of: folder.open("journal.3")) == nil)
  }
}

/// The checksum of a frame, computed apart from the engine.
private func kept_test_checksum(_ place: FramePlace, _ frame: UnsafeRawBufferPointer) -> UInt32 {
  var sum: UInt32 = 0
  for word in [place.journal, place.position, UInt64(place.previous)] {
    withUnsafeBytes(of: word.littleEndian) { sum = kept_checksum(sum, $0.baseAddress, $0.count) }
  }
  sum = kept_checksum(sum, frame.baseAddress, 4)
  return kept_checksum(sum, frame.baseAddress.map { $0 + 8 }, frame.count - 8)
}
