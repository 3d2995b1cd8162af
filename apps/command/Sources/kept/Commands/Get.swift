import ArgumentParser
import Kept

struct Get: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Prints the value of a key.",
    usage: "kept get STORE KEY... [--type TYPE] [--default VALUE] [--raw]",
    discussion: """
      Prints a value in the form that `kept set` reads: text, dates and base64 bytes as they are if the key is \
      declared so, and JSON for everything else. Several keys are printed in the given order, one per line.

      --at takes a revision (@17), an age (@90m, @2h, @3d), or a date (@2026-11-24T10:00:00Z). Exit status 1 if \
      the key had no value then, and 4 if the history does not have the revision or the value.
      """)

  @OptionGroup var store: StoreOption
  @OptionGroup var layers: LayerOptions
  @Option(help: ArgumentHelp("Refuse a value of another type.", valueName: "type"))
  var type: DeclaredType?
  @Option(name: .customLong("default"), help: ArgumentHelp("Print this if there is no value.", valueName: "text"))
  var fallback: String?
  @Option(name: .customLong("at"), help: ArgumentHelp("Print the value stored at that time.", valueName: "@time"))
  var time: String?
  @Flag(help: "Print the exact text or bytes, without quotes and without a line break.")
  var raw = false
  @Flag(help: "Print JSON, regardless of the declaration.")
  var json = false
  @Flag(name: [.short, .long], help: "Report only through the exit status whether there is a value.")
  var quiet = false
  @Flag(help: "Print the value of a secret.")
  var reveal = false
  @Argument(help: .hidden) var words: [String] = []

  func validate() throws {
    if time != nil, layers.areGiven {
      throw ValidationError(
        "--at prints the stored value, so it cannot be combined with --managed, --system or --env-prefix")
    }
    if json, raw || quiet || fallback != nil {
      throw ValidationError("--json cannot be combined with --raw, --quiet or --default")
    }
    if quiet, raw || reveal || fallback != nil {
      throw ValidationError("--quiet prints nothing, so it cannot be combined with --raw, --reveal or --default")
    }
  }

  func run() throws {
    let (location, rest) = try store.split(words)
    Passphrase.isAskedFor = true
    let keys = try rest.expect(1...(raw ? 1 : 1000), raw ? "one key" : "one key or more")
    var request = try GetRequest(location: location, keys: keys)
    (request.type, request.fallback, request.raw) = (type, fallback, raw)
    (request.json, request.quiet, request.reveal) = (json, quiet, reveal)
    if let time {
      guard let past = try PastTime(time) else {
        throw ValidationError("\(Excerpt.of(time)) is not a valid time; use one such as @17 or @2h")
      }
      request.past = try Past(location, at: past).snapshot
    }
    try request.run(layers.choice)
  }
}

/// The value to read, and how it is printed.
struct GetRequest {
  let location: String
  let keys: [KeyName]
  var type: DeclaredType?
  var fallback: String?
  var (raw, json, quiet, reveal) = (false, false, false, false)
  /// The store at the requested time; nil for the present.
  var past: Snapshot?

  init(location: String, keys: [String]) throws {
    (self.location, self.keys) = (location, try keys.map { try KeyName($0) })
  }

  /// Plain `kept get STORE KEY`, which scripts repeat; nil for anything else.
  ///
  /// It does without ArgumentParser, which takes three quarters of the time of such a command.
  init?(plain arguments: [String]) throws {
    guard arguments.count == 3, arguments[0] == "get", !arguments.contains(where: { $0.begins(with: "-") }),
      Environment.shown("KEPT_STORE") == nil
    else { return nil }
    try self.init(location: arguments[1], keys: [arguments[2]])
  }

  func run(_ layers: LayerChoice) throws {
    let settings = try StoreAccess.open(location, layers) { [quiet] in if !quiet { Failure.print($0) } }
    for key in keys { try print(key, settings) }
  }

  private func value(of key: KeyName, _ settings: Store) throws(StoreError) -> Value? {
    if let past { try past.entry(for: key)?.value } else { try settings.value(forKey: key.text) }
  }

  private func print(_ key: KeyName, _ settings: Store) throws {
    let declaration = try settings.declaration(forKey: key.text)
    guard let value = try value(of: key, settings) else {
      if let fallback {
        Output.standard.write(raw ? fallback : fallback + "\n")
        return
      }
      if quiet { throw ExitStatus.absent }
      let isPast = past != nil
      throw StoreError(
        .absent, key: key.text,
        isPast ? "had no value then; kept log shows its changes" : try Suggestion.absent(key, in: settings))
    }
    if let type, value.asType(type) == nil {
      throw StoreError(.wrongType, key: key.text, "holds \(Names.described(value)), but --type is \(type)")
    }
    if quiet { return }
    // An older program may have stored a value. The other layers, and a default, have none that a newer one reads.
    if past == nil, try settings.entry(for: key)?.value == nil { try Suggestion.printRenamed(key, in: settings) }
    guard declaration?.isSecret != true || reveal else {
      throw StoreError(.locked, key: key.text, "is a secret, which is not shown; add --reveal to print it")
    }
    if raw { return Output.standard.write(bytes: ValueText.raw(value)) }
    Output.standard.write(line: json ? Shown.json(value) : value.text(as: declaration?.type))
  }
}

extension Value {
  /// The value in the form of a type; nil if it is of another one.
  func asType(_ type: DeclaredType) -> Value? {
    switch (type, kind) {
    case (.boolean, .bool), (.string, .string), (.bytes, .bytes), (.date, .date), (.array, .array),
      (.object, .dictionary), (.integer, .int), (.integer, .uint), (.number, .int), (.number, .uint),
      (.number, .double):
      self
    default: nil
    }
  }
}
