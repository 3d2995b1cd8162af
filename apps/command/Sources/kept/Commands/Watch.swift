import ArgumentParser
import Glibc
import Kept
import Synchronization

struct Watch: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Prints changes as they happen, in any process.",
    usage: """
      kept watch STORE [KEY | PREFIX.] [--initial] [--exec COMMAND] [--count N]
      kept watch --all-stores [KEY | PREFIX.] [--match PATTERN]
      """,
    discussion: """
      A word that ends with a dot, or none, is a prefix. Changes of a key that come faster than they are printed may \
      be merged into one, from the value before the first of them to the value after the last.

      The shell runs COMMAND for each printed change, and the next change waits for it. KEPT_KEY, KEPT_OLD, KEPT_NEW, \
      KEPT_REVISION and KEPT_ORIGIN are in its environment; for an absent value, the variable is not set. Its standard \
      input is the change as --json prints it. If the values are too large for an environment (128 KiB on Linux), only \
      the standard input has them.

      With --all-stores each change is printed with its store, which is in KEPT_STORE for COMMAND. A store that \
      appears later is watched within a second, and its first values are printed as changes from the origin "initial". \
      A store that cannot be opened is reported, and the others are watched.

      PATTERN matches whole keys: * matches any characters, including dots, ? one character, and \\* an asterisk. \
      Quote it, so that the shell does not expand it.

      Exit status 4 means that COMMAND could not be started for a change, that a store could not be opened, or that \
      the only store was removed. A store of --all-stores that could not be opened is tried again each second.
      """)

  @OptionGroup var stores: StoresOption
  @OptionGroup var layers: LayerOptions
  @OptionGroup var match: MatchOption
  @Flag(help: "One JSON object per change: time, key, old, new, origin, tag, revision, and store with --all-stores.")
  var json = false
  @Flag(help: "Print the current values first.")
  var initial = false
  @Option(
    name: .customLong("exec"), help: ArgumentHelp("Run this for each printed change.", valueName: "command"))
  var command: String?
  @Option(help: ArgumentHelp("Exit after N changes.", valueName: "n"))
  var count: Int?
  @Option(help: ArgumentHelp("Exit after N seconds; with --count the exit status is then 1.", valueName: "seconds"))
  var timeout: Double?
  @Flag(help: "Show the values of secrets, and pass them to the command.")
  var reveal = false
  @Flag(name: [.short, .long], help: "Print nothing but errors; for --exec.")
  var quiet = false
  @Argument(help: .hidden) var words: [String] = []

  func validate() throws {
    if let count, count < 1 { throw ValidationError("--count must be 1 or more") }
    if quiet, json { throw ValidationError("--quiet prints nothing, so it cannot be combined with --json") }
    if quiet, initial, command == nil {
      throw ValidationError("--quiet prints nothing, so --initial cannot be used with it without --exec")
    }
    if let timeout, !(0...1e9 ~= timeout) {
      throw ValidationError("--timeout must be between 0 and 1000000000 seconds")
    }
  }

  func run() throws {
    let (location, rest) = try stores.split(words)
    Passphrase.isAskedFor = reveal
    let word = try rest.expect(0...1, "at most one key or prefix").first ?? ""
    let isPrefix = word.isEmpty || word.ends(with: ".")
    if !isPrefix, match.pattern != nil {
      throw ValidationError("--match cannot be combined with a KEY; end a PREFIX with a dot")
    }
    let scope: Scope = isPrefix ? .prefix(ExactString(match.prefix(word))) : .key(try KeyName(word))
    let printer = ChangePrinter(
      json: json, quiet: quiet, command: command, count: count, reveal: reveal, match: match.matches)
    if let location {
      try watch(location, word, scope, printer)
    } else {
      try watchAll(scope, printer)
    }
    if printer.hasFailed { throw ExitStatus.unavailable }
    if count != nil { throw ExitStatus.absent }
  }

  private func watch(_ location: String, _ word: String, _ scope: Scope, _ printer: ChangePrinter) throws {
    let place = try StoreAccess.existing(location)
    let settings = try StoreAccess.open(location, layers.choice) { error in
      Failure.print(error)
      printer.endIfUnusable(place)
    }
    printer.settings.withLock { $0 = settings }
    if case .key(let key) = scope, !quiet { try Suggestion.printUnknown(key, "has no value yet", in: settings) }
    let subscription = try settings.observe(scope, initial: initial) { printer.print($0) }
    // Nothing reports that its folder was removed if no layer's file is watched.
    try wait {
      guard place.isReplaced else { return }
      throw StoreError(.unavailable, "the store \(place.location) was removed or replaced; start kept watch again")
    }
    // The end of a command that runs is waited for.
    subscription.cancel()
  }

  /// Watches every store of the user, and each that appears; those that are removed are closed.
  private func watchAll(_ scope: Scope, _ printer: ChangePrinter) throws {
    Self.allowManyFiles()
    var watched: [ExactString: (identity: String?, settings: Store, subscription: Subscription)] = [:]
    // Why each was refused, which is reported again only if it changes.
    var refused: [ExactString: String] = [:]
    var isNew = false
    func update() throws {
      // Others are folders that a program has just made.
      let places = try StorePlace.stores().filter { !$0.isMissing }
      let identities = Dictionary(places.map { (ExactString($0.location), $0.identity) }) { first, _ in first }
      for (name, store) in watched where identities[name] != store.identity {
        store.subscription.cancel()
        store.settings.close()
        watched[name] = nil
      }
      refused = refused.filter { identities[$0.key] != nil }
      for place in places {
        let name = ExactString(place.location)
        guard watched[name] == nil else { continue }
        do {
          // Closed again, too, if it cannot be observed.
          let settings = try StoreAccess.open(place.location, layers.choice, isKept: false) {
            Failure.print($0, in: place.location)
          }
          // All values of a store that is new are changes.
          let counts = isNew
          let subscription = try settings.observe(scope, initial: initial || isNew) {
            printer.print($0, of: place.location, countsInitial: counts)
          }
          watched[name] = (place.identity, settings, subscription)
          refused[name] = nil
        } catch let error as StoreError {
          guard refused.updateValue(error.message, forKey: name) != error.message else { continue }
          Failure.print(error, in: place.location)
          printer.fail()
        }
      }
      isNew = true
    }
    try update()
    try wait(update)
    for store in watched.values { store.subscription.cancel() }
  }

  /// Raises the limit of open files, which is often 1,024: each store takes six.
  private static func allowManyFiles() {
    var limit = rlimit()
    let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    guard getrlimit(files, &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    setrlimit(files, &limit)
  }

  /// Waits until the time is over, and calls `update` each second; a signal ends the program, also while a command
  /// runs.
  private func wait(_ update: () throws -> Void) rethrows {
    let end = Clock.seconds + (timeout ?? .infinity)
    while case let rest = end - Clock.seconds, rest > 0 {
      let step = min(rest, 1)
      var left = timespec(tv_sec: Int(step), tv_nsec: Int((step - step.rounded(.down)) * 1e9))
      nanosleep(&left, nil)
      try update()
    }
  }
}

/// Prints the changes, one at a time: each store calls it on a thread of its own.
private final class ChangePrinter: @unchecked Sendable {
  private let json: Bool
  private let quiet: Bool
  private let command: String?
  private let reveal: Bool
  private let matches: @Sendable (KeyName) -> Bool
  /// Held while a change is printed; it protects `left`.
  private let turn = Mutex(())
  private var left: Int?
  /// The only store that is watched.
  let settings = Mutex<Store?>(nil)
  private let failed = Atomic(false)

  init(
    json: Bool, quiet: Bool, command: String?, count: Int?, reveal: Bool,
    match: @escaping @Sendable (KeyName) -> Bool
  ) {
    (self.json, self.quiet, self.command, left, self.reveal) = (json, quiet, command, count, reveal)
    matches = match
  }

  /// Whether a command could not be started, or a store could not be opened.
  var hasFailed: Bool { failed.load(ordering: .relaxed) }
  func fail() { failed.store(true, ordering: .relaxed) }

  /// Ends the program if no change of the store will arrive, because it was removed or replaced, or cannot be read any
  /// more.
  func endIfUnusable(_ place: StorePlace) {
    let isReadable = settings.withLock { $0 }.map { (try? $0.currentRevision()) != nil } ?? true
    if place.isReplaced || !isReadable { exit(ExitStatus.unavailable.rawValue) }
  }

  /// Prints the changes of a notice, with their store if the command is about several.
  ///
  /// The values that a store has when it is opened are not changes, unless `countsInitial`.
  func print(_ notice: Notice, of store: String? = nil, countsInitial: Bool = false) {
    turn.withLock { _ in
      if notice.mayHaveMissed {
        let place = store.map { "\(Shown.line($0)): " } ?? ""
        Failure.print("\(place)changes may be missing before revision \(notice.revision)")
      }
      for change in notice.changes where matches(change.key) {
        let isHidden = change.isSecret && !reveal
        if !quiet {
          Output.standard.write(
            line: json
              ? Shown.json(text(of: change, notice, store, isHidden)) : line(of: change, notice, store, isHidden))
          Output.standard.flush()
        }
        if let command { run(command, change, notice, store, isHidden) }
        guard let count = left, countsInitial || notice.origin != .initial else { continue }
        if count == 1 { exit((hasFailed ? ExitStatus.unavailable : .done).rawValue) }
        left = count - 1
      }
    }
  }

  private func line(of change: Change, _ notice: Notice, _ store: String?, _ isHidden: Bool) -> String {
    func shown(_ value: Value?) -> String { value.map { isHidden ? "(secret)" : Shown.json($0) } ?? "–" }
    let key = (store.map { Shown.line($0) + " " } ?? "") + Shown.key(change.key).styled(.bold)
    let time = notice.time.local.styled(.dim)
    if notice.origin == .initial { return "\(time) \(key): \(shown(change.new))" }
    let author = notice.tag.map { "\(Shown.line($0)), " } ?? ""
    return "\(time) \(key): \(shown(change.old)) → \(shown(change.new)) (\(author)\(notice.origin.words))"
  }

  private func text(of change: Change, _ notice: Notice, _ store: String?, _ isHidden: Bool) -> String {
    var members: [(ExactString, Value)] = [
      ("time", .string(notice.time.description)), ("key", .string(change.key.text)),
      ("origin", .string(notice.origin.words)), ("revision", .int(Int64(clamping: notice.revision))),
    ]
    if let store { members.append(("store", .string(store))) }
    if let tag = notice.tag { members.append(("tag", .string(tag))) }
    if isHidden { members.append(("secret", true)) }
    if let old = change.old, !isHidden { members.append(("old", old)) }
    if let new = change.new, !isHidden { members.append(("new", new)) }
    return Value.dictionary(ValueDictionary(members)).json
  }

  private func run(
    _ command: String, _ change: Change, _ notice: Notice, _ store: String?, _ isHidden: Bool
  ) {
    func variable(_ value: Value?) -> String? {
      guard let value, !isHidden else { return nil }
      return if case .string(let text) = value { text } else { value.json }
    }
    let values = [("KEPT_OLD", variable(change.old)), ("KEPT_NEW", variable(change.new))]
    let others =
      [
        ("KEPT_KEY", change.key.text), ("KEPT_REVISION", "\(notice.revision)"), ("KEPT_ORIGIN", notice.origin.words),
      ] + (store.map { [("KEPT_STORE", $0)] } ?? [])
    let status = Shell.run(
      command, others + values, mayLack: { name in values.contains { $0.0 == name } },
      input: Shown.json(text(of: change, notice, store, isHidden)) + "\n")
    // What the shell returns for a command that does not exist, or cannot be executed.
    if status == nil || status == 126 || status == 127 { fail() }
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
