import ArgumentParser
import Formats
import Kept

struct Export: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Writes the stored values as JSON, which `kept import` reads.",
    usage: "kept export STORE [--prefix PREFIX] [--output FILE]",
    discussion: """
      Secrets are left out, and their keys listed, unless --secrets is given. It asks for a new passphrase and \
      encrypts them with it; if standard input is not a terminal, the passphrase is a line of it. With --plain they \
      are as they are, readable for anyone who can read the export.
      """)

  @OptionGroup var store: StoreOption
  @Option(help: ArgumentHelp("Only keys that begin with this.", valueName: "text"))
  var prefix = ""
  @Option(
    name: [.short, .long],
    help: ArgumentHelp("Write to this file (mode 0600); an existing one is replaced at the end.", valueName: "file"))
  var output: String?
  @Flag(help: "Include the declarations.")
  var declarations = false
  @Flag(help: "Include the values of secrets, encrypted with a passphrase.")
  var secrets = false
  @Option(help: ArgumentHelp("A file with that passphrase.", valueName: "file"))
  var exportPassphraseFile: String?
  @Flag(help: "With --secrets: do not encrypt them.")
  var plain = false
  @Flag(help: "List keys that cannot be read, instead of failing.")
  var readable = false
  @Argument(help: .hidden) var words: [String] = []

  func validate() throws {
    if !secrets, plain || exportPassphraseFile != nil {
      throw ValidationError("--plain and --export-passphrase-file are for secrets; add --secrets, or leave them out")
    }
    if plain, exportPassphraseFile != nil {
      throw ValidationError("--plain cannot be combined with --export-passphrase-file")
    }
  }

  func run() throws {
    let (location, rest) = try store.split(words)
    _ = try rest.expect(0...0, "only the store; see --prefix and --output")
    Passphrase.isAskedFor = secrets
    let settings = try StoreAccess.open(location)
    let passphrase =
      try secrets && !plain ? exportPassphraseFile.map(Passphrase.read) ?? HiddenInput.newPassphrase("export") : nil
    let options = ExportOptions(
      prefix: prefix, includesDeclarations: declarations, includesSecrets: secrets, passphrase: passphrase,
      leavesSecretsPlain: plain, leavesOutUnreadable: readable, progress: Progress.bar("export"))
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
    let it = keys.count == 1 ? "it" : "them"
    Failure.print(
      secrets
        ? "the export has \(named), but does not mark \(it) as secret; --declarations does"
        : "left out \(named); --secrets includes \(it)")
  }
}

struct Import: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Imports a file as one change, all or nothing.",
    usage: "kept import STORE FILE [--format FORMAT] [--replace] [--dry-run]",
    discussion: """
      FILE is an export, JSON, with comments or without, a property list, TOML, YAML, a .env or .ini file, or the \
      output of `dconf dump`, for which kept-gsettings must be installed; - reads standard input. The format is \
      detected from the contents and the name, and printed. A value that Kept cannot hold is reported, and the others \
      are imported; the exit status is then 1. If a declaration or a lock forbids a value, nothing is imported.

      The passphrase of an export with encrypted secrets is asked for; if standard input is not a terminal, it is a \
      line of it. A store that keeps secrets plain refuses them, unless --plain is given.
      """)

  @OptionGroup var store: StoreOption
  @Option(help: ArgumentHelp("The format of the file.", valueName: "format"))
  var format: Format?
  @Option(
    help: ArgumentHelp("Only keys of an export with this prefix; in other formats, add it to keys.", valueName: "text"))
  var prefix = ""
  @Option(help: ArgumentHelp("Read only variables with this prefix, as names of keys.", valueName: "prefix"))
  var envPrefix: String?
  @Option(help: ArgumentHelp("The administrator's file of prescribed values.", valueName: "file"))
  var managed: String?
  @Flag(help: "Leave the administrator's files out.")
  var noLayers = false
  @Flag(help: "Remove the keys that are not in the file.")
  var replace = false
  @Flag(help: "Import the declarations of an export, too.")
  var declarations = false
  @Option(help: ArgumentHelp("A file with the passphrase of an export.", valueName: "file"))
  var exportPassphraseFile: String?
  @Flag(help: "Let encrypted secrets of an export become plain, in a store that keeps secrets plain.")
  var plain = false
  @OptionGroup var changing: ChangeOptions
  @Flag(help: "Print the report as JSON.")
  var json = false
  @Argument(help: .hidden) var words: [String] = []

  func validate() throws {
    if changing.quiet, json { throw ValidationError("--quiet prints nothing, so it cannot be combined with --json") }
    if noLayers, managed != nil { throw ValidationError("--no-layers cannot be combined with --managed") }
    if let envPrefix, envPrefix.isEmpty || envPrefix.utf8.contains(UInt8(ascii: "=")) {
      throw ValidationError(
        "--env-prefix must not be empty or contain '='; use the beginning of the variable names, such as PLAYER_")
    }
  }

  func run() throws {
    let (location, rest) = try store.split(words)
    let path = try rest.expect(1...1, "one file; - for standard input")[0]
    Passphrase.isAskedFor = true
    let bytes = try path == "-" ? StandardInput.bytes() : File.bytes(of: path)
    let found = try format ?? Self.found(in: bytes, path)
    if format == nil { changing.warn("reading \(path) as \(found.description); --format chooses another format") }
    if envPrefix != nil, found != .env {
      throw ValidationError(
        "--env-prefix is for .env files, but the format is \(found.rawValue); leave it out, or use --format env")
    }
    if declarations, found != .kept {
      throw ValidationError(
        "--declarations is for exports, but the format is \(found.rawValue); leave it out, or use --format kept")
    }
    let hidden = StoreAccess.secrets(of: location).map(\.text)
    let source: ImportSource
    do {
      source = try ImportSource(
        bytes,
        Reading(found, whole: StoreAccess.wholeKeys(of: location, below: prefix), environmentPrefix: envPrefix))
    } catch {
      throw error.shown(in: (try? PlainText(bytes))?.string, "\(path): ", hiding: hidden)
    }
    let isEncrypted = found == .kept && ImportOptions.needsPassphrase(bytes)
    var options = ImportOptions(
      prefix: prefix, replaces: replace, isDryRun: changing.dryRun, includesDeclarations: declarations,
      passphrase: try isEncrypted ? passphrase(of: path) : nil, leavesSecretsPlain: plain)
    func make(in settings: Store) throws(StoreError) -> ImportReport {
      do {
        // Encrypted secrets are refused by the import itself.
        if found == .kept, !declarations, !isEncrypted { try Self.checkSecrets(source, options, settings) }
        return try source.importAll(into: settings, options)
      } catch {
        // An export that has secrets declares them in its text.
        let subject = error.key == nil ? "\(path): " : ""
        // As in a dry run: a declaration that this version does not know is refused.
        let error = error.code == .unsupported && error.key != nil ? .refused(nil, error.description) : error
        throw error.shown(in: source.shown, subject, hiding: hidden + ["\"secret\""])
      }
    }
    let layers = LayerChoice(managed: managed, hasStandard: !noLayers)
    let settings = try StoreAccess.openToWrite(location, changing, layers) {
      let report = try make(in: $0)
      // No one has decided how the new store keeps secrets. A lost declaration need not be one of a secret.
      for change in report.changed where change.isSecret && report.refused.isEmpty {
        guard try $0.declaration(forKey: change.key) == .lost else {
          throw StoreError.undecided(try KeyName(change.key))
        }
      }
    }
    options.progress = Progress.bar("import")
    let before = try settings.snapshot()
    let report = try make(in: settings)
    Output.standard.isDone = !changing.dryRun
    if json {
      // The format found, first among the members of the report.
      Output.standard.write(json: "{\"format\":\"\(found.rawValue)\",\(Substring(report.json.utf8.dropFirst()))")
    } else {
      try print(report, source, before)
    }
    if !report.refused.isEmpty { throw ExitStatus.refused }
    if report.notCarried.contains(where: source.isLoss) { throw ExitStatus.absent }
  }

  private func passphrase(of path: String) throws(StoreError) -> String {
    if let exportPassphraseFile { return try Passphrase.read(exportPassphraseFile) }
    guard path != "-" else {
      throw StoreError(
        .unavailable,
        "the export has encrypted secrets, and standard input is the export itself; give its passphrase by "
          + "--export-passphrase-file")
    }
    return try HiddenInput.passphrase("passphrase of the export")
  }

  private static func found(in bytes: [UInt8], _ path: String) throws(StoreError) -> Format {
    do { return try Format.found(in: bytes, named: path) } catch {
      throw StoreError(error.code, "\(path): \(error.message)")
    }
  }

  /// Throws for a value that its file declares secret, and that the store would show.
  private static func checkSecrets(
    _ source: ImportSource, _ options: ImportOptions, _ settings: Store
  ) throws(StoreError) {
    var trial = options
    trial.isDryRun = true
    for change in try source.importAll(into: settings, trial).changed where change.isSecret {
      guard try settings.declaration(forKey: change.key)?.isSecret != true else { continue }
      throw .refused(
        try KeyName(change.key),
        "is a secret in the file, but is not declared secret here, so this store would show it; nothing was imported; "
          + "--declarations imports the declarations, too")
    }
  }

  private func print(_ report: ImportReport, _ source: ImportSource, _ before: Snapshot) throws(StoreError) {
    for change in report.changed {
      let key = try KeyName(change.key)
      // The report does not say what a secret was.
      let isNew = change.isSecret && (try? before.entry(for: key)?.value) == nil
      let difference = Difference(key: key, old: change.old, new: change.new, isSecret: change.isSecret)
      changing.report(
        !change.isSecret
          ? difference.line
          : "\(isNew ? "+" : "~") \(Shown.key(key)): (secret)".styled(isNew ? .green : .yellow))
    }
    for key in report.removed { changing.report("- \(Shown.key(try KeyName(key)))".styled(.red)) }
    for key in report.declared { changing.report("declared \(Shown.key(try KeyName(key)))") }
    for refusal in report.refused { Failure.print("\(Excerpt.of(refusal.key)): \(refusal.reason)") }
    for part in report.notCarried {
      let line = "\(part.place): \(part.reason)"
      if source.isLoss(part) { Failure.print(line) } else { changing.warn(line) }
    }
    changing.report(
      "\(report.changed.count) changed, \(report.removed.count) removed, \(report.declared.count) declared, "
        + "\(report.unchanged) unchanged, \(report.refused.count) refused"
        + (changing.dryRun ? "; nothing was done" : ""))
  }
}

extension Format: ExpressibleByArgument {}
