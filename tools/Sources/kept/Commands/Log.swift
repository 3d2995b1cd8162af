import ArgumentParser
import Kept

struct Log: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "log",
    abstract: "Shows what was changed, when and by whom, the newest first.",
    usage: "kept log STORE [KEY | PREFIX.] [--limit N] [--json]",
    discussion: """
      A word that ends with a dot, or none, is a prefix. A line has the revision, the time, the key, the old and the \
      new value, and the tag of the program. Of a secret it says that it changed. `kept undo` takes the revision.
      """)

  @OptionGroup var store: StoreOption
  @Option(name: [.customShort("n"), .long], help: ArgumentHelp("Show so many changes.", valueName: "n"))
  var limit: Int?
  @Flag(help: "One JSON object a change: revision, time, key, old, new, tag, secret, notKept.")
  var json = false
  @Argument(help: .hidden) var words: [String] = []

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit takes a number from 1 on") }
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
      let similar = isPrefix ? "" : try Suggestion.unknown(KeyName(word), in: settings) ?? ""
      Failure.print("no change is known after revision \(history.completeAfter)\(similar)")
      throw ExitStatus.absent
    }
  }
}

struct Undo: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "undo",
    abstract: "Restores what one change has replaced, as a new change.",
    usage: "kept undo STORE [REVISION] [--dry-run] [--no-layers]",
    discussion: """
      Without a revision, the newest in `kept log`. Nothing else is changed. If a key has changed since, nothing is \
      done, and the keys are listed (exit status 3). What undo has done can be undone, too.
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
        throw ValidationError("\(Excerpt.of(word)) is no revision; kept log lists them")
      }
      revision = given
    } else {
      guard let newest = history.changes.first?.revision else {
        throw StoreError(.unavailable, "there is nothing to undo: the history is empty")
      }
      revision = newest
    }
    let changes = history.changes.reversed().filter { $0.revision == revision }
    do throws(StoreError) {
      try settings.undo(revision: revision, tag: "kept undo", isDryRun: changing.dryRun)
      Output.standard.isDone = !changing.dryRun
    } catch {
      throw Self.refusal(error)
    }
    for change in changes { changing.report(change.undone.line) }
  }

  /// The error with what can be done here.
  private static func refusal(_ error: StoreError) -> StoreError {
    switch error.code {
    case .unsupported: StoreError(.invalid, key: error.key, error.message)
    // `absent` is for keys without a value.
    case .absent: StoreError(.unavailable, key: error.key, error.message)
    case .locked:
      StoreError(
        .locked, key: error.key,
        "\(error.message); --no-layers undoes the stored value, which programs ignore as long as it is locked")
    default: error
    }
  }
}

extension PastChange {
  fileprivate var line: String {
    let key = Shown.key(key).styled(.bold)
    let author = tag.map { " (\(Shown.line($0)))" } ?? ""
    // A key may have become secret, or ordinary, with the change or since.
    let isSecret = old == .secret || new == .secret
    let (before, after) = (old.shown(isSecret: isSecret), new.shown(isSecret: isSecret))
    return "\("\(revision)".styled(.yellow)) \(time.milliseconds.styled(.dim)) \(key): \(before) → \(after)\(author)"
  }

  /// What undoing it changes.
  fileprivate var undone: Difference {
    Difference(key: key, old: new.value, new: old.value, isSecret: old == .secret || new == .secret)
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
