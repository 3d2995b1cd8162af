import ArgumentParser
import Kept

struct Mark: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mark",
    abstract: "Marks the current contents of a store as good, for `kept restore --last-good`.",
    usage: "kept mark good STORE [--dry-run]",
    discussion: """
      Use it for a service whose health check has passed with these settings. The mark is a backup in a file next to \
      the folder of the store, with \".good\" at the end of its name. It replaces the previous mark.
      """)

  @OptionGroup var store: StoreOption
  @OptionGroup var changing: ChangeOptions
  @Argument(help: .hidden) var words: [String] = []

  func run() throws {
    guard words.first == "good" else {
      throw ValidationError("the first word must be \"good\", as in: kept mark good STORE")
    }
    let (location, rest) = try store.split(Array(words.dropFirst()))
    _ = try rest.expect(0...0, "only the store")
    let path = try Self.place(of: location)
    if changing.dryRun {
      let marked = File.isRegular(path) ? try StoreContents(contentsOf: path) : StoreContents.empty
      return try StoreContents(of: location).printDifferences(since: marked, changing)
    }
    let revision = try StoreAccess.open(location).backup(to: path, replacing: true)
    Output.standard.isDone = true
    changing.report("revision \(revision) is marked as good, in \(Shown.line(path))")
  }

  /// The file that has the last good contents.
  static func place(of location: String) throws(StoreError) -> String {
    guard let folder = try Store.folder(of: location) else {
      throw StoreError(.unsupported, "an in-memory store cannot be marked as good; use one in a folder")
    }
    return StoreAccess.withoutLastSlashes(folder) + ".good"
  }
}

struct MigrateStatus: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate-status",
    abstract: "Shows the schema version that programs have migrated a store to.",
    usage: "kept migrate-status STORE [--json]",
    discussion: "0 means that no program has set one. Programs migrate a store themselves, in one change.")

  @OptionGroup var store: StoreOption
  @Flag(help: "Print JSON: an object with schemaVersion.")
  var json = false
  @Argument(help: .hidden) var words: [String] = []

  func run() throws {
    let (location, rest) = try store.split(words)
    _ = try rest.expect(0...0, "only the store")
    let version = try StoreAccess.open(location, isReadOnly: true).schemaVersion()
    Output.standard.write(line: json ? "{\"schemaVersion\":\(version)}" : "schema version \(version)")
  }
}
