import ArgumentParser
import Kept

struct Describe: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "describe",
    abstract: "Shows how keys are declared.",
    usage: "kept describe STORE [KEY | PREFIX] [--json]",
    discussion: """
      The default of a secret is left out, and so are rules that reveal something about its value, such as enum and \
      pattern.
      """)

  @OptionGroup var store: StoreOption
  @Flag(help: "Print JSON Schema, which `kept declare` reads.")
  var json = false
  @Flag(help: "Show the defaults and all rules of secrets.")
  var reveal = false
  @Argument(help: .hidden) var words: [String] = []

  func run() throws {
    let (location, rest) = try store.split(words)
    let settings = try StoreAccess.open(location)
    let prefix = try rest.expect(0...1, "at most one key or prefix").first ?? ""
    if !prefix.isEmpty, let declaration = try settings.declaration(forKey: prefix) {
      let text = declaration.shownJSON(reveal)
      json ? Output.standard.write(json: text) : Output.standard.write(line: PrettyJSON.text(Shown.json(text)))
      return noteHidden([declaration])
    }
    let list = try settings.declarations(prefix: prefix)
    if json {
      Output.standard.write(json: list.shownJSON(reveal))
    } else {
      guard !list.declarations.isEmpty else {
        throw prefix.isEmpty
          ? StoreError(.absent, "the store declares no keys; see kept declare")
          : StoreError(.absent, key: prefix, "is neither a declared key nor the beginning of one; see kept declare")
      }
      printTable(of: list)
    }
    noteHidden(list.declarations.map(\.declaration))
  }

  /// Says what `kept declare` would miss.
  private func noteHidden(_ declarations: [Declaration]) {
    let hidden = declarations.count { $0.hasHiddenWords && !reveal }
    guard hidden > 0 else { return }
    Failure.print("left out rules or defaults of \(Count.of(hidden, "secret")); --reveal includes them")
  }

  private func printTable(of list: DeclarationList) {
    var table = Table(
      ["KEY", "TYPE", "DEFAULT", "RULES", "SUMMARY"], shrinking: [(3, 12), (4, 12), (2, 8), (3, 0), (0, 12)])
    for (key, declaration) in list.declarations {
      let fallback = declaration.defaultValue.map { value in
        declaration.isSecret && !reveal ? "(secret)" : value.text(as: declaration.type)
      }
      table.add([
        key.text, declaration == .lost ? "lost" : declaration.type.description, fallback ?? "", rules(of: declaration),
        declaration.summary ?? "",
      ])
    }
    table.print()
  }

  /// The constraints, as JSON without what has a column of its own.
  private func rules(of declaration: Declaration) -> String {
    var words = declaration.shownWords(reveal)
    for word: ExactString in ["type", "default", "summary"] { words[word] = nil }
    return words.map { "\($0.key) \(Shown.json($0.value))" }.joined(separator: ", ")
  }
}

extension Declaration {
  /// Its words of JSON Schema.
  var words: ValueDictionary {
    guard case .dictionary(let words)? = try? Value(json: "{\"$literal\":\(json)}") else { return ValueDictionary([]) }
    return words
  }

  /// Its words; for a secret only those that tell nothing about its value.
  func shownWords(_ reveal: Bool) -> ValueDictionary {
    guard isSecret, !reveal else { return words }
    return ValueDictionary(words.filter { Self.harmless.contains($0.key) }.map { ($0.key, $0.value) })
  }

  /// Whether it has words that are not shown.
  var hasHiddenWords: Bool { isSecret && words.contains { !Self.harmless.contains($0.key) } }

  func shownJSON(_ reveal: Bool = false) -> String {
    isSecret && !reveal ? Value.dictionary(shownWords(reveal)).json : json
  }

  private static let harmless: Set<ExactString> = [
    "type", "secret", "lost", "summary", "title", "description", "format", "deprecated", "minLength", "maxLength",
    "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "since", "replacedBy", "renamedFrom",
  ]
}

extension DeclarationList {
  func shownJSON(_ reveal: Bool = false) -> String {
    let members = declarations.map { "\(Value.string($0.key.text).json):\($0.declaration.shownJSON(reveal))" }
    return "{\"properties\":{\(members.joined(separator: ","))},\"type\":\"object\"}"
  }
}

struct Declare: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "declare",
    abstract: "Declares the keys that a JSON Schema file lists, all or none.",
    usage: "kept declare STORE FILE [--dry-run]",
    discussion: "FILE contains an object with \"properties\", one for each key; - reads standard input.")

  @OptionGroup var store: StoreOption
  @OptionGroup var changing: ChangeOptions
  @Argument(help: .hidden) var words: [String] = []

  func run() throws {
    let (location, rest) = try store.split(words)
    let list = try DeclarationFile.list(rest.expect(1...1, "one file")[0])
    let settings = try StoreAccess.openToWrite(location, changing) { try $0.transaction { _ = try $0.declare(list) } }
    var misfits: [StoreError] = []
    if changing.dryRun {
      try Declaring.commit(of: list.declarations, on: settings, changing) { transaction in
        misfits = try transaction.declare(list)
      }
    } else {
      misfits = try settings.declare(list)
    }
    for misfit in misfits { changing.warn(misfit.description) }
  }
}

struct Undeclare: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "undeclare",
    abstract: "Removes the declarations of keys; their values stay.",
    usage: "kept undeclare STORE KEY... [--dry-run]",
    discussion: "The stored value of a secret is then shown like any other value; remove it first to prevent this.")

  @OptionGroup var store: StoreOption
  @OptionGroup var changing: ChangeOptions
  @Argument(help: .hidden) var words: [String] = []

  func run() throws {
    let (location, rest) = try store.split(words)
    let keys = try rest.expect(1...10_000, "one key or more").map { try KeyName($0) }
    let settings = try StoreAccess.open(location, toChange: changing)
    for key in keys where try settings.declaration(forKey: key.text) == nil {
      throw StoreError(.absent, key: key.text, "is not declared\(try Suggestion.similar(to: key, in: settings))")
    }
    try Declaring.commit(on: settings, changing) { transaction in
      for key in keys { try transaction.undeclare(key.text) }
    }
  }
}

/// A change of declarations.
private enum Declaring {
  private struct DryRun: Error {}

  /// Commits it; a dry run prints it and commits nothing.
  static func commit(
    of list: [(key: KeyName, declaration: Declaration)] = [], on settings: Store, _ changing: ChangeOptions,
    _ body: (Transaction) throws -> Void
  ) throws {
    do {
      try settings.transaction { transaction in
        try body(transaction)
        guard changing.dryRun else { return }
        let stored = try settings.declarations().declarations
        let renamed = list.filter { $0.declaration.formerName != nil }
        // Their values move.
        let names = Set(renamed.map(\.key) + renamed.compactMap(\.declaration.formerName)).sorted()
        let (before, after) = (entries(of: names, settings), entries(of: names, transaction))
        for name in names where before[name]?.value != after[name]?.value {
          let isSecret = [before, after].contains { $0[name]?.declaration?.isSecret == true }
          let (old, new) = (before[name]?.value, after[name]?.value)
          changing.report(Difference(key: name, old: old, new: new, isSecret: isSecret).line)
        }
        // Former names become secret, and others lose theirs.
        var new: [KeyName: Declaration] = [:]
        for (key, declaration) in stored + list {
          for name in [key, declaration.formerName].compactMap(\.self) where new[name] == nil {
            new[name] = try transaction.declaration(forKey: name.text)
          }
        }
        let old = Dictionary(stored.map { ($0.key, $0.declaration) }) { first, _ in first }
        for difference in StoreDifferences.DeclarationDifference.all(from: old, to: new) {
          changing.report(difference.line)
        }
        throw DryRun()
      }
    } catch is DryRun {}
  }

  /// The entries of keys that can be read.
  private static func entries(of keys: [KeyName], _ settings: some SettingsAccess) -> [KeyName: Entry] {
    var found: [KeyName: Entry] = [:]
    for key in keys { found[key] = try? settings.entry(for: key) }
    return found
  }
}

struct Lint: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lint",
    abstract: "Checks a file of declarations, without a store.",
    usage: "kept lint FILE [--against OLD]",
    discussion: """
      With an older version of the file, lint says which stored values the newer one no longer allows, and how a step \
      of a migration for them looks. It ends with status 3 if there are any.
      """)

  @Option(help: ArgumentHelp("Compare with an older version of the file.", valueName: "old"))
  var against: String?
  @Argument(help: .hidden) var words: [String] = []

  func run() throws {
    let path = try words.expect(1...1, "one file")[0]
    let list = try DeclarationFile.list(path)
    if path == "-", against == "-" {
      throw ValidationError("standard input can be only one of the two files; give the path of the other")
    }
    let findings = try against.map { Evolution.findings(from: try DeclarationFile.list($0), to: list) } ?? []
    for (key, declaration) in list.declarations where declaration.summary == nil {
      Failure.print("\(Excerpt.of(key.text)): has no \"summary\"; add one line that describes the key")
    }
    for sentence in list.wrongNames { Failure.print(sentence) }
    for finding in findings {
      let sentence = "\(Excerpt.of(finding.key.text)): \(finding.effect.rawValue): \(Shown.line(finding.sentence))"
      Failure.print(([sentence] + finding.step).joined(separator: "\n  "))
    }
    Output.standard.write(
      line: "\(path): \(Count.of(list.declarations.count, "declaration")); all keywords are supported")
    if findings.contains(where: { $0.effect != .note }) { throw ExitStatus.refused }
  }
}

extension DeclarationList {
  /// What is probably wrong about the other names that its declarations have.
  fileprivate var wrongNames: [String] {
    let keys = Set(declarations.map(\.key))
    var renamed: [KeyName: KeyName] = [:]
    var sentences: [String] = []
    for (key, declaration) in declarations {
      func add(_ sentence: String) { sentences.append("\(Excerpt.of(key.text)): \(sentence)") }
      if let other = declaration.words["replacedBy"]?.asString.flatMap({ try? KeyName($0) }), !keys.contains(other) {
        let similar = Suggestion.closest(to: other.text, among: declarations.map(\.key.text))
        add("is replaced by \(Excerpt.of(other.text)), which the file does not declare\(similar)")
      }
      guard let name = declaration.formerName else { continue }
      if keys.contains(name) {
        let both = "has the former name \(Excerpt.of(name.text)), which the file declares too"
        add("\(both); leave out the older declaration")
      }
      if let other = renamed.updateValue(key, forKey: name) {
        let both = "has the former name \(Excerpt.of(name.text)), as \(Excerpt.of(other.text)) has"
        add("\(both); leave it out of one, or both get the value")
      }
    }
    return sentences
  }
}

enum DeclarationFile {
  /// As `kept_declare_file` reads at most.
  private static let most = 16 << 20

  static func list(_ path: String) throws(StoreError) -> DeclarationList {
    guard !path.isEmpty else {
      throw StoreError(.invalid, "a path is empty; give the path of a file of declarations, or - for standard input")
    }
    let text =
      try
      (path == "-"
      ? StandardInput.text(dropsLastLineBreak: false, atMost: most) : File.text(of: path, atMost: most)).withoutMark
    do throws(StoreError) { return try DeclarationList(json: text) } catch {
      // A word that Kept does not know is the file's fault, and no failure of the store.
      let code = error.code == .unsupported ? .invalid : error.code
      throw StoreError(code, key: error.key, offset: error.offset, error.message)
        // The text may have the default of a secret anywhere.
        .shown(in: text, "\(path): ", isHidden: true)
    }
  }
}
