import ArgumentParser
import Kept

struct Backup: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Copies a whole store to a file while programs keep using it.",
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
    try File.checkPlace(path, replacing: replace)
    if changing.dryRun {
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
    abstract: "Replaces the contents of a store with a backup, or with its own values in the past, as one change.",
    usage: """
      kept restore STORE FILE [--passphrase] [--dry-run]
      kept restore STORE @TIME [--dry-run]
      kept restore STORE --last-good [--dry-run]
      """,
    discussion: """
      Before a backup is restored, the previous contents are copied to the folder "quarantine" of the store.

      With a time, such as @17 or @2h, all keys get their values of that time again, and `kept undo` undoes this. \
      Declarations stay as they are. So do values that the history does not keep: those of more than 65,536 bytes, and \
      secrets, unless the store encrypts them. If such a value has changed since, its key is named, and the exit \
      status is 1.

      Encrypted secrets of a backup are opened with the keys of the store, with those of the backup, or with its \
      passphrase. If no one has decided how this store keeps secrets, it keeps them as the backup does.
      """)

  @OptionGroup var store: StoreOption
  @OptionGroup var changing: ChangeOptions
  @Flag(help: "Restore the contents that `kept mark good` has marked.")
  var lastGood = false
  @Flag(help: "Ask for the passphrase of the backup's secrets; without a terminal it is a line of standard input.")
  var passphrase = false
  @Argument(help: .hidden) var words: [String] = []

  func run() throws {
    let (location, rest) = try store.split(words)
    if !lastGood, rest.count == 1, let time = try PastTime(rest[0]) { return try restore(location, at: time) }
    let path =
      try lastGood
      ? Mark.place(of: location)
      : rest.expect(1...1, "one backup")[0]
    if lastGood {
      _ = try rest.expect(0...0, "no backup with --last-good")
      guard File.isRegular(path) else {
        throw StoreError(.unavailable, "nothing is marked as good: \(path) does not exist; see kept mark")
      }
    }
    let known = passphrase ? try Passphrase.ofStore("passphrase of the backup") : nil
    let settings = try StoreAccess.openToWrite(location, changing) {
      guard changing.dryRun else { return _ = try $0.restore(from: path, passphrase: known) }
      _ = try StoreContents(ofBackup: path, passphrase: known)
    }
    if changing.dryRun {
      let backup = try StoreContents(ofBackup: path, for: settings, passphrase: known)
      return try backup.printDifferences(since: StoreContents(settings), changing)
    }
    let restored = try settings.restore(from: path, passphrase: known)
    Output.standard.isDone = true
    changing.report("the store has the contents of \(Shown.line(path)), at revision \(restored.revision)")
    if let quarantine = restored.quarantine { changing.report("what it had before is in \(Shown.line(quarantine))") }
  }

  private func restore(_ location: String, at time: PastTime) throws {
    let past = try Past(location, at: time)
    let settings = try StoreAccess.open(location, toChange: changing)
    var writing = try WritingOptions.parse([])
    writing.changing = changing
    var left: [KeyName] = []
    let isEncrypted = (try? settings.secretsStatus().state) == .encrypted
    try Edit.commit(on: settings, at: location, writing) { left = try $0.restore(past, secrets: isEncrypted) }
    if !changing.dryRun {
      changing.report(
        "the store has the values of revision \(past.snapshot.revision)"
          + "\(left.isEmpty ? "" : ", except \(Count.of(left.count, "key"))"), at revision "
          + "\(try settings.currentRevision())")
    }
    for key in left {
      Failure.print(
        "\"\(Shown.line(key.text))\": is left as it is: the history does not have its value, which was longer than "
          + "65,536 bytes, or a secret that was not encrypted")
    }
    if !left.isEmpty { throw ExitStatus.absent }
  }
}

struct Diff: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Compares two stores, backups or exports, or one store at two times.",
    usage: """
      kept diff A B [--json | --quiet]
      kept diff STORE @TIME [@TIME] [--json | --quiet]
      """,
    discussion: """
      Each is a store, a backup, or a file that `kept export` has written. Lines begin with + for a key that only B \
      has, - for one that only A has, and ~ for one with a different value. Declarations are compared, too, unless an \
      export has none. Secrets that an export leaves out are listed, but not compared. Exit status 1 if there are \
      differences, and 4 if the comparison cannot be made.

      A time is a revision (@17), an age (@90m, @2h, @3d), or a date (@2026-11-24T10:00:00Z); without a second one \
      it is compared with the current values. The history keeps no values of more than 65,536 bytes, and secrets only \
      if the store encrypts them: one that is known to differ is shown as (secret) or (not kept), and one that may be \
      the same is left out. Exit status 4 if one is left out and nothing else differs.
      """)

  @OptionGroup var store: StoreOption
  @Flag(help: "One JSON object per difference: key, old, new, secret; or key, oldDeclaration, newDeclaration.")
  var json = false
  @Flag(name: [.short, .long], help: "Report differences only through the exit status.")
  var quiet = false
  @Flag(help: "Show the values of secrets.")
  var reveal = false
  @Argument(help: .hidden) var words: [String] = []

  func validate() throws {
    if quiet, json || reveal {
      throw ValidationError("--quiet prints nothing, so it cannot be combined with --json or --reveal")
    }
  }

  func run() throws {
    let (location, rest) = try store.split(words)
    Passphrase.isAskedFor = reveal
    let given = [location] + (try rest.expect(1...2, "two stores, backups or exports, or a store and times"))
    let times = try given.dropFirst().map { try PastTime($0) }
    let (a, b): (StoreContents, StoreContents)
    var isLater = false
    if let first = times[0] {
      let past = try Past(given[0], at: first, orFirst: true)
      (a, isLater) = (try StoreContents(past.snapshot), past.isEarlier)
      b = try times.count > 1 ? Self.contents(given[0], given[2], times[1]) : StoreContents(of: given[0])
    } else {
      let both = try given.expect(2...2, "two stores, backups or exports")
      (a, b) = (try StoreContents(of: both[0], with: both[1]), try StoreContents(of: both[1], with: both[0]))
    }
    let found = a.differences(to: b)
    if !quiet { print(found) }
    if !found.values.isEmpty || !found.declarations.isEmpty { throw ExitStatus.absent }
    if let key = found.unknown.first?.key {
      let others = found.unknown.count > 1 ? " and \(Count.of(found.unknown.count - 1, "other key"))" : ""
      throw StoreError(
        .unavailable,
        "no differences were found, but \"\(Shown.line(key.text))\"\(others) cannot be compared, and may differ")
    }
    if isLater { throw StoreError(.unavailable, "no differences were found, but there may be earlier ones") }
  }

  private func print(_ found: StoreDifferences) {
    found.printUnknown()
    if !found.comparesDeclarations {
      Failure.print("the declarations are not compared, because an export has none; see kept export --declarations")
    }
    guard json else { return found.lines(reveal: reveal).forEach { Output.standard.write(line: $0) } }
    for difference in found.values { Output.standard.write(json: difference.shown(reveal).json.json) }
    for difference in found.declarations { Output.standard.write(json: Shown.json(difference.json)) }
  }

  private static func contents(_ location: String, _ word: String, _ time: PastTime?) throws -> StoreContents {
    guard let time else { throw ValidationError("\(Excerpt.of(word)) is not a valid time; use a revision such as @17") }
    return try StoreContents(Past(location, at: time).snapshot)
  }
}

extension StoreContents {
  /// Reads a store, a backup or an export.
  ///
  /// - Parameter other: what it is compared with: the keys of a store open the secrets of a backup.
  init(of name: String, with other: String? = nil) throws {
    guard File.isRegular(name) else {
      self = try StoreContents(StoreAccess.open(name, isReadOnly: true))
      return
    }
    let store = other.flatMap { File.isRegular($0) ? nil : try? StoreAccess.open($0, isReadOnly: true) }
    do throws(StoreError) { self = try StoreContents(contentsOf: name, for: store) } catch {
      throw StoreError(error.code, key: error.key, Shown.line(error.message))
    }
  }

  /// Prints what changes on the way from other contents to these, in values and declarations.
  func printDifferences(since old: StoreContents, _ changing: ChangeOptions) {
    let found = old.differences(to: self)
    found.printUnknown()
    for line in found.lines(reveal: false) { changing.report(line) }
  }
}

extension StoreDifferences {
  /// Prints what was not compared, and why.
  func printUnknown() {
    for unknown in unknown {
      let remedy = unknown.reason == "the export leaves out secrets" ? "; see kept export --secrets" : ""
      Failure.print("\"\(Shown.line(unknown.key.text))\": is left out, because \(Shown.line(unknown.reason))\(remedy)")
    }
  }

  /// A line for each difference.
  func lines(reveal: Bool) -> [String] { values.map { $0.shown(reveal).line } + declarations.map(\.line) }
}

extension StoreDifferences.Difference {
  func shown(_ reveal: Bool) -> Difference { Difference(key: key, from: old, to: new, isSecret: isSecret && !reveal) }
}

extension StoreDifferences.DeclarationDifference {
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
