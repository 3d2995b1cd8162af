// The words of a command line: which of them names the store, and which begin with a dash without being options.

import ArgumentParser
import CommandPages
import Kept

enum Words {
  /// The arguments of the program, without its name.
  ///
  /// Throws for one that is not UTF-8, which Swift would repair: it would name another key or file.
  static func ofProcess() throws -> [String] {
    let arguments = CommandLine.arguments
    // Swift reads them from there, and would find none.
    guard !arguments.isEmpty else {
      throw StoreError(.unavailable, "the arguments cannot be read, because /proc is not mounted; mount it")
    }
    for index in arguments.indices {
      guard let bytes = CommandLine.unsafeArgv[index], String(validatingCString: bytes) == nil else { continue }
      throw ValidationError(
        "the argument \(Excerpt.of(arguments[index])) is not UTF-8; write keys, values and paths in UTF-8")
    }
    return Array(arguments.dropFirst())
  }

  /// The words after `--`.
  static var afterTerminator: [String] {
    let arguments = CommandLine.arguments
    return arguments.firstIndex(of: "--").map { Array(arguments[($0 + 1)...]) } ?? []
  }

  /// Moves all words that are not options behind a `--`, so that `kept set STORE KEY -5` needs none.
  ///
  /// Throws for a word that begins with one dash and is neither a number nor an option.
  static func guarded(_ arguments: [String]) throws -> [String] {
    let given = arguments.firstIndex(of: "--") ?? arguments.endIndex
    let arguments = arguments[..<given].flatMap(separated) + arguments[given...]
    let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
    // The words after it are those of another program.
    if arguments.first == Secrets.configuration.commandName, arguments[..<end].contains("--program") {
      return Array(arguments)
    }
    // The parser itself is right about everything else, and faster.
    guard arguments[..<end].contains(where: { $0.begins(with: "-") && !$0.begins(with: "--") && $0 != "-" }),
      let name = arguments.first, name != Complete.configuration.commandName, let command = KeptCommand.command(name)
    else { return arguments }
    let known = CommandOption.all(of: command)
    var (options, words): ([String], [String]) = ([name], [])
    var rest = arguments[1..<end]
    while let word = rest.popFirst() {
      guard word.begins(with: "-"), word != "-", !isNegativeNumber(word) else {
        words.append(word)
        continue
      }
      try known.check(word, of: name)
      if let joined = known.joined(word) {
        options.append(joined)
      } else if let option = known.takingValue(word), let value = rest.popFirst() {
        options += value.begins(with: "-") ? ["\(option)=\(value)"] : [option, value]
      } else {
        options.append(word)
      }
    }
    return options + ["--"] + words + arguments[end...].dropFirst()
  }

  /// `--option=VALUE` as two words if VALUE begins with a combining mark, because the parser then finds no `=`.
  private static func separated(_ word: String) -> [String] {
    guard word.begins(with: "--"), let (option, value) = word.halves(at: "="),
      let mark = value.unicodeScalars.first, mark.properties.isGraphemeExtend
    else { return [word] }
    return [option, value]
  }

  /// What other programs call commands.
  private static let synonyms = [
    "delete": "reset", "remove": "reset", "rm": "reset", "unset": "reset", "del": "reset", "clear": "reset",
    "ls": "list", "show": "list", "keys": "list", "find": "list", "search": "list", "grep": "list",
    "dump": "export", "load": "import", "read": "get", "cat": "get",
    "write": "set", "put": "set", "monitor": "watch", "history": "log", "revert": "undo", "check": "verify",
    "man": "help",
  ]

  /// Throws for a first word that is not a command, with the one that may have been meant.
  static func checkCommand(_ word: String?) throws {
    guard let word, !word.begins(with: "-"), KeptCommand.command(word) == nil else { return }
    let similar =
      synonyms[word].map { "; did you mean \"\($0)\"?" }
      ?? Suggestion.closest(to: word, among: KeptCommand.commands.map { $0._commandName })
    throw ValidationError("\(Excerpt.of(word)) is not a kept command; kept --help lists the commands\(similar)")
  }

  private static func isNegativeNumber(_ word: String) -> Bool {
    guard word.begins(with: "-"), let next = word.unicodeScalars.dropFirst().first else { return false }
    return "0"..."9" ~= next || next == "."
  }
}

extension [CommandOption] {
  /// The long name of an option whose value is the next word.
  func takingValue(_ word: String) -> String? { first { $0.valueName != nil && $0.names.contains(word) }?.names.last }

  private func hasFlag(_ word: String) -> Bool { contains { $0.valueName == nil && $0.names.contains(word) } }

  /// `--limit=5` for `-n5`.
  func joined(_ word: String) -> String? {
    let (name, value) = (word.unicodeScalars.prefix(2), word.unicodeScalars.dropFirst(2))
    guard !value.isEmpty, !word.begins(with: "--"), let option = takingValue(String(name)) else { return nil }
    return "\(option)=\(String(value))"
  }

  /// Throws for a word with one dash that is not an option: `-hello` is not `-h`, and what follows.
  func check(_ word: String, of command: String) throws {
    guard !word.begins(with: "--") else { return }
    let letters = word.unicodeScalars.dropFirst().map { "-\($0)" }
    if letters.allSatisfy(hasFlag) || letters.first.flatMap(takingValue) != nil { return }
    throw ValidationError(
      "\(Excerpt.of(word)) is not an option of kept \(command); if it is a key or a value, write -- before it")
  }
}

/// The option that names the store.
struct StoreOption: ParsableArguments {
  @Option(
    name: [.short, .long],
    help: ArgumentHelp("The store, in place of the first word.", valueName: "location"))
  var store: String?
  @Option(
    help: ArgumentHelp("A file with the passphrase of the store's secrets; or KEPT_PASSPHRASE_FILE.", valueName: "file")
  )
  var passphraseFile: String?

  func validate() { Passphrase.file = passphraseFile }

  /// How many words name the store.
  var count: Int { store == nil && Environment.shown("KEPT_STORE") == nil ? 1 : 0 }

  /// Splits the words into the store's location and the rest.
  func split(_ words: [String]) throws -> (location: String, rest: [String]) {
    if let store { return (store, words) }
    if let location = Environment.variable("KEPT_STORE") { return (location, words) }
    // Without it, the first word would be the store.
    if let location = Environment.shown("KEPT_STORE") {
      throw ValidationError("KEPT_STORE, \(Excerpt.of(location)), is not UTF-8; name the store in UTF-8")
    }
    guard let first = words.first else {
      throw ValidationError(
        "no store was given; name one here or in KEPT_STORE, by an identifier such as com.example.player or a path; "
          + "kept stores lists your stores")
    }
    return (first, Array(words.dropFirst()))
  }
}

/// The options of commands that read one store, or every store of the user.
struct StoresOption: ParsableArguments {
  @OptionGroup var store: StoreOption
  @Flag(name: [.customShort("A"), .long], help: "Every store of the user, in place of the first word.")
  var allStores = false

  func validate() throws {
    if allStores, store.store != nil { throw ValidationError("--all-stores cannot be combined with --store") }
  }

  /// Splits the words into the store's location, nil for all stores, and the rest.
  func split(_ words: [String]) throws -> (location: String?, rest: [String]) {
    guard !allStores else { return (nil, words) }
    let (location, rest) = try store.split(words)
    return (location, rest)
  }
}

extension [String] {
  /// A number of words in a range, or usage with the expected words.
  func expect(_ counts: ClosedRange<Int>, _ expected: String) throws -> [String] {
    guard counts ~= count else {
      let extra = count < counts.lowerBound ? "" : "unexpected argument \(Excerpt.of(self[counts.upperBound])); "
      throw ValidationError("\(extra)expected \(expected)")
    }
    return self
  }
}
