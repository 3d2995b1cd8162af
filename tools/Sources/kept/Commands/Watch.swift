import ArgumentParser
import Glibc
import Kept

struct Watch: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Prints changes as they happen, in any process.",
    usage: "kept watch STORE [KEY | PREFIX.] [--initial] [--exec COMMAND] [--count N]",
    discussion: """
      A word that ends with a dot, or none, is a prefix. Changes of a key that come faster than they are printed may \
      be one: from the value before the first of them to the value after the last.

      The shell runs COMMAND for each printed change, and the next change waits for it. KEPT_KEY, KEPT_OLD, KEPT_NEW, \
      KEPT_REVISION and KEPT_ORIGIN are in its environment; an absent value has no variable. Its standard input is the \
      change as --json prints it. If the values are too large for an environment (128 KiB on Linux), only the standard \
      input has them.

      Exit status 4 means that COMMAND could not be started for a change.
      """)

  @OptionGroup var store: StoreOption
  @OptionGroup var layers: LayerOptions
  @Flag(help: "One JSON object a change: time, key, old, new, origin, tag, revision.")
  var json = false
  @Flag(help: "First print the present values.")
  var initial = false
  @Option(
    name: .customLong("exec"), help: ArgumentHelp("Run this for each printed change.", valueName: "command"))
  var command: String?
  @Option(help: ArgumentHelp("End after so many changes.", valueName: "n"))
  var count: Int?
  @Option(help: ArgumentHelp("End after so many seconds; with --count that is exit status 1.", valueName: "seconds"))
  var timeout: Double?
  @Flag(help: "Show the values of secrets, and pass them to the command.")
  var reveal = false
  @Flag(name: [.short, .long], help: "Print nothing but errors; for --exec.")
  var quiet = false
  @Argument(help: .hidden) var words: [String] = []

  func validate() throws {
    if let count, count < 1 { throw ValidationError("--count takes a number from 1 on") }
    if quiet, json || initial && command == nil {
      throw ValidationError("--quiet prints nothing, so it goes with neither --json nor --initial")
    }
    if let timeout, !(0...1e9 ~= timeout) { throw ValidationError("--timeout takes seconds") }
  }

  func run() throws {
    let (location, rest) = try store.split(words)
    let word = try rest.expect(0...1, "at most one key or prefix").first ?? ""
    let isPrefix = word.isEmpty || word.ends(with: ".")
    let settings = try StoreAccess.open(location, layers.choice)
    if !isPrefix, !quiet, let similar = try Suggestion.unknown(KeyName(word), in: settings), !similar.isEmpty {
      Failure.print("\(Excerpt.of(word)): has no value yet, and is not declared\(similar)")
    }
    let printer = ChangePrinter(json: json, quiet: quiet, command: command, count: count, reveal: reveal)
    let scope: Scope = isPrefix ? .prefix(ExactString(word)) : .key(try KeyName(word))
    let subscription = try settings.observe(scope, initial: initial) { printer.print($0) }
    wait()
    // The end of a command that runs is waited for.
    subscription.cancel()
    if printer.hasFailed { throw ExitStatus.unavailable }
    if count != nil { throw ExitStatus.absent }
  }

  /// Waits until the time is over; a signal ends the program, also while a command runs.
  private func wait() {
    guard let timeout else {
      while true { pause() }
    }
    let end = Clock.seconds + timeout
    while case let rest = end - Clock.seconds, rest > 0 {
      var left = timespec(tv_sec: Int(rest), tv_nsec: Int((rest - rest.rounded(.down)) * 1e9))
      nanosleep(&left, nil)
    }
  }
}

/// Prints the changes; called on the store's thread, one call at a time.
private final class ChangePrinter: @unchecked Sendable {
  private let json: Bool
  private let quiet: Bool
  private let command: String?
  private var left: Int?
  private let reveal: Bool
  /// Whether the command could not be started; read after the subscription is cancelled.
  private(set) var hasFailed = false

  init(json: Bool, quiet: Bool, command: String?, count: Int?, reveal: Bool) {
    (self.json, self.quiet, self.command, left, self.reveal) = (json, quiet, command, count, reveal)
  }

  func print(_ notice: Notice) {
    if notice.mayHaveMissed { Failure.print("changes may be missing before revision \(notice.revision)") }
    for change in notice.changes {
      let isHidden = change.isSecret && !reveal
      if !quiet {
        Output.standard.write(
          line: json ? Shown.json(text(of: change, notice, isHidden)) : line(of: change, notice, isHidden))
        Output.standard.flush()
      }
      if let command { run(command, change, notice, isHidden) }
      // The initial values are no changes.
      guard let count = left, notice.origin != .initial else { continue }
      if count == 1 { exit((hasFailed ? ExitStatus.unavailable : .done).rawValue) }
      left = count - 1
    }
  }

  private func line(of change: Change, _ notice: Notice, _ isHidden: Bool) -> String {
    func shown(_ value: Value?) -> String { value.map { isHidden ? "(secret)" : Shown.json($0) } ?? "–" }
    let key = Shown.key(change.key).styled(.bold)
    let time = notice.time.milliseconds.styled(.dim)
    if notice.origin == .initial { return "\(time) \(key): \(shown(change.new))" }
    let author = notice.tag.map { "\(Shown.line($0)), " } ?? ""
    return "\(time) \(key): \(shown(change.old)) → \(shown(change.new)) (\(author)\(notice.origin.words))"
  }

  private func text(of change: Change, _ notice: Notice, _ isHidden: Bool) -> String {
    var members: [(ExactString, Value)] = [
      ("time", .string(notice.time.description)), ("key", .string(change.key.text)),
      ("origin", .string(notice.origin.words)), ("revision", .int(Int64(clamping: notice.revision))),
    ]
    if let tag = notice.tag { members.append(("tag", .string(tag))) }
    if isHidden { members.append(("secret", true)) }
    if let old = change.old, !isHidden { members.append(("old", old)) }
    if let new = change.new, !isHidden { members.append(("new", new)) }
    return Value.dictionary(ValueDictionary(members)).json
  }

  private func run(_ command: String, _ change: Change, _ notice: Notice, _ isHidden: Bool) {
    func variable(_ value: Value?) -> String? {
      guard let value, !isHidden else { return nil }
      return if case .string(let text) = value { text } else { value.json }
    }
    let values = [("KEPT_OLD", variable(change.old)), ("KEPT_NEW", variable(change.new))]
    let others = [
      ("KEPT_KEY", change.key.text), ("KEPT_REVISION", "\(notice.revision)"), ("KEPT_ORIGIN", notice.origin.words),
    ]
    let status = Shell.run(
      command, others + values, mayLack: { name in values.contains { $0.0 == name } },
      input: Shown.json(text(of: change, notice, isHidden)) + "\n")
    if status == nil { hasFailed = true }
  }
}

extension Notice.Origin {
  /// The origin for people, and in JSON.
  var words: String {
    switch self {
    case .store, .process: "this process"
    case .otherProcess: "another process"
    case .initial: "initial"
    case .several: "several"
    case .layer: "layer"
    }
  }
}
