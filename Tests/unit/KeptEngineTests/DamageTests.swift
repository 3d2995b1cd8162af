// Damaged files: a key has its value, or an error, or the store was salvaged and says so; never a wrong value.

import CPlatform
import EngineDamage
import Foundation
@testable import KeptEngine
import KeptSystem
import KeptValues
import Testing

@Suite struct DamageTests {
  private let folder: TestFolder
  // The values that each key has had, the last one being the present one.
  private var values: [KeyName: [Value?]] = [:]
  private var files: [String: [UInt8]] = [:]
  private var yesterday: [String: [UInt8]] = [:]

  /// A store with a checkpoint of two record blocks, a history and a journal, and its files some commits before.
  init() throws {
    folder = try TestFolder()
    let engine = try open()
    var second: Int64 = 0
    func set(_ key: KeyName, _ value: Value?) throws {
      second += 2
      try engine.set(key, value, second: second)
      values[key, default: [nil]].append(value)
    }
    for number in 0..<40 as Range<Int64> {
      try set(KeyName("k\(number)"), .bytes(Array(repeating: UInt8(number), count: 100)))
    }
    try engine.checkpoint()
    try set("k1", .int(1))
    yesterday = try contents()
    try set("k2", nil)
    try engine.checkpoint()
    for number in 30..<34 as Range<Int64> { try set(KeyName("k\(number)"), .int(number)) }
    try set("new", .string("x"))
    files = try contents()
  }

  private func open() throws(StoreError) -> Engine { try Engine(try OpenFolder.own(folder.path)) }

  private func contents() throws -> [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where !name.hasPrefix("q") {
      files[name] = try folder.contents(name)
    }
    return files
  }

  /// Lays out the files with some of them changed, and reads each key, twice.
  ///
  /// - Returns: the keys that had their present value at last.
  @discardableResult
  private func check(_ changed: [String: [UInt8]?], _ place: String) throws -> Set<KeyName> {
    try layOut(changed)
    var right: Set<KeyName> = []
    for _ in 0..<2 {
      let engine = try open()
      let isSalvaged = try engine.read { $0.note != "" }
      right = []
      for (key, known) in values {
        switch Result(catching: { () throws(StoreError) in try engine.state(of: key).value }) {
        case .failure(let error): #expect(error.code == .corrupt, "\(place): \(error)")
        case .success(let found):
          #expect(found == known.last || isSalvaged && known.contains(found), "\(place): \(key) is \(found as Any)")
          if found == known.last { right.insert(key) }
        }
      }
      _ = try engine.past()
    }
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/damaged"), "\(place)")
    return right
  }

  private func layOut(_ changed: [String: [UInt8]?]) throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      try FileManager.default.removeItem(atPath: folder.path + "/" + name)
    }
    for (name, bytes) in files.merging(changed.compactMapValues(\.self), uniquingKeysWith: { $1 }) {
      if let change = changed[name], change == nil { continue }
      try folder.write(bytes, to: name)
      chmod(folder.path + "/" + name, 0o600)
    }
  }

  // A sample of what Tests/simulation/every-byte does. The strides are prime, and each file begins elsewhere.
  @Test(arguments: 0..<4) func `a large store loses no more than was damaged`(file: Int) throws {
    let store = try DamagedStore(folder.path + "/large", keys: 1000)
    #expect(store.names.count == 4)
    let name = store.names[file]
    let count = try #require(store.files[name]?.count)
    let places =
      Array(stride(from: file, to: 4096, by: 127))
      + Array(stride(from: 4096 + file, to: count, by: 4001))
    for at in places {
      try store.judge(.flip(name, at, in: store))
      try store.judge(.truncation(name, at, in: store))
    }
  }

  @Test func `files that are lost, zeroed, extended or exchanged have no wrong values`() throws {
    let store = try DamagedStore(folder.path + "/large", keys: 1000)
    for damage in Damage.ofWholeFiles(in: store) { try store.judge(damage) }
  }

  @Test func `checking the files finds nothing in a whole store, and changes nothing`() throws {
    try layOut([:])
    func listing() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
    func check() throws -> [Finding] { try Verification.findings(in: OpenFolder.own(folder.path)) }
    let before = try listing()
    #expect(try check() == [])
    #expect(try listing() == before)
    // Also while others have it open, and in a copy without a pulse.
    let engine = try open()
    try engine.set("k1", .int(5))
    #expect(try check() == [])
    try engine.checkpoint()
    #expect(try check() == [])
    engine.close()
    unlink(folder.path + "/pulse")
    #expect(try check() == [])
    #expect(try !listing().contains("pulse"))
    let error = #expect(throws: StoreError.self) {
      try Verification.findings(in: OpenFolder.own(TestFolder().path))
    }
    #expect(error?.code == .unavailable)
  }

  @Test func `checking the files of a backup finds damage alone, before and after it gets a journal`() throws {
    try layOut([:])
    let backup = try TestFolder()
    _ = try Backup.write(open(), to: backup.make("values"))
    func check() throws -> [String] {
      try Verification.findings(in: OpenFolder.own(backup.path)).map(\.description)
    }
    #expect(try check() == [])
    let engine = try Engine(try OpenFolder.own(backup.path))
    #expect(try check() == [] && engine.damage() == nil)
    let header = try engine.read { $0.values.header }
    #expect(try HistoryFile.read(of: header, OpenFolder.own(backup.path)) != nil)
    // The last block of the history ends where the header is again.
    var bytes = try backup.contents("values")
    let end = bytes.count - 4096
    bytes[end - 1] ^= 1
    try backup.write(bytes, to: "values")
    #expect(try check() == ["values has a damaged block that ends at byte \(end)"])
    #expect(try engine.damage()?.code == .corrupt)
    engine.close()
    unlink(backup.path + "/journal.0")
    #expect(try check().contains("journal.0 is missing"))
    // The first checkpoint has another file for its history.
    bytes[end - 1] ^= 1
    try backup.write(bytes, to: "values")
    try Engine(try OpenFolder.own(backup.path)).checkpoint()
    #expect(try HistoryFile.read(of: header, OpenFolder.own(backup.path)) == nil)
    #expect(try check() == [])
  }

  @Test func `a backup without a history knows no changes before it, and gets checkpoints`() throws {
    let backup = try TestFolder()
    let state = KeyState(value: .int(1), declaration: nil, revision: 3, changed: 3)
    try Backup.write([("a", state)], revision: 5, schemaVersion: 2, to: backup.make("values")) { _, _ in true }
    let engine = try Engine(try OpenFolder.own(backup.path))
    for _ in 0..<2 {
      #expect(try engine.state(of: "a") == state && engine.revision() == 5 && engine.past().changes.isEmpty)
      #expect(try engine.read { chain throws(StoreError) in try chain.changes(after: 4) == nil })
      #expect(try Verification.findings(in: OpenFolder.own(backup.path)) == [])
      try engine.checkpoint()
    }
  }

  @Test func `a store of a later format is refused as it is`() throws {
    var values = try #require(files["values"])
    values[8] = 2
    let sum = (values[..<12] + values[16..<4096]).withUnsafeBytes { $0.checksum }
    withUnsafeBytes(of: sum.littleEndian) { values.replaceSubrange(12..<16, with: $0) }
    try layOut(["values": values])
    let before = try contents()
    #expect(throws: StoreError.self) { try open() }.map { #expect($0.code == .unsupported) }
    let readOnly = #expect(throws: StoreError.self) { try ReadOnlyEngine(try OpenFolder.own(folder.path)) }
    #expect(readOnly?.code == .unsupported)
    #expect(try contents() == before)
    // A damaged format is damage.
    values[8] = 3
    try layOut(["values": values])
    #expect(try open().read { $0.note } != "")
  }

  @Test func `a file that is not a backup is told from a damaged one`() throws {
    let other = try TestFolder()
    _ = try Backup.write(open(), to: other.make("backup"))
    func code(_ bytes: [UInt8]) throws -> StoreError.Code? {
      try other.write(bytes, to: "file")
      do throws(StoreError) { _ = try Backup.read(other.open("file")) { _, _ in } } catch { return error.code }
      return nil
    }
    var bytes = try other.contents("backup")
    #expect(try code(bytes) == nil)
    #expect(try code([]) == .unsupported)
    #expect(try code(Array("not a backup".utf8)) == .unsupported)
    #expect(try code(Array(bytes[..<5000])) == .corrupt)
    bytes[20] ^= 1
    #expect(try code(bytes) == .corrupt)
    #expect(try code(try #require(files["values"])) == .unsupported, "it is a part of a store")
  }

  @Test func `checking the files names each damaged place`() throws {
    let journal = try #require(files.keys.first { $0.hasPrefix("journal") })
    var (values, frames) = (try #require(files["values"]), try #require(files[journal]))
    let second = try #require(self.frames(frames).dropFirst().first)
    values[4096] ^= 1
    values[8192 + 4000] ^= 1
    frames[second.lowerBound + 20] ^= 1
    frames[3] ^= 1
    try layOut(["values": values, journal: frames, "history.1": nil])
    let found = try Verification.findings(in: OpenFolder.own(folder.path))
    #expect(
      found.map(\.description) == [
        "values has a damaged block at byte 4096", "values has a damaged block at byte 8192",
        "\(journal) has a damaged head at byte 0", "\(journal) has a damaged commit at byte \(second.lowerBound)",
        "history.1 is missing",
      ])
  }

  @Test(arguments: ["journal", "history"]) func `damage that costs no key is salvaged too`(name: String) throws {
    let name = try #require(files.keys.first { $0.hasPrefix(name) })
    var bytes = try #require(files[name])
    // Of the head of the journal, which is there twice.
    bytes[40] ^= 1
    try layOut([name: bytes])
    Salvage.mark(try OpenFolder.own(folder.path))
    let engine = try open()
    #expect(try engine.read { $0.note } != "" && Verification.findings(in: OpenFolder.own(folder.path)) == [])
    for (key, known) in values { #expect(try engine.state(of: key).value == known.last) }
  }

  @Test mutating func `revisions grow although the header of the checkpoint is lost twice`() throws {
    var highest: Revision = 0
    for _ in 0..<2 {
      var bytes = try folder.contents("values")
      bytes.replaceSubrange(0..<4096, with: repeatElement(0, count: 4096))
      let other = bytes.count - 4096
      bytes.replaceSubrange(other..., with: repeatElement(0, count: 4096))
      try layOut(["values": bytes])
      let engine = try open()
      let note = try engine.read { $0.note }
      let place = try #require(note.split(separator: "\"").last { $0.hasPrefix("quarantine/") })
      #expect(FileManager.default.fileExists(atPath: "\(folder.path)/\(place)/history.1") == (highest == 0))
      try engine.set("k1", .int(1))
      let revision = try engine.read { $0.revision }
      #expect(revision > highest)
      highest = revision
      try engine.checkpoint()
      engine.close()
      files = try contents()
    }
  }

  @Test func `a note of a salvage leads to no folder outside the quarantine`() throws {
    for name in ["quarantine", "elsewhere"] {
      try FileManager.default.createDirectory(atPath: folder.path + "/" + name, withIntermediateDirectories: false)
    }
    try folder.write([1], to: Journal.name(0))
    var header = ValuesHeader(store: .random(), number: 5, position: 0, previous: 0)
    for path in ["quarantine/../elsewhere", "quarantine/.."] {
      header.note = #"{"quarantine":"\#(path)"}"#
      try Salvage.finish(header, try OpenFolder.own(folder.path))
      #expect(FileManager.default.fileExists(atPath: folder.path + "/" + Journal.name(0)))
      #expect(!FileManager.default.fileExists(atPath: folder.path + "/elsewhere/" + Journal.name(0)))
    }
  }

  @Test func `a damaged block costs its own keys, and the next process salvages the others`() throws {
    var bytes = try #require(files["values"])
    bytes[4096 + 200] ^= 1
    let right = try check(["values": bytes], "values")
    let lost = try #require(Set(values.keys).subtracting(right).first)
    #expect(right.count == values.count - 1)
    let engine = try open()
    let note = try engine.read { $0.note }
    #expect(note.contains("quarantine/2"))
    #expect(note.contains(#""lost":["\#(lost)"]"#))
    #expect(FileManager.default.fileExists(atPath: folder.path + "/quarantine"))
    // It goes on, and the note stays until it is acknowledged.
    try engine.set("k1", .int(8))
    try engine.checkpoint()
    engine.close()
    #expect(try open().read { $0.note } == note)
    let again = try open()
    try again.commit { chain, writer throws(StoreError) in
      try writer.begin(FrameHead(writer: again.author, revision: chain.revision, time: 0))
      try writer.add(.acknowledged)
      try writer.end()
    }
    #expect(try again.read { $0.note } == "")
    #expect(try again.state(of: "k1").value == .int(8))
  }

  @Test func `a checkpoint that was truncated in its last blocks has all records`() throws {
    let bytes = try #require(files["values"])
    let header = try #require(
      bytes.withUnsafeBytes { ValuesHeader(UnsafeRawBufferPointer(rebasing: $0[..<4096]), size: nil) })
    for length in [bytes.count - 1, header.copyOffset - 1, header.checksumsOffset - 1] {
      #expect(try check(["values": Array(bytes[..<length])], "\(length)").count == values.count)
    }
    let left = try check(["values": Array(bytes[..<8192])], "one block")
    #expect(30..<values.count ~= left.count)
    #expect(try open().read { $0.note }.contains("lost"))
  }

  /// Where the frames begin, in the file.
  private func frames(_ journal: [UInt8]) -> [Range<Int>] {
    var (found, at): ([Range<Int>], Int) = ([], JournalHeader.frames)
    journal.withUnsafeBytes { bytes in
      while let word = bytes.number(at, UInt32.self), word > 0 {
        found.append(at..<at + Int(word & ~7))
        at += Int(word & ~7)
      }
    }
    return found
  }

  @Test func `a damaged frame costs its own changes, and no later ones`() throws {
    let name = try #require(files.keys.first { $0.hasPrefix("journal") })
    let bytes = try #require(files[name])
    let frames = frames(bytes)
    #expect(frames.count == 5)
    for (number, frame) in frames.enumerated() {
      for at in frame where at % 3 == 0 {
        var damaged = bytes
        damaged[at] ^= 4
        let key: KeyName = number == 4 ? "new" : try KeyName("k\(30 + number)")
        #expect(try Set(values.keys).subtracting(check([name: damaged], "\(at)")) == [key], "byte \(at)")
      }
    }
    // Two of them: the third one follows no known frame, and the fourth follows the third.
    var damaged = bytes
    for at in frames[0].lowerBound..<frames[1].lowerBound + 8 { damaged[at] = 0xA5 }
    #expect(try check([name: damaged], "two").isSuperset(of: ["k33", "new"]))
  }

  @Test func `a damaged frame names the keys that have no value, or an older one`() throws {
    let name = try #require(files.keys.first { $0.hasPrefix("journal") })
    var bytes = try #require(files[name])
    // Behind the names of k31 and of the last key.
    for frame in [1, 4].map({ frames(bytes)[$0] }) { bytes[frame.upperBound - 5] ^= 1 }
    func lost() throws -> String { try open().read { $0.note } }
    try layOut([name: bytes])
    let found = try lost()
    #expect(found.contains(#""lost":["k31","new"]"#), "\(found)")
    // A later commit has the present value.
    try layOut([:])
    try { try open().set("k31", .int(5)) }()
    var later = try folder.contents(name)
    later[frames(later)[1].upperBound - 5] ^= 1
    try layOut([name: later, "pulse": folder.contents("pulse")])
    #expect(try !lost().contains("lost"))
    #expect(try open().state(of: "k31").value == .int(5))
  }

  @Test func `values whose declarations may be lost, with commits or with a record, have a mark for it`() throws {
    let name = try #require(files.keys.first { $0.hasPrefix("journal") })
    func marked(_ changed: [String: [UInt8]?]) throws -> Set<KeyName> {
      try layOut(changed)
      let engine = try open()
      // What a listing has met is salvaged by the next process.
      _ = try? engine.read { chain throws(StoreError) in try chain.forEachState(below: "") { _, _ in } }
      engine.close()
      return try open().read { chain throws(StoreError) in
        #expect(chain.note != "")
        var found: Set<KeyName> = []
        try chain.forEachState(below: "") { key, state throws(StoreError) in
          if try state.get().declaration == Salvage.lost { found.insert(key) }
        }
        return found
      }
    }
    var bytes = try #require(files[name])
    let frames = frames(bytes)
    bytes[frames[4].lowerBound + 20] ^= 4
    #expect(try marked([name: bytes]) == [], "nothing follows the lost commit")
    bytes = try #require(files[name])
    bytes[frames[0].lowerBound + 20] ^= 4
    #expect(try marked([name: bytes]) == Set(values.keys).subtracting(["k2"]))
    var records = try #require(files["values"])
    records[try #require(Data(records).range(of: Data("k30".utf8))).upperBound] ^= 1
    #expect(try marked(["values": records]) == ["k30"])
    // Without a pulse, no commit is known to be lost.
    records[60] ^= 1
    #expect(try marked(["values": records, "pulse": nil]) == ["k30"])
  }

  @Test func `frames behind the published ones are not searched`() throws {
    let name = try #require(files.keys.first { $0.hasPrefix("journal") })
    var bytes = try #require(files[name])
    let frames = frames(bytes)
    // As if the last three frames had been written by a process that was killed before it published them.
    var pulse = try #require(files["pulse"])
    for word in [64, 72] {
      let published = pulse.withUnsafeBytes { $0.number(word, UInt64.self) ?? 0 }
      let position = published - UInt64(frames[2...].map(\.count).reduce(0, +))
      for index in 0..<8 { pulse[word + index] = UInt8(truncatingIfNeeded: position >> (8 * index)) }
    }
    bytes[frames[2].lowerBound + 30] ^= 1
    try layOut([name: bytes, "pulse": pulse])
    let engine = try open()
    #expect(try engine.state(of: "k31").value == .int(31))
    for key in ["k32", "k33", "new"] as [KeyName] {
      #expect(try engine.state(of: key).value == values[key]?.dropLast().last ?? nil)
    }
    #expect(try engine.read { $0.note } == "")
  }

  @Test func `a damaged seal hides no frames of the next journal, and a published one needs it`() throws {
    try layOut([:])
    let name = try #require(files.keys.first { $0.hasPrefix("journal") })
    let (sealed, engine) = (folder.open(name), try open())
    try engine.checkpoint()
    for key in ["k30", "k29"] as [KeyName] { try engine.set(key, .string("later"), second: 1000) }
    let next = Journal.name(try #require(Journal.number(name)) + 1)
    let size = try sealed.size()
    var journal = [UInt8](repeating: 0, count: size)
    #expect(try journal.withUnsafeMutableBytes { try sealed.read($0, at: 0) } == size)
    let following = try folder.contents(next)
    let pulse = try folder.contents("pulse")
    engine.close()
    let seal = try #require(frames(journal).last)
    #expect(seal.count == 16)
    for at in seal {
      var damaged = journal
      damaged[at] ^= 8
      try layOut([name: damaged, next: following, "pulse": pulse])
      for key in ["k30", "k29"] as [KeyName] {
        #expect(try open().state(of: key).value == .string("later"), "\(key), byte \(at)")
      }
    }
    // Damage far before the seal.
    var damaged = journal
    damaged[frames(journal)[1].upperBound - 5] ^= 1
    try layOut([name: damaged, next: following, "pulse": pulse])
    #expect(try open().lost() == ["k31"])
    #expect(try open().state(of: "k30").value == .string("later") && open().state(of: "new").value == .string("x"))
    try layOut([name: journal, "pulse": pulse])
    let found = try Verification.findings(in: OpenFolder.own(folder.path)).map(\.description)
    #expect(found.contains("\(next) is missing"))
  }

  @Test func `without its checkpoint a young store has everything, and an older one is empty and says so`() throws {
    let name = try #require(files.keys.first { $0.hasPrefix("journal") })
    #expect(try check(["values": nil], "lost").isSubset(of: ["k2"]))
    #expect(try open().read { $0.note }.contains("quarantine"))
    let place = try #require(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/quarantine").first)
    #expect(FileManager.default.fileExists(atPath: folder.path + "/quarantine/\(place)/\(name)"))
    let engine = try open()
    try engine.set("k1", .int(1))
    try engine.checkpoint()
    engine.close()

    let young = try TestFolder()
    let first = try Engine(try OpenFolder.own(young.path))
    for number in 0..<9 as Range<Int64> { try first.set(KeyName("k\(number)"), .int(number)) }
    first.close()
    unlink(young.path + "/values")
    let second = try Engine(try OpenFolder.own(young.path))
    #expect(try second.state(of: "k8").value == .int(8))
    #expect(try second.read { $0.note }.contains("quarantine"))
  }

  @Test func `the checkpoint of another store is ignored`() throws {
    let other = try TestFolder()
    let engine = try Engine(try OpenFolder.own(other.path))
    for key in values.keys { try engine.set(key, .string("foreign")) }
    try engine.checkpoint()
    engine.close()
    try check(["values": try other.contents("values")], "foreign checkpoint")
    let journal = try #require(files.keys.first { $0.hasPrefix("journal") })
    let right = try check([journal: try other.contents("journal.1")], "foreign journal")
    #expect(Set(values.keys).subtracting(right) == ["k30", "k31", "k32", "k33", "new"])
  }

  @Test func `a listing leaves out no key of a damaged block`() throws {
    var bytes = try #require(files["values"])
    for at in 4096 + 200..<8192 { bytes[at] ^= 0x55 }
    try layOut(["values": bytes])
    let engine = try open()
    let error = #expect(throws: StoreError.self) {
      try engine.read { chain throws(StoreError) in try chain.forEachState(below: "") { _, _ in } }
    }
    #expect(error?.code == .corrupt)
    #expect(FileManager.default.fileExists(atPath: folder.path + "/damaged"))
    #expect(try engine.state(of: "k9").value == values["k9"]?.last)
  }

  @Test func `a checkpoint that meets damage has it salvaged`() throws {
    var bytes = try #require(files["values"])
    bytes[4096 + 200] ^= 1
    try layOut(["values": bytes])
    let engine = try open()
    #expect(throws: StoreError.self) { try engine.checkpoint() }
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/.new-values"), "its draft takes room")
    engine.close()
    #expect(try open().read { $0.note } != "")
  }

  @Test func `a salvage keeps the damaged checkpoint, and the schema version of the commits`() throws {
    try layOut([:])
    let engine = try open()
    try engine.declare("k5", "{}")
    try engine.commit { chain, writer throws(StoreError) in
      try writer.begin(FrameHead(writer: 1, revision: chain.revision + 1, time: 0))
      try writer.add(schemaVersion: 7)
      try writer.end()
    }
    engine.close()
    var bytes = try folder.contents("values")
    bytes[60] ^= 1
    try folder.write(bytes, to: "values")
    let (mark, isMarked) = (folder.path + "/damaged", Monitor(false))
    let salvaging = try Engine(try OpenFolder.own(folder.path)) { _, _ in
      isMarked.update { $0 = access(mark, F_OK) == 0 }
      return true
    }
    #expect(isMarked.read { $0 }, "if this process is killed, the next one goes on")
    let (note, version) = try salvaging.read { ($0.note, $0.schemaVersion) }
    #expect(version == 7)
    let place = try #require(note.split(separator: "\"").last { $0.hasPrefix("quarantine/") })
    #expect(try folder.contents("\(place)/values") == bytes)
  }

  @Test(arguments: [false, true])
  func `a malformed commit is named, and costs its own changes, also behind a damaged one`(isLast: Bool) throws {
    try layOut([:])
    let keys = Array((["k10", "k11", "k12", "k13"] as [KeyName]).prefix(isLast ? 3 : 4))
    try {
      let engine = try open()
      try engine.commit { chain, writer throws(StoreError) in
        for (number, key) in keys.enumerated() {
          try writer.begin(FrameHead(writer: 1, revision: chain.revision + 1 + Revision(number), time: 0))
          // A value without a kind.
          if number == 2 { try writer.add(.value, "x", for: key) } else { try writer.add(.int(-1), for: key) }
          try writer.end()
        }
      }
    }()
    let name = try #require(files.keys.first { $0.hasPrefix("journal") })
    let pulse = try folder.contents("pulse")
    var bytes = try folder.contents(name)
    let frames = frames(bytes)
    let found = try Verification.findings(in: OpenFolder.own(folder.path))
    #expect(found.map(\.description) == ["\(name) has a malformed commit at byte \(frames[7].lowerBound)"])
    #expect(found.first?.keys == ["k12"])
    for isDamaged in [false, true] {
      if isDamaged { bytes[frames[1].upperBound - 5] ^= 1 }
      try layOut([name: bytes, "pulse": pulse])
      let engine = try open()
      for key in keys where key != "k12" { #expect(try engine.state(of: key).value == .int(-1)) }
      #expect(try engine.state(of: "k12").value == values["k12"]?.last)
      #expect(try engine.lost() == (isDamaged ? ["k12", "k31"] : ["k12"]))
    }
  }

  @Test func `checking the files finds two headers that differ`() throws {
    var bytes = try #require(files["values"])
    var header = try #require(
      bytes.withUnsafeBytes { ValuesHeader(UnsafeRawBufferPointer(rebasing: $0[..<4096]), size: nil) })
    header.schemaVersion += 1
    let block = ByteBuffer(to: "test")
    try header.write(into: block)
    bytes.replaceSubrange(header.copyOffset..<header.copyOffset + 4096, with: block.bytes)
    try layOut(["values": bytes])
    let found = try Verification.findings(in: OpenFolder.own(folder.path)).map(\.description)
    #expect(found == ["values has two headers that differ"])
  }

  @Test func `a listing goes on past a damaged value`() throws {
    var bytes = try #require(files["values"])
    bytes[4096 + 200] ^= 0x55
    try layOut(["values": bytes])
    let engine = try open()
    var (readable, unreadable): ([KeyName], [KeyName]) = ([], [])
    try engine.read { chain throws(StoreError) in
      try chain.forEachState(below: "") { key, state throws(StoreError) in
        if let state = try? state.get() {
          #expect(state.value == values[key]?.last)
          readable.append(key)
        } else {
          unreadable.append(key)
        }
      }
    }
    let all = readable + unreadable
    #expect(Set(all).count == all.count && Set(all) == Set(values.keys))
    #expect(readable.contains("k9") && readable.contains("new") && unreadable.contains("k0"))
    for key in unreadable { #expect(throws: StoreError.self) { try engine.state(of: key) } }
    #expect(FileManager.default.fileExists(atPath: folder.path + "/damaged"))
    #expect(throws: StoreError.self) { try engine.checkpoint() }
    // With a new value among many, the key may still have a declaration, even of a secret.
    try engine.commit { chain, writer throws(StoreError) in
      try writer.begin(FrameHead(writer: 1, revision: chain.revision + 1, time: 0))
      for key in unreadable { try writer.add(.int(1), for: key) }
      for number in 0..<BulkChanges.least { try writer.add(.int(1), for: KeyName("many.\(number)")) }
      try writer.end()
    }
    var hidden: [KeyName] = []
    try engine.read { chain throws(StoreError) in
      try chain.forEachState(below: "k", take: { _, _ in true }) { key, state throws(StoreError) in
        if try state.get().declaration == Salvage.lost { hidden.append(key) }
      }
    }
    #expect(Set(hidden).isSuperset(of: unreadable))
  }

  @Test func `with a damaged header the blocks are read all the same`() throws {
    var bytes = try #require(files["values"])
    bytes[60] ^= 1
    #expect(try check(["values": bytes], "header").count == values.count)
  }

  @Test func `lengths that a file claims need no memory`() throws {
    for (offset, range) in [(80, 5..<6), (88, 5..<6), (112, 5..<6), (80, 0..<8), (88, 0..<8), (112, 0..<8)] {
      var bytes = try #require(files["values"])
      for index in range { bytes[offset + index] = 0xFF }
      // As if it were a backup, whose header comes again behind its history.
      if range.count == 8 { for index in 104..<112 { bytes[index] = 0xFF } }
      var head = Array(bytes[..<12]) + Array(bytes[16..<4096])
      let sum = head.withUnsafeMutableBytes { UnsafeRawBufferPointer($0).checksum }
      for index in 0..<4 { bytes[12 + index] = UInt8(truncatingIfNeeded: sum >> (8 * index)) }
      try layOut(["values": bytes])
      #expect(try Verification.findings(in: OpenFolder.own(folder.path)) != [])
      try check(["values": bytes], "length at \(offset)")
    }
  }

  @Test func `a stored name that is not a key is damage`() throws {
    var header = ValuesHeader(store: StoreID(high: 1, low: 2), number: 0, position: 0, previous: 0)
    (header.revision, header.history) = (1, ValuesHeader.ofBackup)
    let other = try TestFolder()
    let writer = ValuesWriter(other.make("values"), header)
    try Array("a\0b".utf8).withUnsafeBytes { key in
      let none = UnsafeRawBufferPointer(start: nil, count: 0)
      let value = StoredValue(kind: 5, payload: key)
      try writer.add(Record(key: key, value: value, declaration: none, flags: [], revision: 1, changed: 1))
    }
    _ = try writer.finish()
    let engine = try Engine(try OpenFolder.own(other.path))
    let error = #expect(throws: StoreError.self) {
      try engine.read { chain throws(StoreError) in
        try chain.forEachState(below: "") { _, state throws(StoreError) in _ = try state.get() }
      }
    }
    #expect(error?.code == .corrupt)
    #expect(try engine.damage()?.code == .corrupt)
  }

  @Test func `the mark is removed from a store without damage`() throws {
    #expect(try check(["damaged": []], "marked").count == values.count)
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/quarantine"))
  }

  @Test func `a damaged position in the pulse costs nothing: it is there twice`() throws {
    for word in [64, 72] {
      var pulse = try #require(files["pulse"])
      pulse[word + 5] = 1
      #expect(try check(["pulse": pulse], "\(word)").count == values.count)
      #expect(try open().read { $0.note } == "", "\(word)")
    }
  }

  @Test func `a malformed record whose checksum is right is found, and salvaged alone`() throws {
    var header = ValuesHeader(store: StoreID(high: 1, low: 2), number: 0, position: 0, previous: 0)
    (header.revision, header.history) = (1, ValuesHeader.ofBackup)
    let other = try TestFolder()
    let writer = ValuesWriter(other.make("values"), header)
    for (key, kind) in [("a", 2), ("b", 5), ("c", 2)] as [(String, UInt8)] {
      try Array(key.utf8).withUnsafeBytes { key in
        try Array(repeating: UInt8(0xFF), count: 8).withUnsafeBytes { payload in
          let none = UnsafeRawBufferPointer(start: nil, count: 0)
          let value = StoredValue(kind: kind, payload: payload)
          try writer.add(Record(key: key, value: value, declaration: none, flags: [], revision: 1, changed: 1))
        }
      }
    }
    _ = try writer.finish()
    let engine = try Engine(try OpenFolder.own(other.path))
    let found = try Verification.findings(in: OpenFolder.own(other.path)).map(\.description)
    #expect(found == [#"values has a malformed record "b", or a malformed hash table"#])
    #expect(try engine.damage()?.code == .corrupt)
    engine.close()
    let again = try Engine(try OpenFolder.own(other.path))
    #expect(try again.lost() == ["b"])
    #expect(try again.state(of: "a").value == .int(-1) && again.state(of: "c").value == .int(-1))
  }

  @Test func `the note of a salvage names as many lost keys as fit`() throws {
    let other = try TestFolder()
    let long = String(repeating: "long", count: 30)
    try {
      let engine = try Engine(try OpenFolder.own(other.path))
      for number in 100..<200 { try engine.set(KeyName("\(long)\(number)"), .string("damaged")) }
      try engine.checkpoint()
    }()
    var bytes = Data(try other.contents("values"))
    while let place = bytes.range(of: Data("damaged".utf8)) { bytes[place.lowerBound] ^= 0x20 }
    try other.write(Array(bytes), to: "values")
    Salvage.mark(try OpenFolder.own(other.path))
    let engine = try Engine(try OpenFolder.own(other.path))
    #expect(try 10..<100 ~= engine.lost().count)
    #expect(try Verification.findings(in: OpenFolder.own(other.path)) == [])
  }

  // MARK: - Before the salvage

  @Test func `a key in a damaged block is an error to one that reads it, and has a state to be replaced`() throws {
    var bytes = try #require(files["values"])
    bytes[4096 + 200] ^= 1
    try layOut(["values": bytes])
    try open().read { chain throws(StoreError) in
      let found = try chain.stateOrDamage(of: "k0")
      let error = #expect(throws: StoreError.self) { try found.get() }
      #expect(error?.code == .corrupt)
      #expect(try chain.stateToReplace(of: "k0").declaration == Salvage.lost)
    }
  }

  @Test func `a key in a damaged block can be set and removed`() throws {
    var bytes = try #require(files["values"])
    for at in stride(from: 4096 + 100, to: 8192, by: 140) { bytes[at] ^= 1 }
    try layOut(["values": bytes])
    var damaged: [KeyName] = []
    let before = try open()
    for key in values.keys.sorted() where (try? before.state(of: key)) == nil {
      // The salvage can read the short records, which lie between the damaged bytes.
      if case .bytes = values[key]?.last { damaged.append(key) }
    }
    before.close()
    #expect(damaged.count > 20)
    for (first, second) in zip(damaged, damaged.dropFirst()).prefix(4) {
      try layOut(["values": bytes])
      let engine = try open()
      try engine.set(first, .int(5))
      try engine.set(second, nil)
      func check(_ engine: Engine, _ when: String) throws {
        let state = try engine.state(of: first)
        // Its declaration may be lost.
        #expect(state.value == .int(5) && state.declaration == Salvage.lost, "\(first) \(when)")
        #expect(try engine.state(of: second).value == nil, "\(second) \(when)")
      }
      try check(engine, "in its writer")
      try check(open(), "in another process")
      engine.close()
      let later = try open()
      #expect(try later.read { $0.note } != "")
      try check(later, "after the salvage")
    }
  }

  @Test func `a salvage names what is in the place of the quarantine`() throws {
    var bytes = try #require(files["values"])
    bytes[4096 + 200] ^= 1
    let elsewhere = try TestFolder()
    for isLink in [true, false] {
      try layOut(["values": bytes, "damaged": []])
      let place = folder.path + "/quarantine"
      if isLink { symlink(elsewhere.path, place) } else { try folder.write([], to: "quarantine") }
      let error = #expect(throws: StoreError.self) { try open() }
      #expect(error?.code == .unavailable)
      #expect(
        error?.message.contains("quarantine in it is a link or a file") == true, "\(error as Any)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere.path) == [])
      unlink(place)
      #expect(try open().read { $0.note } != "")
    }
  }

  // MARK: - Checking files that change

  @Test func `checking the files of a store that makes checkpoints finds nothing`() throws {
    try layOut([:])
    let (engine, isDone) = (try open(), Monitor(false))
    let writer = Thread {
      for number in 0..<400 as Range<Int64> {
        try? engine.set("k1", .int(number))
        if number % 2 == 0 { _ = try? engine.checkpoint() }
      }
      isDone.update { $0 = true }
    }
    writer.start()
    while !isDone.read(\.self) { #expect(try Verification.findings(in: OpenFolder.own(folder.path)) == []) }
  }

  @Test func `checking the files names the keys of a damaged place`() throws {
    let name = try #require(files.keys.first { $0.hasPrefix("journal") })
    var (values, frames) = (try #require(files["values"]), try #require(files[name]))
    values[4096 + 200] ^= 1
    frames[self.frames(frames)[1].upperBound - 5] ^= 1
    try layOut(["values": values, name: frames])
    let found = try Verification.findings(in: OpenFolder.own(folder.path))
    #expect(found.count == 2 && found[0].keys.count == 1 && found[1].keys == ["k31"], "\(found)")
    let engine = try open()
    #expect(try Set(found.flatMap(\.keys).map(\.text)) == Set(engine.lost()))
  }
}

extension Engine {
  /// The keys that the note of a salvage names.
  fileprivate func lost() throws -> [String] {
    guard case .dictionary(let note) = try Value(json: read { $0.note }), case .array(let keys)? = note["lost"] else {
      return []
    }
    return keys.compactMap { if case .string(let key) = $0 { key } else { nil } }
  }
}
