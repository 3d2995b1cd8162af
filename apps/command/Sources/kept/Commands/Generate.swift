import ArgumentParser
import CommandPages
import Kept

struct Generate: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "generate",
    abstract: "Writes the keys of a file of declarations as code.",
    usage: "kept generate FILE (--c | --cxx | --python | --swift) [--output FILE]",
    discussion: """
      FILE is what `kept declare` reads and `kept describe --json` prints; - reads standard input. Nothing is written \
      if the language cannot express a declaration.
      """)

  enum Language: String, EnumerableFlag {
    case c, cxx, python, swift

    static func help(for language: Language) -> ArgumentHelp? {
      switch language {
      case .c: "Write a header for C99 and C++."
      case .cxx: "Write a header for C++17, on kept.hpp."
      case .python: "Write a module for Python."
      case .swift: "Write a file for Swift."
      }
    }
  }

  @Flag(exclusivity: .exclusive) var language: Language?
  @Option(
    name: [.short, .long],
    help: ArgumentHelp("Write to a file, which is replaced as a whole.", valueName: "file"))
  var output: String?
  @Option(
    help: ArgumentHelp(
      "The prefix of names in C, and of the enum in Swift; by default the file's name up to its first dot.",
      valueName: "name"))
  var name: String?
  @Option(
    name: .customLong("as"),
    help: ArgumentHelp("Use another name for a key; may be repeated.", valueName: "key=name"))
  var names: [String] = []
  @Argument(help: .hidden) var words: [String] = []

  private static let program = "kept-formats"

  func run() throws {
    let path = try words.expect(1...1, "one file of declarations")[0]
    guard let language else { throw ValidationError("no language was given; add --c, --cxx, --python or --swift") }
    let list = try DeclarationFile.list(path)
    var arguments = ["generate", language.rawValue, name ?? Self.name(of: path)]
    for pair in names { arguments += try Self.halves(of: pair, in: list) }
    guard let done = try Helper.run(Helper.part(Self.program), arguments, input: Array(list.json.utf8)) else {
      throw StoreError(.unavailable, "\(Self.program), the part of kept that writes code, is missing; reinstall kept")
    }
    switch done.status {
    case ExitStatus.done.rawValue:
      let text = String(decoding: done.out, as: UTF8.self)
      if let output { try File.replace(output, with: text) } else { Output.standard.write(text) }
    case ExitStatus.refused.rawValue:
      Failure.print(Shown.line("\(path): \(String(decoding: done.err, as: UTF8.self))"))
      throw ExitStatus.refused
    default: throw StoreError(.failed, "\(Self.program), the part of kept that writes code, ended early")
    }
  }

  /// `player` for `config/player.schema.json`.
  private static func name(of path: String) -> String {
    let file = path.halves(atLast: "/")?.after ?? path
    let stem = file.halves(at: ".")?.before ?? file
    return path == "-" || stem.isEmpty ? "settings" : stem.replacingOthers()
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
