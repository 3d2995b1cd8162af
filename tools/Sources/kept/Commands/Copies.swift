import ArgumentParser
import Kept

struct Backup: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Copies a whole store to a file, while programs go on using it.",
    usage: "kept backup STORE FILE [--replace]")

  @OptionGroup var store: StoreOption
  @Flag(help: "Replace an existing file, once the new one is complete.")
  var replace = false
  @Argument var words: [String] = []

  func run() throws {
    let (location, rest) = try store.split(words)
    let path = try rest.expect(1...1, "one file")[0]
    let revision = try StoreAccess.open(location).backup(to: path, replacing: replace)
    Output.standard.write(line: "\(path) has the store at revision \(revision)")
  }
}

struct Restore: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Replaces the contents of a store by a backup, as one change.",
    usage: "kept restore STORE FILE [--dry-run]",
    discussion: "The previous contents are copied to the folder \"quarantine\" of the store first.")

  @OptionGroup var store: StoreOption
  @Flag(name: [.short, .long], help: "Show what would change, and change nothing.")
  var dryRun = false
  @Argument var words: [String] = []

  func run() throws {
    let (location, rest) = try store.split(words)
    let path = try rest.expect(1...1, "one backup")[0]
    if dryRun {
      for line in try Contents.of(location).differences(from: Contents.ofBackup(path)) {
        Output.standard.write(line: line.line)
      }
      return
    }
    let restored = try StoreAccess.openOrCreate(location).restore(from: path)
    Output.standard.write(line: "the store has the contents of \(path), at revision \(restored.revision)")
    if let quarantine = restored.quarantine { Output.standard.write(line: "what it had before is in \(quarantine)") }
  }
}

struct Diff: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Compares the values of two stores, backups or exports.",
    usage: "kept diff A B [--json]",
    discussion: """
      Each is a store, a backup, or a file that `kept export` has written. Lines begin with + for a key that only B \
      has, - for one that only A has, and ~ for one with another value. Exit status 1 if there are differences.
      """)

  @Flag(help: "One JSON object a difference.")
  var json = false
  @Flag(help: "Show the values of secrets.")
  var reveal = false
  @Argument var words: [String] = []

  func run() throws {
    let both = try words.expect(2...2, "two stores, backups or exports")
    let found = try Contents.of(both[0]).differences(from: Contents.of(both[1]), reveal: reveal)
    for difference in found { Output.standard.write(line: json ? difference.json.json : difference.line) }
    if !found.isEmpty { throw ExitStatus.absent }
  }
}

/// The stored values of a store, a backup or an export.
struct Contents {
  private let values: [String: Entry]

  static func of(_ name: String) throws -> Contents {
    guard File.isRegular(name) else { return try Contents(StoreAccess.open(name)) }
    let bytes = try File.bytes(of: name)
    if bytes.starts(with: Array("SQLite format 3".utf8)) { return try ofBackup(name) }
    let copy = try Store.open("memory:")
    try copy.import(bytes, ImportOptions(includesDeclarations: true))
    return try Contents(copy)
  }

  static func ofBackup(_ path: String) throws -> Contents {
    let copy = try Store.open("memory:")
    try copy.restore(from: path)
    return try Contents(copy)
  }

  private init(_ settings: Store) throws(StoreError) {
    let snapshot = try settings.snapshot()
    var values: [String: Entry] = [:]
    for key in try snapshot.storedKeys(prefix: "") { values[key.text] = try snapshot.entry(for: key) }
    self.values = values
  }

  /// What changes on the way from these contents to others, in the order of the keys.
  func differences(from others: Contents, reveal: Bool = false) -> [Difference] {
    let keys = Set(values.keys).union(others.values.keys)
    return keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.compactMap { key in
      let (a, b) = (values[key], others.values[key])
      guard a?.value != b?.value else { return nil }
      let isSecret = [a, b].contains { $0?.declaration?.isSecret == true }
      return Difference(key: key, old: a?.value, new: b?.value, isSecret: isSecret && !reveal)
    }
  }
}
