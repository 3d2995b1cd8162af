import ArgumentParser
import Glibc
import Kept

struct Info: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "info",
    abstract: "Shows where a store is, how large it is, and which processes have it open.",
    usage: "kept info STORE [--json]")

  @OptionGroup var store: StoreOption
  @Flag(help: "Print JSON.")
  var json = false
  @Argument(help: .hidden) var words: [String] = []

  func run() throws {
    let (location, rest) = try store.split(words)
    _ = try rest.expect(0...0, "only the store")
    let facts = try StoreFacts(location)
    if json { return Output.standard.write(json: facts.json.json) }
    for (name, text) in facts.lines { Output.standard.write(line: "\((name + ":").padded(to: 16))\(Shown.line(text))") }
  }
}

struct Stores: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stores",
    abstract: "Lists the stores of the user.",
    usage: "kept stores [--json]",
    discussion: """
      To remove a store, end the programs that have it open, copy it with `kept backup`, and remove the folder that \
      `kept info` shows with rm -r.
      """)

  @Flag(help: "Print JSON: an array of objects with store, folder and bytes.")
  var json = false
  @Argument(help: .hidden) var words: [String] = []

  func run() throws {
    _ = try words.expect(0...0, "no word")
    let stores = try StoreFacts.identifiers()
    if json {
      let list = stores.map { store -> Value in
        let bytes = Int64(File.space(of: store.folder))
        return ["store": .string(store.name), "folder": .string(store.folder), "bytes": .int(bytes)]
      }
      return Output.standard.write(json: Value.array(list).json)
    }
    guard Output.standard.isTerminal else {
      for store in stores { Output.standard.write(line: Shown.line(store.name)) }
      return
    }
    var table = Table(["STORE", "SIZE", "FOLDER"], shrinking: [(2, 12)])
    for store in stores { table.add([store.name, Bytes.shown(File.space(of: store.folder)), store.folder]) }
    table.print()
  }
}

/// What can be said of a store as a whole.
struct StoreFacts {
  private let location: String
  private let folder: String?
  private let revision: Revision
  private let schemaVersion: UInt32
  private let values: Int
  private let declarations: Int
  private let processes: [OpenProcess]

  init(_ location: String) throws {
    let settings = try StoreAccess.open(location)
    let snapshot = try settings.snapshot()
    self.location = location
    folder = try Store.folder(of: location)
    revision = try settings.currentRevision()
    schemaVersion = try settings.schemaVersion()
    values = try snapshot.storedKeys(prefix: "").count
    declarations = try snapshot.declarations().declarations.count
    processes = folder.map(OpenProcess.all) ?? []
  }

  /// The stores in the user's folder, each with its identifier.
  static func identifiers() throws(StoreError) -> [(name: String, folder: String)] {
    guard let example = try Store.folder(of: "a"), let folder = example.halves(atLast: "/")?.before else { return [] }
    return File.names(in: folder).filter { $0.ends(with: ".kept") }.map { name in
      (String(name.dropLast(5)), "\(folder)/\(name)")
    }
  }

  var lines: [(String, String)] {
    [
      ("store", location), ("folder", folder ?? "in memory"),
      ("size", folder.map { Bytes.shown(File.space(of: $0)) } ?? ""), ("values", "\(values)"),
      ("declarations", "\(declarations)"), ("revision", "\(revision)"), ("schema version", "\(schemaVersion)"),
      ("open in", processes.isEmpty ? "no other process" : processes.map(\.words).joined(separator: ", ")),
    ]
  }

  var json: Value {
    var members: [(ExactString, Value)] = [
      ("store", .string(location)), ("values", .int(Int64(values))), ("declarations", .int(Int64(declarations))),
      ("revision", .int(Int64(clamping: revision))), ("schemaVersion", .int(Int64(schemaVersion))),
      ("processes", .array(processes.map { ["pid": .int(Int64($0.pid)), "name": .string($0.name)] })),
    ]
    if let folder {
      members += [("folder", .string(folder)), ("bytes", .int(Int64(File.space(of: folder))))]
    }
    return .dictionary(ValueDictionary(members))
  }
}

/// A process that has a file of a store open, as far as this user may see.
struct OpenProcess {
  let pid: Int
  let name: String

  var words: String { "\(name) (\(pid))" }

  static func all(of folder: String) -> [OpenProcess] {
    guard let resolved = realpath(folder, nil) else { return [] }
    defer { free(resolved) }
    let prefix = String(cString: resolved) + "/"
    return File.names(in: "/proc").compactMap(Int.init).filter { $0 != Int(getpid()) }.sorted().compactMap { pid in
      let files = "/proc/\(pid)/fd"
      guard File.names(in: files).contains(where: { target(of: "\(files)/\($0)")?.begins(with: prefix) == true }) else {
        return nil
      }
      let name = (try? File.bytes(of: "/proc/\(pid)/comm")).map { String(decoding: $0, as: UTF8.self) } ?? "?"
      return OpenProcess(pid: pid, name: name.lines[0])
    }
  }

  private static func target(of link: String) -> String? {
    var path = [UInt8](repeating: 0, count: 4096)
    let count = path.withUnsafeMutableBytes { bytes in
      bytes.baseAddress.map { readlink(link, $0.assumingMemoryBound(to: CChar.self), bytes.count) } ?? 0
    }
    return count > 0 ? String(decoding: path[..<count], as: UTF8.self) : nil
  }
}

enum Bytes {
  /// A size for people: `112 KB`.
  static func shown(_ count: Int) -> String {
    switch count {
    case ..<1000: "\(count) B"
    case ..<1_000_000: "\(count / 1000) KB"
    case ..<1_000_000_000: "\(count / 1_000_000).\(count / 100_000 % 10) MB"
    default: "\(count / 1_000_000_000).\(count / 100_000_000 % 10) GB"
    }
  }
}

enum Count {
  /// `1 value`, `2 values`.
  static func of(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
}

extension String {
  func padded(to width: Int) -> String { DisplayText.padded(self, toColumns: width) }
}
