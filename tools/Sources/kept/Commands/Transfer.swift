import ArgumentParser
import Kept

struct Export: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Writes the stored values as JSON, which `kept import` reads.",
    usage: "kept export STORE [--prefix PREFIX] [--output FILE]",
    discussion: "Secrets are left out, and their keys listed, unless --secrets is given.")

  @OptionGroup var store: StoreOption
  @Option(help: ArgumentHelp("Only keys that begin with this.", valueName: "text"))
  var prefix = ""
  @Option(
    name: [.short, .long], help: ArgumentHelp("A file of mode 0600, replaced when all is written.", valueName: "file"))
  var output: String?
  @Flag(help: "Include the declarations.")
  var declarations = false
  @Flag(help: "Include the values of secrets.")
  var secrets = false
  @Flag(help: "List keys that cannot be read, instead of failing.")
  var readable = false
  @Argument(help: .hidden) var words: [String] = []

  func run() throws {
    let (location, rest) = try store.split(words)
    _ = try rest.expect(0...0, "only the store; see --prefix and --output")
    let options = ExportOptions(
      prefix: prefix, includesDeclarations: declarations, includesSecrets: secrets, leavesOutUnreadable: readable,
      progress: Progress.bar("export"))
    let settings = try StoreAccess.open(location)
    if let output {
      try settings.export(to: output, options)
    } else {
      Output.standard.write(line: try settings.export(options))
    }
    try noteSecrets(in: settings)
  }

  /// Says what another machine would miss.
  private func noteSecrets(in settings: Store) throws(StoreError) {
    var keys: [String] = []
    for (key, declaration) in try settings.declarations(prefix: prefix).declarations where declaration.isSecret {
      // What cannot be read is in no export either.
      if (try? settings.entry(for: key))??.value != nil { keys.append(key.text) }
    }
    guard !keys.isEmpty, !secrets || !declarations else { return }
    let named = "\(Count.of(keys.count, "secret")) (\(Shown.line(keys.joined(separator: ", "))))"
    Failure.print(
      secrets
        ? "the export has \(named), and does not say that it is secret; --declarations does"
        : "left out \(named); --secrets includes \(keys.count == 1 ? "it" : "them")")
  }
}

struct Import: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Imports a file as one change, or nothing of it.",
    usage: "kept import STORE FILE [--format FORMAT] [--replace] [--dry-run]",
    discussion: """
      FILE is an export, JSON, a property list, a .env or .ini file, or the output of `dconf dump`; - reads standard \
      input. The format is found from the contents and the name, and said.
      """)

  @OptionGroup var store: StoreOption
  @Option(help: ArgumentHelp("kept, json, nested-json, plist, env, ini or dconf.", valueName: "format"))
  var format: ImportFormat?
  @Option(help: ArgumentHelp("Only keys of an export with this prefix; before the keys of others.", valueName: "text"))
  var prefix = ""
  @Option(help: ArgumentHelp("Read only variables with this prefix, as names of keys.", valueName: "prefix"))
  var envPrefix: String?
  @Flag(help: "Remove the keys that are not in the file.")
  var replace = false
  @Flag(help: "Import the declarations of an export, too.")
  var declarations = false
  @OptionGroup var changing: ChangeOptions
  @Flag(help: "Print the report as JSON.")
  var json = false
  @Argument(help: .hidden) var words: [String] = []

  func validate() throws {
    if changing.quiet, json { throw ValidationError("--quiet prints nothing, so it does not go with --json") }
  }

  func run() throws {
    let (location, rest) = try store.split(words)
    let path = try rest.expect(1...1, "one file; - for standard input")[0]
    let bytes = try path == "-" ? StandardInput.bytes() : File.bytes(of: path)
    let found = format ?? FoundFormat.of(bytes, named: path)
    if format == nil { changing.warn("reading \(path) as \(found.words); --format chooses another format") }
    if envPrefix != nil, found != .env {
      throw ValidationError("--env-prefix is for .env files, not for \(found.name)")
    }
    if declarations, found != .kept { throw ValidationError("--declarations is for exports, not for \(found.name)") }
    var options = ImportOptions(
      format: found, prefix: prefix, environmentPrefix: envPrefix, replaces: replace, isDryRun: changing.dryRun,
      includesDeclarations: declarations)
    func make(in settings: Store) throws(StoreError) -> ImportReport {
      do {
        if found == .kept, !declarations { try Self.checkSecrets(bytes, options, settings) }
        return try settings.import(bytes, options)
      } catch {
        // An export that has secrets declares them in its text.
        let hidden = StoreAccess.secrets(of: location).map(\.text) + ["\"secret\""]
        let subject = error.key == nil ? "\(path): " : ""
        throw error.shown(in: String(validating: bytes, as: UTF8.self), subject, hiding: hidden)
      }
    }
    let settings = try StoreAccess.openToWrite(location, changing) { _ = try make(in: $0) }
    options.progress = Progress.bar("import")
    let report = try make(in: settings)
    Output.standard.isDone = !changing.dryRun
    if json { Output.standard.write(json: report.json) } else { try print(report) }
    if !report.refused.isEmpty { throw ExitStatus.refused }
  }

  /// Throws for a value that its file declares secret, and that the store would show.
  private static func checkSecrets(_ bytes: [UInt8], _ options: ImportOptions, _ settings: Store) throws(StoreError) {
    var trial = options
    trial.isDryRun = true
    for change in try settings.import(bytes, trial).changed where change.isSecret {
      guard try settings.declaration(forKey: change.key)?.isSecret != true else { continue }
      throw .refused(
        try KeyName(change.key),
        "is a secret in the file, and this store would show it, because it does not declare it so; nothing was "
          + "imported; --declarations imports the declarations, too")
    }
  }

  private func print(_ report: ImportReport) throws(StoreError) {
    for change in report.changed {
      let key = try KeyName(change.key)
      let difference = Difference(key: key, old: change.old, new: change.new, isSecret: change.isSecret)
      changing.report(
        change.isSecret ? "~ \(Shown.key(key)): (secret)".styled(.yellow) : difference.line)
    }
    for key in report.removed { changing.report("- \(Shown.key(try KeyName(key)))".styled(.red)) }
    for key in report.declared { changing.report("declared \(Shown.key(try KeyName(key)))") }
    for refusal in report.refused { Failure.print("\(Excerpt.of(refusal.key)): \(refusal.reason)") }
    for part in report.notCarried { changing.warn("\(part.place): \(part.reason)") }
    changing.report(
      "\(report.changed.count) changed, \(report.removed.count) removed, \(report.declared.count) declared, "
        + "\(report.unchanged) unchanged, \(report.refused.count) refused"
        + (changing.dryRun ? "; nothing was done" : ""))
  }
}

extension ImportFormat: @retroactive ExpressibleByArgument {
  public init?(argument: String) {
    guard let format = Self.all.first(where: { $0.name == argument }) else { return nil }
    self = format
  }

  static let all: [ImportFormat] = [.kept, .json, .nestedJSON, .propertyList, .env, .ini, .dconf]
  public static var allValueStrings: [String] { all.map(\.name) }

  /// What a file in the format is.
  var words: String {
    switch self {
    case .kept: "an export of kept"
    case .json: "JSON"
    case .nestedJSON: "nested JSON"
    case .propertyList: "a property list"
    case .env: "an .env file"
    case .ini: "an .ini file"
    case .dconf: "the output of dconf dump"
    }
  }

  var name: String {
    switch self {
    case .kept: "kept"
    case .json: "json"
    case .nestedJSON: "nested-json"
    case .propertyList: "plist"
    case .env: "env"
    case .ini: "ini"
    case .dconf: "dconf"
    }
  }
}

/// The format of a file, found from what it begins with.
enum FoundFormat {
  static func of(_ bytes: [UInt8], named path: String) -> ImportFormat {
    let start = String(decoding: bytes.prefix(4096), as: UTF8.self)
    let text = start.drop(while: \.isWhitespace)
    if text.hasPrefix("bplist") || text.hasPrefix("<?xml") || text.hasPrefix("<plist") || text.hasPrefix("<!DOCTYPE") {
      return .propertyList
    }
    if text.hasPrefix("{") { return json(bytes) }
    let lines = text.split(whereSeparator: \.isNewline).filter { !$0.hasPrefix("#") && !$0.hasPrefix(";") }
    guard let section = lines.first(where: { $0.hasPrefix("[") }) else { return .env }
    // dconf names a folder, and its texts are in single quotes.
    if section.contains("/") || lines.contains(where: { $0.contains("='") }) { return .dconf }
    return .ini
  }

  /// Whether what follows the brace is `"name":`, as in JSON, or nothing that a property list has.
  private static func isMember(_ text: String) -> Bool {
    var rest = text.drop { $0 != "{" }.dropFirst().drop(while: \.isWhitespace)
    let isQuoted = rest.first == "\""
    rest = isQuoted ? rest.dropFirst().drop { $0 != "\"" }.dropFirst() : rest.drop { !":=;".contains($0) }
    return rest.drop(while: \.isWhitespace).first.map { !"=;".contains($0) } ?? true
  }

  private static func json(_ bytes: [UInt8]) -> ImportFormat {
    guard let text = String(validating: bytes, as: UTF8.self), case .dictionary(let root)? = try? Value(json: text)
    else {
      // An old property list begins with a brace, too. What is longer than a value may be, or wrong, is told by its
      // first member.
      guard isMember(String(decoding: bytes.prefix(4096), as: UTF8.self)) else { return .propertyList }
      return String(decoding: bytes, as: UTF8.self).contains("\"kept\":") ? .kept : .json
    }
    if root["kept"] != nil, root["values"] != nil { return .kept }
    return root.contains { $0.value.kind == .dictionary } ? .nestedJSON : .json
  }
}
