import ArgumentParser
import CommandPages
import Kept

struct Generate: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "generate",
    abstract: "Writes the keys of a file of declarations as code, or as a page of reference.",
    usage: """
      kept generate FILE (--c | --cxx | --python | --swift) [--output FILE]
      kept generate FILE (--html | --markdown | --man) [--output FILE]
      """,
    discussion: """
      FILE is what `kept declare` reads and `kept describe --json` prints; - reads standard input. Nothing is written \
      if the language cannot express a declaration.

      A page has all keys with their rules, and examples of how to set each of them. What `kept describe` hides of a \
      secret is not on it.
      """)

  enum Language: String, EnumerableFlag {
    case c, cxx, python, swift, html, markdown, man

    var isPage: Bool { [.html, .markdown, .man].contains(self) }

    static func help(for language: Language) -> ArgumentHelp? {
      switch language {
      case .c: "Write a header for C99 and C++."
      case .cxx: "Write a header for C++17, on kept.hpp."
      case .python: "Write a module for Python."
      case .swift: "Write a file for Swift."
      case .html: "Write a page in one file, for browsers."
      case .markdown: "Write a page in Markdown."
      case .man: "Write a page for man, in section 5."
      }
    }
  }

  @Flag var languages: [Language] = []
  @Option(
    name: [.short, .long],
    help: ArgumentHelp("Write to a file, which is replaced as a whole; - is standard output.", valueName: "file"))
  var output: String?
  @Option(
    help: ArgumentHelp(
      "The prefix of names in C, and of the enum in Swift, and the title of a page; by default the file's name up to "
        + "its first dot.",
      valueName: "name"))
  var name: String?
  @Option(
    name: .customLong("as"),
    help: ArgumentHelp("Use another name for a key; may be repeated.", valueName: "key=name"))
  var names: [String] = []
  @Option(help: ArgumentHelp("The store in the examples of a page, by its identifier.", valueName: "store"))
  var store: String?
  @Option(help: ArgumentHelp("Show variables with this prefix on a page.", valueName: "prefix"))
  var envPrefix: String?
  @Option(help: ArgumentHelp("Show arguments of this program on a page.", valueName: "program"))
  var program: String?
  @Argument(help: .hidden) var words: [String] = []

  private static let part = "kept-formats"

  func validate() throws {
    if languages.count > 1 {
      let options = languages.map { "--\($0)" }.joined(separator: " and ")
      throw ValidationError("\(options) cannot be combined; call kept generate once for each of them")
    }
    let title = languages.first?.isPage == true ? name : nil
    for (option, value) in [("output", output), ("name", title), ("program", program)] where value?.isEmpty == true {
      throw ValidationError("--\(option) is empty; give it a value, or leave it out")
    }
    let isForPage = store ?? envPrefix ?? program != nil
    if let language = languages.first, language.isPage ? !names.isEmpty : isForPage {
      throw ValidationError(
        language.isPage
          ? "--as gives keys other names in code, and a page shows the keys; leave it out"
          : "--store, --env-prefix and --program are for pages; use --html, --markdown or --man")
    }
    if let store, try !StorePlace(store).isIdentifier {
      throw ValidationError("\(Excerpt.of(store)) is not an identifier; give one such as com.example.player")
    }
    if let envPrefix, envPrefix.isEmpty || ExactString(envPrefix.replacingOthers()) != ExactString(envPrefix) {
      throw ValidationError("\(Excerpt.of(envPrefix)) cannot begin a variable of a shell; use a prefix such as PLAYER_")
    }
  }

  func run() throws {
    let path = try words.expect(1...1, "one file of declarations")[0]
    guard let language = languages.first else {
      let options = Language.allCases.map { "--\($0)" }.joined(separator: ", ")
      throw ValidationError("no output was chosen; add one of \(options)")
    }
    if let output, path != "-", File.isSame(output, path) {
      throw ValidationError("--output \(Excerpt.of(output)) is the file of declarations; write to another file")
    }
    let list = try DeclarationFile.list(path)
    var arguments = ["generate", language.rawValue, name ?? Self.name(of: path, language)]
    for pair in names { arguments += try Self.halves(of: pair, in: list) }
    for (option, value) in [("store", store), ("env-prefix", envPrefix), ("program", program)] {
      if let value { arguments += [option, value] }
    }
    let json = language.isPage ? list.shownJSON() : list.json
    guard let done = try Helper.run(Helper.part(Self.part), arguments, input: Array(json.utf8)) else {
      throw StoreError(.unavailable, "\(Self.part), the part of kept that writes it, is missing; reinstall kept")
    }
    switch done.status {
    case ExitStatus.done.rawValue:
      let text = String(decoding: done.out, as: UTF8.self)
      if let output, output != "-" { try File.replace(output, with: text) } else { Output.standard.write(text) }
    case ExitStatus.refused.rawValue:
      Failure.print(Shown.line("\(path): \(String(decoding: done.err, as: UTF8.self))"))
      throw ExitStatus.refused
    default: throw StoreError(.failed, "\(Self.part), the part of kept that writes it, ended early")
    }
  }

  /// `player` for `config/player.schema.json`.
  private static func name(of path: String, _ language: Language) -> String {
    let file = path.halves(atLast: "/")?.after ?? path
    let stem = file.halves(at: ".")?.before ?? file
    return path == "-" || stem.isEmpty ? "settings" : language.isPage ? stem : stem.replacingOthers()
  }

  private static func halves(of pair: String, in list: DeclarationList) throws -> [String] {
    guard let (key, name) = pair.halves(atLast: "="), !key.isEmpty, !name.isEmpty else {
      throw ValidationError("\(Excerpt.of(pair)) is not a key and its name; write --as 'KEY=NAME'")
    }
    guard list.declarations.contains(where: { $0.key.exact == ExactString(key) }) else {
      throw StoreError(.absent, key: key, "is not declared in the file; --as takes one of its keys")
    }
    return [key, name]
  }
}

extension String {
  /// A file's name as a name of code: everything else becomes `_`.
  fileprivate func replacingOthers() -> String {
    let text = String(
      String.UnicodeScalarView(
        unicodeScalars.map { "a"..."z" ~= $0 || "A"..."Z" ~= $0 || "0"..."9" ~= $0 ? $0 : "_" as Unicode.Scalar }))
    return text.unicodeScalars.first.map { "0"..."9" ~= $0 } == true ? "settings_\(text)" : text
  }
}
