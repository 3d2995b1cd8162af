// The reader of docs/internals/file-format.md, written in Python from the description of the format alone,
// reads what the engine has written, and what is left of a damaged store.

import CPlatform
import Foundation
@testable import KeptEngine
import KeptSystem
import KeptValues
import Testing

@Suite(.timeLimit(.minutes(10))) struct IndependentReaderTests {
  private static let page = "docs/internals/file-format.md"
  private let folder: TestFolder
  init() throws { folder = try TestFolder() }

  /// The program in the page.
  private func program() throws -> String {
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardized
    let text = try String(contentsOf: root.appending(path: Self.page), encoding: .utf8)
    let parts = text.components(separatedBy: "```python\n")
    return try #require(parts.last?.components(separatedBy: "```").first)
  }

  /// What the reader has printed.
  private struct Printed: Equatable {
    var state = ""
    var keys: [String] = []
    // In no order.
    var past: [String] = []

    /// The kinds of the damaged files.
    var damaged: Set<String> { Set(["values", "journal", "history"].filter { state.contains("\"\($0)\"") }) }
    var isDamaged: Bool { !damaged.isEmpty }
  }

  private func read(_ folder: String) throws -> Printed {
    let (process, output, errors) = (Process(), Pipe(), Pipe())
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["python3", "-c", try program(), folder]
    (process.standardOutput, process.standardError) = (output, errors)
    try process.run()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    let error = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "\(error)")
    var printed = Printed()
    for line in text.split(separator: "\n").map(String.init) {
      if line.hasPrefix(#"{"past""#) {
        printed.past.append(line)
      } else if line.hasPrefix(#"{"key""#) || line.hasPrefix(#"{"declaration""#) {
        printed.keys.append(line)
      } else {
        printed.state += line
      }
    }
    printed.past.sort()
    return printed
  }

  /// What the reader should print of a store without damage.
  private func expected(_ engine: Engine) throws -> Printed {
    try engine.past { past, chain throws(StoreError) in
      var printed = Printed()
      printed.state = #"{"revision": \#(chain.revision), "schema": \#(chain.schemaVersion), "damaged": []}"#
      try chain.forEachState(below: "") { key, state throws(StoreError) in
        let state = try state.get()
        guard state.isThere else { return }
        // A salvage hides values whose declaration may be lost.
        let declaration = state.declaration.map { $0 == Salvage.lost ? "" : #""declaration": \#($0), "# } ?? ""
        let value = state.value.map { #", "value": \#($0.inPython)"# } ?? ""
        printed.keys.append(#"{\#(declaration)"key": "\#(key.text)", "revision": \#(state.revision)\#(value)}"#)
      }
      for change in past.changes where change.revision <= chain.values.header.revision {
        let old = try change.old.value()?.inPython ?? "null"
        printed.past.append(#"{"past": "\#(change.key)", "old": \#(old), "revision": \#(change.revision)}"#)
      }
      printed.past.sort()
      return printed
    }
  }

  private func open(_ folder: TestFolder) throws -> Engine {
    try Engine(try OpenFolder.own(folder.path), secrets: LeavesSealed())
  }

  private final class LeavesSealed: SecretOpening {
    func open(_ sealed: [UInt8], of key: KeyName, at revision: Revision) throws(StoreError) -> Value { .bytes(sealed) }
    func reseal(_ value: StoredValue, of key: KeyName, at revision: Revision?) -> [UInt8]? { nil }
  }

  // MARK: - Without damage

  private static func value(_ numbers: inout SeededRandom) throws -> Value {
    switch Int.random(in: 0..<11, using: &numbers) {
    case 0: .bool(.random(using: &numbers))
    case 1: .int(.random(in: .min ... .max, using: &numbers))
    case 2: .uint(.random(in: 1 << 63 ... .max, using: &numbers))
    case 3: .double([0.5, -2, 1e300, .nan, -.infinity][Int.random(in: 0..<5, using: &numbers)])
    case 4: .string(["", "text", "\u{e4}\u{20ac}"][Int.random(in: 0..<3, using: &numbers)])
    case 5: .date(try Timestamp(seconds: .random(in: -9...9, using: &numbers), nanoseconds: 250_000_000))
    case 6: .array([.int(-1), .string("a"), .bool(true), .array([])])
    case 7: .dictionary(ValueDictionary([("a", .double(0.5)), ("b", .dictionary(ValueDictionary([])))]))
    case 8: .bytes(Array(repeating: 7, count: 9000))
    default: .bytes(Array(repeating: 5, count: Int.random(in: 0..<40, using: &numbers)))
    }
  }

  private func commit(_ round: Int, to engine: Engine, _ numbers: inout SeededRandom) throws {
    let value = try Self.value(&numbers)
    let (number, what) = (Int.random(in: 0..<40, using: &numbers), Int.random(in: 0..<8, using: &numbers))
    try engine.commit { chain, writer throws(StoreError) in
      let key = try KeyName("k\(number)")
      try writer.begin(FrameHead(writer: 1, revision: chain.revision + 1, time: 0, tag: round == 0 ? "tag" : nil))
      switch what {
      case 0: try writer.add(.removed, for: key)
      case 1: try writer.add(.declared, #"{"a": 1}"#, for: key)
      case 2: try writer.add(.undeclared, for: key)
      case 3:
        try writer.add(schemaVersion: UInt32(round))
        try writer.add(.historyLimits, #"{"changes":1000}"#)
      case 4: try writer.add(sealed: Array(repeating: 3, count: 60 * number), for: key)
      default: try writer.add(value, for: key)
      }
      try writer.end()
    }
  }

  @Test(arguments: 1...4) func `it reads checkpoint, journals and history, and backups`(seed: UInt64) throws {
    var numbers = SeededRandom(seed)
    let engine = try open(folder)
    for round in 0..<4 {
      for _ in 0..<60 { try commit(round, to: engine, &numbers) }
      #expect(try read(folder.path) == expected(engine))
      if round == 2 { try sealJournal(of: engine, in: folder) } else { try engine.checkpoint() }
      try commit(round, to: engine, &numbers)
      let present = try expected(engine)
      #expect(try read(folder.path) == present)
      let backup = try TestFolder()
      #expect(try Backup.write(engine, to: backup.make("values")) == engine.read { $0.revision })
      let read = try read(backup.path)
      #expect(read.state == present.state && read.keys == present.keys)
      #expect(try read.past == expected(open(backup)).past)
    }
  }

  /// Ends the journal with a seal, and leaves it to another process to make the checkpoint.
  private func sealJournal(of engine: Engine, in folder: TestFolder) throws {
    let draft = folder.path + "/.new-values"
    mkdir(draft, 0o700)
    #expect(throws: StoreError.self) { try engine.checkpoint() }
    rmdir(draft)
  }

  // MARK: - With damage

  /// The files of a store with a checkpoint, a history, and two journals.
  private func makeFiles() throws -> [String: [UInt8]] {
    var numbers = SeededRandom(9)
    let engine = try open(folder)
    for round in 0..<3 {
      for _ in 0..<50 { try commit(round, to: engine, &numbers) }
      if round == 1 { try sealJournal(of: engine, in: folder) } else if round == 0 { try engine.checkpoint() }
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(names.sorted() == ["history.1", "journal.1", "journal.2", "pulse", "values"])
    return Dictionary(uniqueKeysWithValues: try names.map { ($0, try folder.contents($0)) })
  }

  /// The files with one damage each.
  private func damages(of files: [String: [UInt8]]) -> [(place: String, file: (name: String, bytes: [UInt8]?))] {
    var found: [(place: String, file: (name: String, bytes: [UInt8]?))] = []
    for (name, bytes) in files.sorted(by: { $0.key < $1.key }) {
      // The rest of a journal is zeros.
      let end = (bytes.lastIndex { $0 != 0 } ?? 0) + 1
      for at in stride(from: 3, to: end, by: max(end / 9, 29)) {
        var flipped = bytes
        flipped[at] ^= UInt8(1 << (at % 8))
        found.append(("\(name), byte \(at)", (name, flipped)))
        found.append(("\(name), truncated to \(at)", (name, Array(bytes[..<at]))))
        let sector = at / 512 * 512
        let zeros = bytes[..<sector] + Array(repeating: 0, count: 512) + bytes.dropFirst(sector + 512)
        found.append(("\(name), zeros at \(sector)", (name, Array(zeros.prefix(bytes.count)))))
      }
      found.append(("\(name), lost", (name, nil)))
    }
    return found
  }

  @Test(arguments: 0..<4) func `it reads what a salvage of a damaged store keeps`(part: Int) throws {
    let files = try makeFiles()
    let whole = try expected(open(folder))
    for (number, damage) in damages(of: files).enumerated() where number % 4 == part {
      try check(damage, of: files, whole)
    }
  }

  @Test func `it reads what a salvage keeps of a damaged journal without a pulse`() throws {
    let files = try makeFiles().filter { $0.key != "pulse" }
    for damage in damages(of: files.filter { $0.key == "journal.1" }) { try check(damage, of: files, nil) }
  }

  /// - Parameter whole: what it reads without the damage; nil if the damage may be taken for a loss of power.
  private func check(
    _ damage: (place: String, file: (name: String, bytes: [UInt8]?)), of files: [String: [UInt8]], _ whole: Printed?
  ) throws {
    let damaged = try TestFolder()
    for (name, bytes) in files {
      guard let bytes = name == damage.file.name ? damage.file.bytes : bytes else { continue }
      try damaged.write(bytes, to: name)
      chmod(damaged.path + "/" + name, 0o600)
    }
    let read = try read(damaged.path)
    let findings = try Verification.findings(in: OpenFolder.own(damaged.path))
    // Without a header, it is not known which journal follows.
    let isHeadless =
      findings.filter { $0.what.contains("header") }.count == 2 || findings.map(\.description) == ["values is missing"]
    let found = Set(findings.map(\.kind)).union(isHeadless ? ["journal"] : [])
    #expect(read.damaged.isSubset(of: found), "\(damage.place): \(findings)")
    // What exists twice, the checksums, and the hash table: the reader does without them.
    let costly = findings.filter { $0.what != "has a damaged block" || !$0.keys.isEmpty }
      .filter { !["head", "checksums"].contains(where: $0.what.contains) }
    #expect(Set(costly.map(\.kind)).isSubset(of: read.damaged), "\(damage.place): \(findings)")
    let first = try open(damaged)
    if try first.damage() == nil || damage.file.name == "history.1" {
      let past = try first.past { past, chain in past.changes.filter { $0.revision <= chain.values.header.revision } }
      if try first.read({ $0.note }) == "" { #expect(read.past.count == past.count, "\(damage.place)") }
    }
    first.close()
    let kept = try expected(open(damaged))
    #expect(read.keys == kept.keys, "\(damage.place)")
    guard let whole, !read.isDamaged else { return }
    #expect(read.keys == whole.keys && whole.past.count == read.past.count, "\(damage.place)")
  }
}

extension Finding {
  /// The name of the file without its number.
  fileprivate var kind: String { String(file.prefix { $0 != "." }) }
}

extension Value {
  /// How Python's module json prints it, for texts without quotes.
  fileprivate var inPython: String {
    switch self {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .int(let value): "\(value)"
    case .uint(let value): "\(value)"
    case .double(let value):
      value.isNaN ? "NaN" : value.isInfinite ? (value < 0 ? "-Infinity" : "Infinity") : "\(value)"
    case .string(let text):
      "\"" + text.unicodeScalars.map { $0.isASCII ? "\($0)" : String(format: "\\u%04x", $0.value) }.joined() + "\""
    case .bytes(let bytes): #"{"bytes": "\#(Data(bytes).base64EncodedString())"}"#
    case .date(let date): #"{"nanoseconds": \#(date.nanoseconds), "seconds": \#(date.seconds)}"#
    case .array, .dictionary: json.replacing("\":", with: "\": ").replacing(",", with: ", ")
    }
  }
}
