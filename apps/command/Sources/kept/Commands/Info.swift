import ArgumentParser
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
    _ = try words.expect(0...0, "no argument")
    let stores = try StorePlace.stores()
    if json {
      let list = stores.map { store -> Value in
        let (folder, bytes) = (Value.string(store.folder ?? ""), Value.int(Int64(store.bytesOnDisk())))
        return ["store": .string(store.location), "folder": folder, "bytes": bytes]
      }
      return Output.standard.write(json: Value.array(list).json)
    }
    guard Output.standard.isTerminal else {
      for store in stores { Output.standard.write(line: Shown.line(store.location)) }
      return
    }
    var table = Table(["STORE", "SIZE", "FOLDER"], shrinking: [(2, 12)])
    for store in stores { table.add([store.location, DisplayText.size(store.bytesOnDisk()), store.folder ?? ""]) }
    table.print()
  }
}

/// What can be said of a store as a whole.
struct StoreFacts {
  private let location: String
  private let place: StorePlace
  private let revision: Revision
  /// Nil for a storage that keeps none.
  private let schemaVersion: UInt32?
  private let values: Int
  private let declarations: Int
  private let processes: [StoreProcess]

  init(_ location: String) throws {
    let settings = try StoreAccess.open(location, isReadOnly: true)
    let snapshot = try settings.snapshot()
    self.location = location
    place = try StorePlace(location)
    revision = try settings.currentRevision()
    do throws(StoreError) { schemaVersion = try settings.schemaVersion() } catch {
      guard error.code == .unsupported else { throw error }
      schemaVersion = nil
    }
    values = try snapshot.storedKeys(prefix: "").count
    declarations = try snapshot.declarations().declarations.count
    processes = try place.processes()
  }

  var lines: [(String, String)] {
    [
      ("store", location), ("folder", place.folder ?? "in memory"),
      ("size", place.folder == nil ? "" : DisplayText.size(place.bytesOnDisk())), ("values", "\(values)"),
      ("declarations", "\(declarations)"), ("revision", "\(revision)"),
    ] + (schemaVersion.map { [("schema version", "\($0)")] } ?? []) + [
      ("open in", processes.isEmpty ? "no other process" : processes.map(\.description).joined(separator: ", "))
    ]
  }

  var json: Value {
    var members: [(ExactString, Value)] = [
      ("store", .string(location)), ("values", .int(Int64(values))), ("declarations", .int(Int64(declarations))),
      ("revision", .int(Int64(clamping: revision))),
      ("processes", .array(processes.map { ["pid": .int(Int64($0.pid)), "name": .string($0.name)] })),
    ]
    if let schemaVersion { members.append(("schemaVersion", .int(Int64(schemaVersion)))) }
    if let folder = place.folder {
      members += [("folder", .string(folder)), ("bytes", .int(Int64(place.bytesOnDisk())))]
    }
    return .dictionary(ValueDictionary(members))
  }
}

enum Count {
  /// `1 value`, `2 values`.
  static func of(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
}

extension String {
  func padded(to width: Int) -> String { DisplayText.padded(self, toColumns: width) }
}
