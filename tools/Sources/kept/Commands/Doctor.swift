import ArgumentParser
import Glibc
import Kept

struct Doctor: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Checks a store, and says what to do.",
    usage: "kept doctor STORE [--repair [--dry-run]] [--json | --quiet]",
    discussion: """
      Reads everything: the database, its checksums, every value and declaration, the administrator's files and their \
      rights, the file system, and which processes have the store open. If the store cannot be opened, it reports \
      everything that may be the reason: permissions and owners of its files and of the folders above, the disk, the \
      user namespace. --repair removes values and declarations that cannot be read, and acknowledges a salvage; it \
      says what is lost. Exit status 0: all is well; 1: something wants attention; 4: something is damaged, or the \
      store cannot be opened.
      """)

  @OptionGroup var store: StoreOption
  @OptionGroup var layers: LayerOptions
  @OptionGroup var changing: ChangeOptions
  @Flag(help: "Repair what can be repaired.")
  var repair = false
  @Flag(help: "Print JSON: an array of findings with severity (note, attention, damage), what and remedy.")
  var json = false
  @Argument(help: .hidden) var words: [String] = []

  func validate() throws {
    if changing.dryRun, !repair { throw ValidationError("--dry-run goes with --repair; without it nothing is changed") }
    if changing.quiet, json { throw ValidationError("--quiet prints nothing, so it does not go with --json") }
  }

  func run() throws {
    let (location, rest) = try store.split(words)
    _ = try rest.expect(0...0, "only the store")
    let settings: Store
    var refusal: [Finding] = []
    do { settings = try StoreAccess.open(location, layers.choice) } catch let error as StoreError {
      guard try StoreAccess.exists(location) else { throw error }
      refusal.append(Finding(.damage, "the store cannot be opened: \(error.description)"))
      // The administrator's files may be the reason; then the rest is examined all the same.
      guard let other = try? StoreAccess.open(location, LayerChoice(hasStandard: false)) else {
        if changing.quiet { Failure.print(error) }
        return try end(refusal + Obstacles.findings(for: Store.folder(of: location) ?? location))
      }
      refusal += layers.choice.files(for: location).flatMap { Obstacles.findings(forAdministrators: $0) }
      settings = other
    }
    let found = try settings.verify(progress: Progress.bar("verify"))
    var findings = try Finding.all(found, settings, location)
    if repair {
      let repairs = try Repair.apply(to: settings, found, isDryRun: changing.dryRun)
      Output.standard.isDone = !changing.dryRun && !repairs.isEmpty
      findings =
        try changing.dryRun
        ? findings.filter { !$0.isRepaired } : Finding.all(settings.verify(), settings, location)
      findings = repairs + findings
    }
    try end(refusal + findings, found)
  }

  /// Prints the findings, and ends with the status that they have.
  private func end(_ findings: [Finding], _ found: Verification? = nil) throws {
    if json {
      Output.standard.write(json: Value.array(findings.map(\.json)).json)
    } else {
      print(findings, found)
    }
    switch findings.map(\.severity).max() {
    case .damage?: throw ExitStatus.unavailable
    case .attention?: throw ExitStatus.absent
    default: break
    }
  }

  private func print(_ findings: [Finding], _ found: Verification?) {
    for finding in findings {
      changing.report("\(finding.severity.mark) \(Shown.line(finding.what))")
      if let remedy = finding.remedy { changing.report("  \(Shown.line(remedy))") }
    }
    guard let found else { return }
    let (values, declarations) = (Count.of(found.values, "value"), Count.of(found.declarations, "declaration"))
    let sums = "\(values) and \(declarations) at revision \(found.revision)"
    let isWell = !findings.contains { $0.severity > .note }
    changing.report(isWell ? "all is well: \(sums)".styled(.green) : sums)
  }
}

/// Something that an examination has found.
struct Finding {
  enum Severity: String, Comparable {
    case note, attention, damage

    static func < (a: Severity, b: Severity) -> Bool { a.rank < b.rank }
    private var rank: Int { [.note: 0, .attention: 1, .damage: 2][self] ?? 0 }

    /// A character, so that the colour says nothing that is not there without it.
    var mark: String {
      switch self {
      case .note: "·"
      case .attention: "!".styled(.yellow)
      case .damage: "✗".styled(.red)
      }
    }
  }

  let severity: Severity
  let what: String
  let remedy: String?
  /// Whether --repair ends it.
  let isRepaired: Bool

  init(_ severity: Severity, _ what: String, _ remedy: String? = nil, isRepaired: Bool = false) {
    (self.severity, self.what, self.remedy, self.isRepaired) = (severity, what, remedy, isRepaired)
  }

  var json: Value {
    var members: [(ExactString, Value)] = [("severity", .string(severity.rawValue)), ("what", .string(what))]
    if let remedy { members.append(("remedy", .string(remedy))) }
    return .dictionary(ValueDictionary(members))
  }

  static func all(_ found: Verification, _ settings: Store, _ location: String) throws(StoreError) -> [Finding] {
    var findings: [Finding] = []
    for damage in found.damage {
      findings.append(
        Finding(
          .damage, damage.description,
          damage.key == nil
            ? "close the store everywhere; the next program that opens it salvages what can be read"
            : "set the key again, or remove it with --repair", isRepaired: damage.key != nil))
    }
    if let note = try settings.salvaged() {
      findings.append(
        Finding(
          .attention,
          "the store was damaged and salvaged; values and declarations may be missing, and the damaged files are in "
            + note.quarantine,
          "compare them with a backup (kept diff), then acknowledge with --repair",
          isRepaired: true))
    }
    for key in found.misfits {
      findings.append(
        Finding(
          .attention, "the value of \"\(key)\" does not fit its declaration, and reads as absent",
          remedy(key, location)))
    }
    let declared = (try? settings.declarations().declarations) ?? []
    for (key, declaration) in declared where declaration == .lost {
      findings.append(
        Finding(
          .attention,
          "\"\(key)\" may have lost its declaration with the damage: its value counts as a secret",
          "start the program that declares it, or, to have it shown, kept undeclare \(words([location, key.text]))"))
    }
    return try findings + ignored(settings, location) + layers(settings)
      + Surroundings(settings, location).findings
  }

  /// How to correct a value.
  private static func remedy(_ key: String, _ location: String) -> String {
    let reset = "kept reset \(words([location, key]))"
    // `set` would take what is before the sign for the key.
    return key.has("=") ? reset : "kept set \(words([location, key])) VALUE, or \(reset)"
  }

  /// Words of a command line of kept.
  private static func words(_ words: [String]) -> String {
    (words.contains { $0.begins(with: "-") } ? "-- " : "") + Shell.words(words)
  }

  /// Stored values that programs do not read, because the key is locked.
  private static func ignored(_ settings: Store, _ location: String) -> [Finding] {
    var findings: [Finding] = []
    for key in (try? settings.snapshot().storedKeys(prefix: "")) ?? [] {
      // A value that cannot be read is found as damage.
      guard let layers = try? settings.explain(key.text).layers,
        layers.contains(where: { $0.layer == .user && $0.outcome == .ignored })
      else { continue }
      let file = layers.first { $0.layer == .managed }?.source ?? "the managed layer"
      findings.append(
        Finding(
          .note, "the stored value of \"\(key.text)\" is ignored, because \(file) locks the key",
          "kept reset --no-layers \(words([location, key.text]))"))
    }
    return findings
  }

  /// What is wrong with the files of the administrator, and with what they say of declared keys.
  private static func layers(_ settings: Store) throws(StoreError) -> [Finding] {
    var findings: [Finding] = []
    var known: Set<ExactString> = []
    // A declaration that cannot be read is found as damage.
    let declared = (try? settings.declarations().declarations.map(\.key.text)) ?? []
    // Any key shows the state of the files.
    for key in ["kept.doctor"] + declared {
      for layer in try settings.explain(key).layers where layer.layer != .user {
        guard let problem = layer.problem, known.insert(ExactString(problem)).inserted else { continue }
        let subject = key == "kept.doctor" ? "" : ", \"\(key)\""
        findings.append(
          Finding(
            .attention, "the \(layer.layer) layer\(layer.source.map { ", \($0)" } ?? "")\(subject): \(problem)",
            layer.layer == .environment ? "correct the variable" : "correct the file; it is read again by itself"))
      }
    }
    return findings
  }
}

/// Removes what cannot be read.
private enum Repair {
  /// - Returns: what was done; in a dry run, what would be.
  static func apply(to settings: Store, _ found: Verification, isDryRun: Bool) throws -> [Finding] {
    var findings: [Finding] = []
    func note(_ done: String, _ planned: String) { findings.append(Finding(.note, isDryRun ? planned : done)) }
    for key in Set(found.damage.compactMap { $0.key.map { ExactString($0) } }).sorted() {
      if !isDryRun { try remove(key.text, from: settings) }
      note(
        "removed what was stored for \"\(key)\", which could not be read",
        "would remove what is stored for \"\(key)\", which cannot be read")
    }
    if try settings.salvaged() != nil {
      if !isDryRun { try settings.acknowledgeSalvage() }
      note("acknowledged the salvage", "would acknowledge the salvage")
    }
    return findings
  }

  private static func remove(_ key: String, from settings: Store) throws {
    try settings.remove(key)
    // A value that cannot be read says nothing about the declaration, which stays if it can be.
    guard (try? settings.declaration(forKey: key)) == nil else { return }
    try settings.transaction { try $0.undeclare(key) }
  }
}
