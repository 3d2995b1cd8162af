import ArgumentParser
import Kept

struct Backup: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Copies a whole store to a file, while programs go on using it.",
    usage: "kept backup STORE FILE [--replace] [--dry-run]")

  @OptionGroup var store: StoreOption
  @OptionGroup var changing: ChangeOptions
  @Flag(help: "Replace an existing file, once the new one is complete.")
  var replace = false
  @Argument(help: .hidden) var words: [String] = []

  func run() throws {
    let (location, rest) = try store.split(words)
    let path = try rest.expect(1...1, "one file")[0]
    let settings = try StoreAccess.open(location)
    if changing.dryRun {
      try File.checkPlace(path, replacing: replace)
      return try changing.report("\(Shown.line(path)) would have the store at revision \(settings.currentRevision())")
    }
    let revision = try settings.backup(to: path, replacing: replace)
    Output.standard.isDone = true
    changing.report("\(Shown.line(path)) has the store at revision \(revision)")
  }
}

struct Restore: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Replaces the contents of a store by a backup, as one change.",
    usage: """
      kept restore STORE FILE [--dry-run]
      kept restore STORE --last-good [--dry-run]
      """,
    discussion: "The previous contents are copied to the folder \"quarantine\" of the store first.")

  @OptionGroup var store: StoreOption
  @OptionGroup var changing: ChangeOptions
  @Flag(help: "Restore what `kept mark good` has marked.")
  var lastGood = false
  @Argument(help: .hidden) var words: [String] = []

  func run() throws {
    let (location, rest) = try store.split(words)
    let path =
      try lastGood
      ? Mark.place(of: location)
      : rest.expect(1...1, "one backup")[0]
    if lastGood {
      _ = try rest.expect(0...0, "no backup beside --last-good")
      guard File.isRegular(path) else {
        throw StoreError(.unavailable, "nothing is marked as good: \(path) does not exist; see kept mark")
      }
    }
    let settings = try StoreAccess.openToWrite(location, changing) { _ in _ = try Contents.ofBackup(path) }
    if changing.dryRun { return try Contents.ofBackup(path).printDifferences(since: Contents(settings), changing) }
    let restored = try settings.restore(from: path)
    Output.standard.isDone = true
    changing.report("the store has the contents of \(Shown.line(path)), at revision \(restored.revision)")
    if let quarantine = restored.quarantine { changing.report("what it had before is in \(Shown.line(quarantine))") }
  }
}

struct Diff: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Compares two stores, backups or exports, or one store at two times.",
    usage: """
      kept diff A B [--json | --quiet]
      kept diff STORE @MOMENT [@MOMENT] [--json | --quiet]
      """,
    discussion: """
      Each is a store, a backup, or a file that `kept export` has written. Lines begin with + for a key that only B \
      has, - for one that only A has, and ~ for one with another value. Declarations are compared, too, unless an \
      export has none. Exit status 1 if there are differences, and 4 if the comparison cannot be made.

      A time is a revision (@17), a time ago (@90m, @2h, @3d), or a date (@2026-11-24T10:00:00Z); without a second \
      one it is compared with the present. The history keeps no secrets and no values of more than 65,536 bytes: one \
      that is known to differ is shown as (secret) or (not kept), and one that may be the same is left out. Exit \
      status 4 if one is left out and nothing else differs.
      """)

  @OptionGroup var store: StoreOption
  @Flag(help: "One JSON object a difference: key, old, new, secret; or key, oldDeclaration, newDeclaration.")
  var json = false
  @Flag(name: [.short, .long], help: "Only tell by the exit status whether there are differences.")
  var quiet = false
  @Flag(help: "Show the values of secrets.")
  var reveal = false
  @Argument(help: .hidden) var words: [String] = []

  func validate() throws {
    if quiet, json || reveal {
      throw ValidationError("--quiet prints nothing, so it goes with neither --json nor --reveal")
    }
  }

  func run() throws {
    let (location, rest) = try store.split(words)
    let given = [location] + (try rest.expect(1...2, "two stores, backups or exports, or a store and times"))
    let times = try given.dropFirst().map { try PastTime($0) }
    let (a, b): (Contents, Contents)
    if let first = times[0] {
      a = try Contents(Past(given[0], at: first, orFirst: true))
      b = try times.count > 1 ? Self.contents(given[0], given[2], times[1]) : Contents.of(given[0])
    } else {
      let both = try given.expect(2...2, "two stores, backups or exports")
      (a, b) = (try Contents.of(both[0]), try Contents.of(both[1]))
    }
    let found = a.differences(from: b, reveal: reveal)
    let unknown = a.incomparable(with: b)
    for key in unknown where !quiet {
      Failure.print("\"\(Shown.line(key.text))\": is left out, because the history has not kept its value")
    }
    for difference in found where !quiet {
      json ? Output.standard.write(json: difference.json.json) : Output.standard.write(line: difference.line)
    }
    var declared: [DeclarationDifference] = []
    if let (old, new) = a.comparableDeclarations(with: b) {
      declared = DeclarationDifference.all(from: old, to: new)
    } else if !quiet {
      Failure.print("the declarations are not compared, because an export has none; see kept export --declarations")
    }
    for difference in declared where !quiet {
      json ? Output.standard.write(json: Shown.json(difference.json)) : Output.standard.write(line: difference.line)
    }
    if !found.isEmpty || !declared.isEmpty { throw ExitStatus.absent }
    if let key = unknown.first {
      let others = unknown.count > 1 ? " and \(Count.of(unknown.count - 1, "other key"))" : ""
      throw StoreError(
        .unavailable,
        "no difference is known, but the history has not kept the value of \"\(Shown.line(key.text))\"\(others), which "
          + "may differ")
    }
    if a.isLater { throw StoreError(.unavailable, "no difference is known, but there may be earlier ones") }
  }

  private static func contents(_ location: String, _ word: String, _ time: PastTime?) throws -> Contents {
    guard let time else { throw ValidationError("\(Excerpt.of(word)) is not a valid time; use a revision such as @17") }
    return try Contents(Past(location, at: time))
  }
}

/// The stored values of a store, a backup or an export.
struct Contents {
  private var values: [KeyName: Entry]
  private var declarations: [KeyName: Declaration]
  /// Keys whose value the history has not kept.
  private var notKept: [KeyName: PastValue] = [:]
  /// Whether these are later than requested: the history begins after the requested time.
  private(set) var isLater = false
  /// Whether the declarations are known: an export may have none.
  private var hasDeclarations = true

  static func of(_ name: String) throws -> Contents {
    guard File.isRegular(name) else { return try Contents(StoreAccess.open(name)) }
    let bytes = try File.bytes(of: name)
    if bytes.starts(with: Array("SQLite format 3".utf8)) { return try ofBackup(name) }
    let copy = try Store.open("memory:")
    try copy.import(bytes, ImportOptions(includesDeclarations: true))
    var contents = try Contents(copy)
    if contents.declarations.isEmpty { contents.hasDeclarations = declares(bytes) }
    return contents
  }

  /// Whether an export has the member `declarations`.
  private static func declares(_ export: [UInt8]) -> Bool {
    // `kept export` writes this member first. An export may be too long for one value.
    if export.starts(with: Array("{\"declarations\":".utf8)) { return true }
    let text = String(decoding: export, as: UTF8.self)
    guard case .dictionary(let members)? = try? Value(json: text) else { return false }
    return members["declarations"] != nil
  }

  static func ofBackup(_ path: String) throws -> Contents {
    let copy = try Store.open("memory:")
    try copy.restore(from: path)
    return try Contents(copy)
  }

  init(_ settings: Store) throws(StoreError) { try self.init(settings.snapshot()) { _ in .unknown } }

  init(_ past: Past) throws(StoreError) {
    let later = past.history.changes.filter { $0.revision > past.snapshot.revision }
    // The last of these is the first change of its key since.
    let first = Dictionary(later.map { ($0.key, $0.old) }) { $1 }
    try self.init(past.snapshot) { first[$0] ?? .unknown }
    isLater = past.isEarlier
  }

  private init() { (values, declarations) = ([:], [:]) }

  static let empty = Contents()

  private init(_ snapshot: Snapshot, notKept lost: (KeyName) -> PastValue) throws(StoreError) {
    var values: [KeyName: Entry] = [:]
    for key in try snapshot.storedKeys(prefix: "") {
      do throws(StoreError) { values[key] = try snapshot.entry(for: key) } catch {
        // The history has not kept it.
        guard error.code == .unsupported else { throw error }
        notKept[key] = lost(key)
      }
    }
    self.values = values
    let declared = try snapshot.declarations().declarations
    declarations = Dictionary(declared.map { ($0.key, $0.declaration) }) { first, _ in first }
  }

  /// Prints what changes on the way from other contents to these, in values and declarations.
  func printDifferences(since old: Contents, _ changing: ChangeOptions) {
    for difference in old.differences(from: self) { changing.report(difference.line) }
    for difference in DeclarationDifference.all(from: old.declarations, to: declarations) {
      changing.report(difference.line)
    }
  }

  /// The declarations of both; nil if those of one are not known, and the other has some.
  func comparableDeclarations(with others: Contents) -> (
    old: [KeyName: Declaration], new: [KeyName: Declaration]
  )? {
    if hasDeclarations, others.hasDeclarations { return (declarations, others.declarations) }
    return declarations.isEmpty && others.declarations.isEmpty ? ([:], [:]) : nil
  }

  /// What changes on the way from these contents to others, in the order of the keys.
  func differences(from others: Contents, reveal: Bool = false) -> [Difference] {
    keys(with: others).compactMap { key in
      let (old, new) = (past(key), others.past(key))
      guard old.differs(from: new) == true else { return nil }
      let isSecret =
        [old, new].contains(.secret)
        || [self, others].contains { $0.values[key]?.declaration?.isSecret == true }
      return Difference(key: key, from: old, to: new, isSecret: isSecret && !reveal)
    }
  }

  /// The keys that may or may not differ, in order.
  func incomparable(with others: Contents) -> [KeyName] {
    keys(with: others).filter { past($0).differs(from: others.past($0)) == nil }
  }

  private func keys(with others: Contents) -> [KeyName] {
    [values.keys, others.values.keys].reduce(Set(notKept.keys).union(others.notKept.keys)) { $0.union($1) }.sorted()
  }

  private func past(_ key: KeyName) -> PastValue {
    notKept[key] ?? values[key]?.value.map { .value($0) } ?? .absent
  }
}

extension PastValue {
  /// Whether two keys had different values; nil if that is not known.
  fileprivate func differs(from other: PastValue) -> Bool? {
    switch (self, other) {
    case (.unknown, _), (_, .unknown): nil
    case (.value(let value), .value(let other)): value != other
    case (.absent, .absent): false
    case (.absent, _), (_, .absent): true
    // As JSON it is no shorter than stored, and the history keeps every value up to this length.
    case (.notKept, .value(let value)), (.value(let value), .notKept): value.json.utf8.count <= 65_536 ? true : nil
    default: nil
    }
  }
}

/// A key whose declaration differs.
struct DeclarationDifference {
  let key: KeyName
  let old: Declaration?
  let new: Declaration?

  /// What changes on the way from old declarations to new ones, by key, in the order of the keys.
  static func all(
    from old: [KeyName: Declaration], to new: [KeyName: Declaration]
  ) -> [DeclarationDifference] {
    func text(_ declaration: Declaration?) -> ExactString? { declaration.map { ExactString($0.json) } }
    return Set(old.keys).union(new.keys).filter { text(old[$0]) != text(new[$0]) }.sorted()
      .map { DeclarationDifference(key: $0, old: old[$0], new: new[$0]) }
  }

  /// Like that of a value, after "declaration of".
  var line: String {
    let name = "declaration of \(Shown.key(key))"
    let (before, after) = (shown(old), shown(new))
    if old == nil { return "+ \(name): \(after)".styled(.green) }
    if new == nil { return "- \(name): \(before)".styled(.red) }
    return "~ \(name): \(before) → \(after)".styled(.yellow)
  }

  /// The words of a declaration, and whether it has others, which may be the ones that differ.
  private func shown(_ declaration: Declaration?) -> String {
    guard let declaration else { return "" }
    return Shown.line(declaration.shownJSON()) + (declaration.hasHiddenWords ? " and rules that are not shown" : "")
  }

  var json: String {
    let members =
      [("key", Value.string(key.text).json)]
      + [("newDeclaration", new), ("oldDeclaration", old)]
      .compactMap { name, declaration in declaration.map { (name, $0.shownJSON()) } }
    return "{\(members.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ","))}"
  }
}
