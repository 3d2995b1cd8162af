import ArgumentParser
import Kept

struct SetValues: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set",
    abstract: "Sets keys, all or none.",
    usage: """
      kept set STORE KEY VALUE
      kept set STORE KEY=VALUE KEY=VALUE...
      """,
    discussion: """
      The declaration of a key says what VALUE means. For a key without one VALUE is JSON; with --string it is text. \
      - as VALUE reads standard input, without its last line break; with --raw every byte of it. On a terminal it asks \
      for the value of a secret, and does not show what is typed. A key that contains an equals sign is set by `kept \
      transaction`.
      """)

  @OptionGroup var store: StoreOption
  @OptionGroup var writing: WritingOptions
  @Flag(name: .customLong("string"), help: "The values are text.")
  var isText = false
  @Option(help: ArgumentHelp("The values are of this type; a declaration must agree.", valueName: "type"))
  var type: DeclaredType?
  @Flag(help: "Take every byte of standard input.")
  var raw = false
  @Option(help: ArgumentHelp("Only if the key still has this revision; 0 for a key that is absent.", valueName: "n"))
  var ifRevision: UInt64?
  @Argument(help: .hidden) var words: [String] = []

  func validate() throws {
    if isText, type != nil { throw ValidationError("--string is --type string; give one of the two") }
  }

  func run() throws {
    let (location, rest) = try store.split(words)
    let pairs = try pairs(rest, at: location)
    if ifRevision != nil, pairs.count != 1 { throw ValidationError("--if-revision goes with one key") }
    try Edit.commit(to: location, writing) { edit in
      for (key, given) in pairs {
        if let ifRevision { try edit.expect(key, ifRevision) }
        try edit.set(key, given, as: isText ? .string : type, allowsUndeclared: writing.undeclared)
      }
    }
  }

  private func pairs(_ words: [String], at location: String) throws -> [(key: KeyName, given: GivenValue)] {
    if words.count == 2, !words[0].has("=") {
      let key = try KeyName(words[0])
      return [(key, try input(words[1], for: key, location))]
    }
    guard !words.isEmpty else { throw ValidationError("expected KEY VALUE, or KEY=VALUE") }
    guard words.count(where: { $0.ends(with: "=-") }) < 2 else {
      throw ValidationError("only one value can be -, because standard input has one end")
    }
    return try words.map { word in
      guard let (name, text) = word.halves(at: "=") else {
        throw ValidationError(
          "expected KEY VALUE or KEY=VALUE after the store, which is the first word unless --store or KEPT_STORE names "
            + "it, and \(Excerpt.of(word)) has no =")
      }
      let key = try KeyName(name)
      return (key, try input(text, for: key, location))
    }
  }

  private func input(_ text: String, for key: KeyName, _ location: String) throws -> GivenValue {
    guard text == "-" else {
      if raw { throw ValidationError("--raw goes with - as VALUE, which reads standard input") }
      return .text(text)
    }
    if HiddenInput.isTerminal, StoreAccess.secrets(of: location).contains(key) {
      return try HiddenInput.value(of: key, raw: raw)
    }
    return try raw ? .bytes(StandardInput.bytes()) : .text(StandardInput.text(dropsLastLineBreak: true))
  }
}

/// What a user gives as a value.
enum GivenValue {
  case text(String)
  /// Exact contents: those of a key of bytes, or text.
  case bytes([UInt8])
}

struct Reset: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reset",
    abstract: "Removes the stored values of keys, so that defaults apply again.",
    usage: "kept reset STORE KEY... [--prefix]",
    discussion: "A key without a stored value is no error.")

  @OptionGroup var store: StoreOption
  @OptionGroup var writing: WritingOptions
  @Flag(help: "The words are prefixes: every key that begins with one of them is reset.")
  var prefix = false
  @Argument(help: .hidden) var words: [String] = []

  func run() throws {
    let (location, rest) = try store.split(words)
    let names = try rest.expect(1...10_000, "one key or more")
    let settings = try StoreAccess.open(location, writing.layers.choice, toChange: writing.changing)
    let keys = try names.flatMap { try prefix ? settings.listedKeys(prefix: ExactString($0)) : [KeyName($0)] }
    try Edit.commit(on: settings, at: location, writing) { edit in
      for key in keys { try edit.reset(key, allowsUndeclared: writing.undeclared || prefix) }
    }
  }
}

/// The options of every command that writes values.
struct WritingOptions: ParsableArguments {
  @OptionGroup var layers: LayerOptions
  @OptionGroup var changing: ChangeOptions
  @Flag(help: "Return only when the change survives power loss.")
  var durable = false
  @Flag(help: "Allow keys that the store does not declare, although it declares others.")
  var undeclared = false
}

/// The options of every command that changes something.
struct ChangeOptions: ParsableArguments {
  @Flag(name: [.short, .long], help: "Show what would change, and change nothing.")
  var dryRun = false
  @Flag(name: [.short, .long], help: "Print nothing but errors.")
  var quiet = false

  /// Prints what was done, or would be.
  func report(_ line: String) { if !quiet { Output.standard.write(line: line) } }

  /// Prints what should be known beside it.
  func warn(_ message: String) { if !quiet { Failure.print(message) } }
}
