// What a binary property list may contain, and that a malicious one does no harm.

import Testing

@testable import KeptCore
@testable import KeptFormats

@Suite struct BinaryPropertyListTests {
  /// A file of some objects, the first one being the root; offsets have 4 bytes, references 1.
  private func file(_ objects: [[UInt8]], offsets: [Int]? = nil, root: UInt8 = 0, count: Int? = nil) -> [UInt8] {
    var bytes = Array("bplist00".utf8)
    var places: [Int] = []
    for object in objects {
      places.append(bytes.count)
      bytes += object
    }
    let table = bytes.count
    for place in offsets ?? places { bytes += bigEndian(place, 4) }
    return bytes + [0, 0, 0, 0, 0, 0, 4, 1] + bigEndian(count ?? (offsets ?? places).count, 8) + bigEndian(Int(root), 8)
      + bigEndian(table, 8)
  }

  private func bigEndian(_ number: Int, _ size: Int) -> [UInt8] {
    (0..<size).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }

  /// A dictionary with one member, `k`, whose value is the third object.
  private func member(_ value: [UInt8], _ others: [UInt8]...) -> [UInt8] {
    file([[0xD1, 1, 2], [0x51, UInt8(ascii: "k")], value] + others)
  }

  private func read(_ bytes: [UInt8]) throws -> ForeignReading { try ForeignReading(bytes, .propertyList) }

  @Test func `scalars are read in every width`() throws {
    #expect(try read(member([0x10, 0xFF])).carried == ["k = 255"])
    #expect(try read(member([0x11, 0xFF, 0xFE])).carried == ["k = 65534"])
    #expect(try read(member([0x12, 0xFF, 0, 0, 0])).carried == ["k = 4278190080"])
    #expect(try read(member([0x13] + [UInt8](repeating: 0xFF, count: 8))).carried == ["k = -1"])
    let large: [UInt8] = [0x14] + [UInt8](repeating: 0, count: 8) + [0x80] + [UInt8](repeating: 0, count: 7)
    #expect(try read(member(large)).carried == [#"k = {"$numberULong":"9223372036854775808"}"#])
    #expect(try read(member([0x14] + [UInt8](repeating: 0xFF, count: 16))).carried == ["k = -1"])
    #expect(try read(member([0x22, 0x3F, 0xC0, 0, 0])).carried == ["k = 1.5"])
    #expect(try read(member([0x23, 0x7F, 0xF8, 0, 0, 0, 0, 0, 0])).carried == [#"k = {"$numberDouble":"NaN"}"#])
    #expect(
      try read(member([0x33, 0x3F, 0xD0, 0, 0, 0, 0, 0, 0])).carried == [#"k = {"$date":"2001-01-01T00:00:00.25Z"}"#])
    #expect(
      try read(member([0x33, 0xBF, 0xD0, 0, 0, 0, 0, 0, 0])).carried == [#"k = {"$date":"2000-12-31T23:59:59.75Z"}"#])
    #expect(try read(member([0x62, 0x00, 0xE9, 0x00, 0x41])).carried == [#"k = "éA""#])
    #expect(try read(member([0x5F, 0x10, 0x02, 0x61, 0x62])).carried == [#"k = "ab""#])
    #expect(try read(member([0xA2, 3, 4], [0x00], [0x09])).carried == ["k = [null,true]"])
  }

  @Test func `what Kept cannot hold is reported with its key`() throws {
    let uid = Base64.decode(
      "YnBsaXN0MDDTAQIDBAgJVGRlZXBSb2tTcmVmoQXRBgdReIACEAGAAQgPFBcbHSAiJCYAAAAAAAABAQAAAAAAAAAKAAAAAAAAAAAAAAAAAAAAKA=="
    )
    let archive = try read(uid ?? [])
    #expect(archive.carried == ["ok = 1"])
    #expect(archive.reported.map { $0.prefix { $0 != ":" } } == ["deep", "ref"])
    for object: [UInt8] in [
      [0x00], [0x80, 1], [0x14] + [UInt8](repeating: 1, count: 16), [0x33, 0x7F, 0xF8, 0, 0, 0, 0, 0, 0],
      [0x33, 0x7F, 0xEF, 0, 0, 0, 0, 0, 0], [0x33, 0xFF, 0xF0, 0, 0, 0, 0, 0, 0], [0x61, 0xD8, 0x00],
    ] {
      let read = try read(member(object))
      #expect(read.carried == [])
      #expect(read.reported.count == 1 && read.reported.first?.hasPrefix("k: ") == true)
    }
  }

  @Test func `a set is an array, which is said, and so is a key that is no text`() throws {
    let set = try read(member([0xC2, 3, 3], [0x09]))
    #expect(set.carried == ["k = [true,true]"])
    #expect(set.reported == ["k: a set is carried as an array"])
    let keys = try read(member([0xD1, 3, 3], [0x09]))
    #expect(keys.reported == ["k: a dictionary has a key that is no text"])
    let root = try read(file([[0xD1, 1, 1], [0x09]]))
    #expect(root.reported == ["a member: its key is no text"])
    let twice = try read(file([[0xD2, 1, 1, 2, 3], [0x51, 0x6B], [0x08], [0x09]]))
    #expect(twice.carried == ["k = true"])
    #expect(twice.reported.count == 1)
  }

  @Test func `objects that are referred to often are read once`() throws {
    // Each array contains the next one twice: the value would have 2 to the 30 elements.
    var objects: [[UInt8]] = [[0xD1, 1, 2], [0x51, 0x6B]]
    for index in 2..<32 { objects.append([0xA2, UInt8(index + 1), UInt8(index + 1)]) }
    objects.append([0x09])
    let read = try read(file(objects))
    #expect(read.carried == [])
    #expect(read.reported == ["k: the value has more than 16777216 bytes"])
  }

  @Test func `a long text that stands for many is refused before it is multiplied`() {
    // 255 members, all with the same text of a megabyte in an array.
    let text = [0x5F, 0x13] + bigEndian(1 << 20, 8) + [UInt8](repeating: 0x61, count: 1 << 20)
    var objects: [[UInt8]] = [[0xDF, 0x10, 252], text, [0xA1, 1]]
    objects[0] += (3..<255).map { UInt8($0) } + [UInt8](repeating: 2, count: 252)
    for index in 3..<255 { objects.append([0x52, UInt8(index) & 0x7F, 0x61]) }
    #expect(foreignRefusal(file(objects), .propertyList)?.code == .tooLarge)
  }

  @Test func `an object in itself is refused`() {
    #expect(foreignRefusal(member([0xA1, 2]), .propertyList)?.message.contains("contains itself") == true)
    #expect(
      foreignRefusal(member([0xA1, 3], [0xD1, 1, 2]), .propertyList)?.message.contains("contains itself") == true)
    #expect(foreignRefusal(member([0xA1, 0]), .propertyList)?.message.contains("contains itself") == true)
  }

  @Test func `values are carried up to a depth, however they are put together`() throws {
    func chain(_ depth: Int) -> [[UInt8]] { (0..<depth).map { $0 == 0 ? [0xA0] : [0xA1, UInt8($0 + 2)] } }
    func list(_ depth: Int) -> [UInt8] {
      // The last one of the chain is the value: reading it recurses through the others.
      file([[0xD1, 1, UInt8(depth + 2)], [0x51, 0x6B], [0x09]] + chain(depth))
    }
    #expect(try read(list(40)).carried.count == 1)
    #expect(foreignRefusal(list(41), .propertyList)?.code == .tooLarge)
    // The deeper part has been read already when the rest is read around it.
    var objects: [[UInt8]] = [[0xD2, 1, 2, 42, 82], [0x51, 0x61], [0x51, 0x62]]
    objects += (0..<80).map { $0 == 0 ? [0xA0] : [0xA1, UInt8($0 + 2)] }
    #expect(foreignRefusal(file(objects), .propertyList)?.code == .tooLarge)
  }

  @Test func `numbers that point out of the file are refused`() {
    let good = file([[0xD1, 1, 2], [0x51, 0x6B], [0x09]])
    let trailer = good.count - 32
    for (place, byte): (Int, UInt8) in [
      (6, 0), (6, 9), (7, 0), (7, 255), (8, 0x7F), (8, 0xFF), (15, 0), (15, 200), (16, 0xFF), (23, 3), (24, 0x80),
      (31, 0), (31, 7), (31, 255),
    ] {
      var bytes = good
      bytes[trailer + place] = byte
      #expect(foreignRefusal(bytes, .propertyList)?.code == .invalid, "\(place)")
    }
    for offset in [0, 7, 1 << 20, good.count - 1, Int(UInt32.max)] {
      #expect(foreignRefusal(file([[0xD1, 1, 1], [0x09]], offsets: [8, offset]), .propertyList) != nil)
    }
    for object: [UInt8] in [
      [0xA1, 9], [0xAF, 0x13, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [0x4F, 0x12, 0xFF, 0xFF, 0xFF, 0xFF],
      [0xDF, 0x11, 0xFF, 0xFF], [0x6F, 0x10, 0x20], [0x5F, 0x09], [0x5F, 0x14], [0x13, 1], [0x23], [0x21, 1, 2],
      [0x15], [0x1F], [0x01], [0x0F], [0x70], [0x90], [0xE0], [0xF0], [0x52, 0x61, 0x80], [0x52], [0x33],
    ] {
      #expect(foreignRefusal(member(object), .propertyList)?.code == .invalid, "\(object)")
    }
  }

  @Test func `objects that overlap may not have more bytes than the file`() {
    // The same long array at 200 places, each time as a different object.
    let array: [UInt8] = [0xAF, 0x10, 200] + [UInt8](repeating: 1, count: 200)
    var root: [UInt8] = [0xAF, 0x10, 200]
    root += (3..<203).map { UInt8($0) }
    let start = 8 + 3 + 2
    let offsets = [8, 11, start] + [Int](repeating: start + root.count, count: 200)
    let bytes = file([[0xD1, 1, 2], [0x51, 0x6B], root, array], offsets: offsets)
    #expect(foreignRefusal(bytes, .propertyList)?.message.contains("overlap") == true)
  }

  @Test func `a root that is no dictionary is refused`() {
    #expect(foreignRefusal(file([[0xA0]]), .propertyList)?.message.contains("must be a dictionary") == true)
    #expect(foreignRefusal(file([[0x09]]), .propertyList)?.code == .invalid)
  }

  @Test func `a cut or changed file is read or refused`() throws {
    let bytes = ForeignPropertyListTests.binary
    try expectNoHarmFromCuts(bytes, .propertyList, refusesCuts: true)
    for place in bytes.indices {
      for bit in 0..<8 {
        var changed = bytes
        changed[place] ^= 1 << bit
        if (try? read(changed)) == nil { _ = foreignRefusal(changed, .propertyList) }
      }
    }
  }
}
