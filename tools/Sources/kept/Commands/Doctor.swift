import ArgumentParser
import Glibc
import Kept

struct Doctor: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Checks a store, and says what to do.",
    usage: "kept doctor STORE [--repair] [--json]",
    discussion: """
      Reads everything: the database, its checksums, every value and declaration, and the administrator's files. \
      --repair removes values and declarations that cannot be read, and acknowledges a salvage; it says what is lost. \
      Exit status 0: all is well; 1: something wants attention; 4: something is damaged.
      """)

  @OptionGroup var store: StoreOption
  @OptionGroup var layers: LayerOptions
  @Flag(help: "Repair what can be repaired.")
  var repair = false
  @Flag(help: "Print JSON: an array of findings with severity, what and remedy.")
  var json = false
  @Argument var words: [String] = []

  func run() throws {
    let (location, rest) = try store.split(words)
    _ = try rest.expect(0...0, "only the store")
    let settings = try StoreAccess.open(location, layers.choice)
    let found = try settings.verify(progress: Progress.bar("verify"))
    var findings = try Finding.all(found, settings, location)
    if repair { findings = try Repair.apply(to: settings, found) + Finding.all(settings.verify(), settings, location) }
    if json {
      Output.standard.write(line: Value.array(findings.map(\.json)).json)
    } else {
      print(findings, found)
    }
    switch findings.map(\.severity).max() {
    case .damage?: throw ExitStatus.unavailable
    case .attention?: throw ExitStatus.absent
    default: break
    }
  }

  private func print(_ findings: [Finding], _ found: Verification) {
    for finding in findings {
      let mark = finding.severity.mark
      Output.standard.write(line: "\(mark) \(Shown.line(finding.what))")
      if let remedy = finding.remedy { Output.standard.write(line: "  \(Shown.line(remedy))") }
    }
    let sums = "\(found.values) values and \(found.declarations) declarations at revision \(found.revision)"
    let isWell = !findings.contains { $0.severity > .note }
    Output.standard.write(line: isWell ? "all is well: \(sums)".styled(.green) : sums)
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

  init(_ severity: Severity, _ what: String, _ remedy: String? = nil) {
    (self.severity, self.what, self.remedy) = (severity, what, remedy)
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
            : "set the key again, or remove it with --repair"))
    }
    if let note = try settings.salvaged() {
      findings.append(
        Finding(
          .attention, "the store was damaged and salvaged; the damaged files are in \(note.quarantine)",
          "compare them with a backup (kept diff), then acknowledge with --repair"))
    }
    for key in found.misfits {
      findings.append(
        Finding(
          .attention, "the value of \"\(key)\" does not fit its declaration, and reads as absent",
          "kept set \(location) \(key) VALUE, or kept reset \(location) \(key)"))
    }
    if !found.readers.isEmpty {
      let processes = found.readers.map(\.description).joined(separator: ", ")
      findings.append(Finding(.note, "processes that read the database now: \(processes)"))
    }
    return findings + (try layers(settings))
  }

  /// What is wrong with the files of the administrator.
  private static func layers(_ settings: Store) throws(StoreError) -> [Finding] {
    // Any key shows the state of the files.
    try settings.explain("kept.doctor").layers.compactMap { layer in
      guard let problem = layer.problem else { return nil }
      return Finding(.attention, "the \(layer.layer) layer: \(problem)", "correct the file; it is read again by itself")
    }
  }
}

/// Removes what cannot be read.
private enum Repair {
  static func apply(to settings: Store, _ found: Verification) throws -> [Finding] {
    var findings: [Finding] = []
    for key in found.damage.compactMap(\.key) {
      try settings.remove(key)
      findings.append(Finding(.note, "removed the value of \"\(key)\", which could not be read"))
    }
    if try settings.salvaged() != nil {
      try settings.acknowledgeSalvage()
      findings.append(Finding(.note, "acknowledged the salvage"))
    }
    return findings
  }
}
