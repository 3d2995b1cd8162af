import ArgumentParser
import Kept

struct Describe: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Shows how keys are declared.",
    usage: "kept describe STORE [KEY | PREFIX] [--json]")

  @OptionGroup var store: StoreOption
  @Flag(help: "Print JSON Schema, which `kept declare` takes.")
  var json = false
  @Argument var words: [String] = []

  func run() throws {
    let (location, rest) = try store.split(words)
    let settings = try StoreAccess.open(location)
    let prefix = try rest.expect(0...1, "at most one key or prefix").first ?? ""
    if !prefix.isEmpty, let declaration = try settings.declaration(forKey: prefix) {
      return Output.standard.write(line: json ? declaration.json : PrettyJSON.text(declaration.json))
    }
    let list = try settings.declarations(prefix: prefix)
    if json { return Output.standard.write(line: list.json) }
    guard !list.declarations.isEmpty else {
      throw StoreError(.absent, key: prefix.isEmpty ? nil : prefix, "nothing is declared here; see kept declare")
    }
    var table = Table(["KEY", "TYPE", "DEFAULT", "RULES", "SUMMARY"], flexible: 3)
    for (key, declaration) in list.declarations {
      let fallback = declaration.defaultValue.map { value in
        declaration.isSecret ? "(secret)" : ValueText.text(of: value, as: declaration.type)
      }
      table.add([
        key.text, declaration.type.description, fallback ?? "", rules(of: declaration), declaration.summary ?? "",
      ])
    }
    table.print()
  }

  /// The constraints, as JSON without what has a column of its own.
  private func rules(of declaration: Declaration) -> String {
    guard case .dictionary(var words)? = try? Value(json: "{\"$literal\":\(declaration.json)}") else { return "" }
    for word: ExactString in ["type", "default", "summary"] { words[word] = nil }
    return words.map { "\($0.key) \($0.value.json)" }.joined(separator: ", ")
  }
}

struct Declare: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Declares the keys that a JSON Schema file lists, all or none.",
    usage: "kept declare STORE FILE [--dry-run]",
    discussion: "FILE is an object with \"properties\", one for each key; - reads standard input.")

  @OptionGroup var store: StoreOption
  @Flag(name: [.short, .long], help: "Check the file against the store, and change nothing.")
  var dryRun = false
  @Argument var words: [String] = []

  func run() throws {
    let (location, rest) = try store.split(words)
    let list = try DeclarationFile.list(rest.expect(1...1, "one file")[0])
    let settings = try dryRun ? StoreAccess.open(location) : StoreAccess.openOrCreate(location)
    struct DryRun: Error {}
    do {
      try settings.transaction { transaction in
        for misfit in try transaction.declare(list) { Failure.print(misfit.description) }
        if dryRun { throw DryRun() }
      }
    } catch is DryRun {}
  }
}

struct Undeclare: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Removes the declarations of keys; their values stay.",
    usage: "kept undeclare STORE KEY... [--dry-run]")

  @OptionGroup var store: StoreOption
  @Flag(name: [.short, .long], help: "Only check that the keys are declared.")
  var dryRun = false
  @Argument var words: [String] = []

  func run() throws {
    let (location, rest) = try store.split(words)
    let keys = try rest.expect(1...10_000, "one key or more")
    let settings = try StoreAccess.open(location)
    for key in keys where try settings.declaration(forKey: key) == nil {
      throw StoreError(.absent, key: key, "is not declared\(try Suggestion.similar(to: key, in: settings))")
    }
    if dryRun { return }
    try settings.transaction { transaction in
      for key in keys { try transaction.undeclare(key) }
    }
  }
}

struct Lint: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Checks a file of declarations, without a store.",
    usage: "kept lint FILE")

  @Argument var words: [String] = []

  func run() throws {
    let path = try words.expect(1...1, "one file")[0]
    let list = try DeclarationFile.list(path)
    for (key, declaration) in list.declarations where declaration.summary == nil {
      Failure.print("\(Excerpt.of(key.text)): has no \"summary\"; one line tells people what it does")
    }
    let count = list.declarations.count
    let keys = count == 1 ? "key is" : "keys are"
    Output.standard.write(line: "\(path): \(count) \(keys) declared, and every word is known")
  }
}

enum DeclarationFile {
  static func list(_ path: String) throws(StoreError) -> DeclarationList {
    do throws(StoreError) {
      guard path == "-" else { return try DeclarationList(contentsOf: path) }
      return try DeclarationList(json: StandardInput.text(dropsLastLineBreak: true))
    } catch {
      // A word that Kept does not know is the file's fault, and no failure of the store.
      throw error.code == .unsupported ? StoreError(.invalid, key: error.key, error.message) : error
    }
  }
}
