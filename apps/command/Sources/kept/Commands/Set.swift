import ArgumentParser
import Kept

struct SetValues: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set",
    abstract: "Sets keys, all or none, or changes the elements of a list.",
    usage: """
      kept set STORE KEY VALUE
      kept set STORE KEY=VALUE KEY=VALUE...
      kept set STORE KEY [--remove VALUE]... [--add VALUE]...
      """,
    discussion: """
      VALUE is read as the declared type. For a key without a declaration it is JSON; with --string it is text. - as \
      VALUE reads standard input, without its last line break, or with --raw every byte of it. On a terminal, it asks \
      for the value of a secret, and does not show the typed text. A key that contains an equals sign is set by `kept \
      transaction`.

      With --add and --remove, VALUE is an element of the list at KEY, read as the declared type of its elements. Both \
      can be given several times; removals come first. A list without a stored value begins with its default. Removing \
      an element that is not in the list is not an error, and --remove alone creates no store.
      """)

  @OptionGroup var store: StoreOption
  @OptionGroup var writing: WritingOptions
  @Flag(name: .customLong("string"), help: "The values, or the elements, are text.")
  var isText = false
  @Option(
    help: ArgumentHelp("The values, or the elements, are of this type; a declaration must agree.", valueName: "type"))
  var type: DeclaredType?
  @Flag(help: "Take every byte of standard input.")
  var raw = false
  @Option(help: ArgumentHelp("Add an element at the end of the list.", valueName: "value"))
  var add: [String] = []
  @Option(help: ArgumentHelp("Remove every element of the list that is equal to it.", valueName: "value"))
  var remove: [String] = []
  @Option(help: ArgumentHelp("Only if the key still has this revision; 0 for a key that is absent.", valueName: "n"))
  var ifRevision: UInt64?
  @Argument(help: .hidden) var words: [String] = []

  func validate() throws {
    if isText, type != nil { throw ValidationError("--string means --type string; use only one of them") }
  }

  func run() throws {
    let (location, rest) = try store.split(words)
    guard add.isEmpty, remove.isEmpty else { return try changeList(rest, at: location) }
    let pairs = try pairs(rest, at: location)
    if ifRevision != nil, pairs.count != 1 {
      throw ValidationError("--if-revision is for one key, but \(pairs.count) were given; set each by itself")
    }
    try Edit.commit(to: location, writing) { edit in
      for (key, given) in pairs {
        if let ifRevision { try edit.expect(key, ifRevision) }
        try edit.set(key, given, as: isText ? .string : type, allowsUndeclared: writing.undeclared)
      }
    }
  }

  private func changeList(_ words: [String], at location: String) throws {
    guard words.count == 1, !words[0].has("=") else {
      throw ValidationError("--add and --remove change one list; give its KEY alone, without a VALUE")
    }
    let key = try KeyName(words[0])
    try checkOneInput((add + remove).count { $0 == "-" })
    let (added, removed) = (
      try add.map { try input($0, for: key, location) }, try remove.map { try input($0, for: key, location) }
    )
    let change = { (edit: Edit) in
      if let ifRevision { try edit.expect(key, ifRevision) }
      try edit.change(
        listAt: key, removing: removed, adding: added, as: isText ? .string : type,
        allowsUndeclared: writing.undeclared)
    }
    guard added.isEmpty else { return try Edit.commit(to: location, writing, change) }
    // Nothing can be removed in a store that does not exist, so none is made.
    let settings = try StoreAccess.open(location, writing.layers.choice, toChange: writing.changing)
    try Edit.commit(on: settings, at: location, writing, change)
  }

  private func checkOneInput(_ count: Int) throws {
    if count > 1 { throw ValidationError("only one value can be -, because standard input can be read only once") }
  }

  private func pairs(_ words: [String], at location: String) throws -> [(key: KeyName, given: GivenValue)] {
    if words.count == 2, !words[0].has("=") {
      let key = try KeyName(words[0])
      return [(key, try input(words[1], for: key, location))]
    }
    guard !words.isEmpty else { throw ValidationError("expected KEY VALUE, or KEY=VALUE") }
    try checkOneInput(words.count { $0.ends(with: "=-") })
    return try words.map { word in
      guard let (name, text) = word.halves(at: "=") else {
        throw ValidationError(
          "expected KEY VALUE or KEY=VALUE after the store, but \(Excerpt.of(word)) has no =; the store is the first "
            + "word unless --store or KEPT_STORE names it")
      }
      let key = try KeyName(name)
      return (key, try input(text, for: key, location))
    }
  }

  private func input(_ text: String, for key: KeyName, _ location: String) throws -> GivenValue {
    guard text == "-" else {
      if raw { throw ValidationError("--raw needs - as VALUE, which reads standard input") }
      return .text(text)
    }
    if HiddenInput.isTerminal, StoreAccess.secrets(of: location).contains(key) {
      return try HiddenInput.value(of: key, raw: raw)
    }
    return try raw ? .bytes(StandardInput.bytes()) : .text(StandardInput.text(dropsLastLineBreak: true, isValue: true))
  }
}

/// What a user gives as a value.
enum GivenValue {
  case text(String)
  /// Exact contents: those of a key of bytes, or text.
  case bytes([UInt8])
  /// A value of any type, from JSON.
  case value(Value)
}

struct Reset: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reset",
    abstract: "Removes the stored values of keys, so that defaults apply again.",
    usage: """
      kept reset STORE KEY... [--prefix]
      kept reset STORE --match PATTERN
      """,
    discussion: """
      Resetting a key that has no stored value is not an error.

      PATTERN matches whole keys: * matches any characters, including dots, ? one character, and \\* an asterisk. \
      Quote it, so that the shell does not expand it; --dry-run shows the keys. In KEY, an asterisk has no special \
      meaning.
      """)

  @OptionGroup var store: StoreOption
  @OptionGroup var writing: WritingOptions
  @Flag(help: "Treat the words as prefixes, and reset every key that begins with one of them.")
  var prefix = false
  @OptionGroup var match: MatchOption
  @Argument(help: .hidden) var words: [String] = []

  func validate() throws {
    if prefix, match.pattern != nil { throw ValidationError("--prefix cannot be combined with --match") }
  }

  func run() throws {
    let (location, rest) = try store.split(words)
    let names: [String]
    if match.pattern == nil {
      names = try rest.expect(1...10_000, "one key or more")
    } else {
      names = try rest.expect(0...0, "no key with --match")
    }
    let settings = try StoreAccess.open(location, writing.layers.choice, toChange: writing.changing)
    try Edit.commit(on: settings, at: location, writing) { edit in
      let keys =
        if let pattern = match.pattern {
          try edit.storedKeys(prefix: pattern.prefix).filter(pattern.matches)
        } else {
          try names.flatMap { try prefix ? edit.storedKeys(prefix: $0) : [KeyName($0)] }
        }
      for key in keys { try edit.reset(key, allowsUndeclared: writing.undeclared || prefix || match.pattern != nil) }
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

  /// Prints the change made, or the one that would be.
  func report(_ line: String) { if !quiet { Output.standard.write(line: line) } }

  /// Prints a warning about it.
  func warn(_ message: String) { if !quiet { Failure.print(message) } }
}
