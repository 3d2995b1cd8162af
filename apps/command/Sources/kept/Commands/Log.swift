import ArgumentParser
import Kept

struct Log: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "log",
    abstract: "Shows past changes with their time and author, the newest first.",
    usage: "kept log STORE [KEY | PREFIX.] [--limit N] [--json]",
    discussion: """
      A word that ends with a dot, or none, is a prefix. A line has the revision, the time in your time zone (TZ), the \
      key, the old and the new value, and the tag of the program. For a secret, a value is shown as (secret), and no \
      value as –. `kept undo` takes the revision. --json has the time in UTC.
      """)

  @OptionGroup var store: StoreOption
  @Option(name: [.customShort("n"), .long], help: ArgumentHelp("Show at most N changes.", valueName: "n"))
  var limit: Int?
  @Flag(help: "One JSON object per change: revision, time, key, old, new, tag, secret, notKept.")
  var json = false
  @Argument(help: .hidden) var words: [String] = []

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit must be 1 or more") }
  }

  func run() throws {
    let (location, rest) = try store.split(words)
    let word = try rest.expect(0...1, "at most one key or prefix").first ?? ""
    let settings = try StoreAccess.open(location)
    let isPrefix = word.isEmpty || word.ends(with: ".")
    let history = try isPrefix ? settings.history(prefix: word) : settings.history(of: word)
    for change in history.changes.prefix(limit ?? .max) {
      json ? Output.standard.write(json: change.json) : Output.standard.write(line: change.line)
    }
    if history.changes.isEmpty {
      let similar = isPrefix ? "" : try Suggestion.unknown(KeyName(word), in: settings)
      let start =
        history.completeAfter > 0 ? "no change is known after revision \(history.completeAfter)" : "no changes"
      Failure.print(start + similar)
      throw ExitStatus.absent
    }
  }
}

struct Undo: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "undo",
    abstract: "Restores the values that one change replaced, as a new change.",
    usage: "kept undo STORE [REVISION] [--dry-run] [--no-layers]",
    discussion: """
      Without a revision, it undoes the newest change in `kept log`; called again, it undoes the undo. Nothing else \
      is changed. If a key has changed since, nothing is done, and the keys are listed (exit status 3). `kept redo` \
      takes back the last undo, unless that has replaced a value that the history does not keep: one of more than \
      65,536 bytes, or a secret, unless the store encrypts it. A warning names such keys, also with --dry-run.
      """)

  @OptionGroup var store: StoreOption
  @OptionGroup var layers: LayerOptions
  @OptionGroup var changing: ChangeOptions
  @Argument(help: .hidden) var words: [String] = []

  func run() throws {
    let (location, rest) = try store.split(words)
    let word = try rest.expect(0...1, "at most one revision").first
    let settings = try StoreAccess.open(location, layers.choice, toChange: changing)
    let history = try settings.history()
    let revision: Revision
    if let word {
      guard let given = Revision(String(word.unicodeScalars.dropFirst(word.begins(with: "@") ? 1 : 0))) else {
        throw ValidationError("\(Excerpt.of(word)) is not a revision; kept log lists the revisions")
      }
      revision = given
    } else {
      guard let newest = history.changes.first?.revision else {
        throw StoreError(.unavailable, "there is nothing to undo: the history is empty")
      }
      revision = newest
    }
    try Self.undo(revision, in: settings, history, tag: Self.tag, changing)
  }

  fileprivate static let tag = "kept undo"
  /// The tags of undos: of this command, and of the browser.
  fileprivate static let tags: Set = [tag, "kept browse undo"]

  fileprivate static func undo(
    _ revision: Revision, in settings: Store, _ history: History, tag: String, _ changing: ChangeOptions
  ) throws(StoreError) {
    let changes = history.changes.reversed().filter { $0.revision == revision }
    do throws(StoreError) {
      try settings.undo(revision: revision, tag: tag, isDryRun: changing.dryRun)
      Output.standard.isDone = !changing.dryRun
    } catch {
      throw refusal(error)
    }
    let isEncrypted = (try? settings.secretsStatus().state) == .encrypted
    for change in changes {
      changing.report(change.undone.line)
      guard change.isLost, change.new != .secret || !isEncrypted else { continue }
      changing.warn(
        "\"\(Shown.line(change.key.text))\": the replaced value cannot be restored, because the history keeps no "
          + "values of more than 65,536 bytes, and secrets only if they are encrypted")
    }
  }

  /// The error with what can be done here.
  private static func refusal(_ error: StoreError) -> StoreError {
    switch error.code {
    case .unsupported: StoreError(.invalid, key: error.key, error.message)
    // `absent` is for keys without a value.
    case .absent: StoreError(.unavailable, key: error.key, error.message)
    // The message lists all keys.
    case .conflict: StoreError(.conflict, error.message)
    case .locked:
      StoreError(
        .locked, key: error.key,
        "\(error.message); --no-layers changes the stored value, but programs ignore it while the key is locked")
    default: error
    }
  }
}

struct Redo: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "redo",
    abstract: "Takes back the last undo, as a new change.",
    usage: "kept redo STORE [--dry-run] [--no-layers]",
    discussion: """
      The undo may have been made by `kept undo` or by `kept browse`. Called again, it takes back the one before. If a \
      key of the undo has changed since, nothing is done, and the keys are listed (exit status 3): after `kept undo` \
      has undone an undo, only the later one can be taken back.
      """)

  @OptionGroup var store: StoreOption
  @OptionGroup var layers: LayerOptions
  @OptionGroup var changing: ChangeOptions
  @Argument(help: .hidden) var words: [String] = []

  func run() throws {
    let (location, rest) = try store.split(words)
    _ = try rest.expect(0...0, "only the store")
    let settings = try StoreAccess.open(location, layers.choice, toChange: changing)
    let history = try settings.history()
    guard let revision = Self.lastUndo(in: history) else {
      throw StoreError(.unavailable, "there is nothing to redo: the history has no undo left to take back")
    }
    try Undo.undo(revision, in: settings, history, tag: Self.tag, changing)
  }

  private static let tag = "kept redo"

  /// The revision of the last undo that no redo has taken back.
  private static func lastUndo(in history: History) -> Revision? {
    var (redone, last) = (0, nil as Revision?)
    for change in history.changes where change.revision != last {
      last = change.revision
      if change.tag == tag { redone += 1 }
      guard let tag = change.tag, Undo.tags.contains(tag) else { continue }
      if redone == 0 { return change.revision }
      redone -= 1
    }
    return nil
  }
}

extension PastChange {
  fileprivate var line: String {
    let key = Shown.key(key).styled(.bold)
    let author = tag.map { " (\(Shown.line($0)))" } ?? ""
    // A key may have become secret, or ordinary, with the change or since.
    let isSecret = old == .secret || new == .secret
    let (before, after) = (old.shown(isSecret: isSecret), new.shown(isSecret: isSecret))
    return "\("\(revision)".styled(.yellow)) \(time.local.styled(.dim)) \(key): \(before) → \(after)\(author)"
  }

  /// Whether the history does not keep the value that undoing it replaces.
  fileprivate var isLost: Bool {
    switch new {
    case .secret, .notKept: true
    case .value(let value): !value.isKeptByHistory
    case .absent, .unknown: false
    }
  }

  /// What undoing it changes.
  fileprivate var undone: Difference {
    Difference(key: key, from: new, to: old, isSecret: old == .secret || new == .secret)
  }
}

extension PastValue {
  fileprivate func shown(isSecret: Bool) -> String {
    switch self {
    case .absent: "–"
    case .value(let value): isSecret ? "(secret)" : Shown.json(value)
    case .secret: "(secret)"
    case .notKept, .unknown: "(not kept)"
    }
  }

  var value: Value? { if case .value(let value) = self { value } else { nil } }
}
