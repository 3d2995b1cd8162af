import ArgumentParser
import Kept

struct Doctor: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Checks a store, and reports what to do about problems.",
    usage: "kept doctor STORE [--repair [--dry-run]] [--json | --quiet]",
    discussion: """
      Reads everything: the files, their checksums, every value and declaration, the administrator's files and their \
      permissions, the file system, and which processes have the store open. If the store cannot be opened, it reports \
      everything that may be the reason: permissions and owners of its files and of the folders above, the disk, the \
      user namespace. If the store was salvaged, it names the keys whose values are known to be lost; other losses \
      cannot be determined. --repair removes values and declarations that cannot be read, names their keys, and \
      acknowledges a salvage; the damaged files stay in the folder quarantine of the store (kept help damage). Exit \
      status 0: all is well; 1: something needs attention; 4: something is damaged, or the store cannot be opened.
      """)

  @OptionGroup var store: StoreOption
  @OptionGroup var layers: LayerOptions
  @OptionGroup var changing: ChangeOptions
  @Flag(help: "Repair the problems that can be repaired.")
  var repair = false
  @Flag(help: "Print JSON: an array of findings with severity (note, attention, damage), what, remedy and key.")
  var json = false
  @Argument(help: .hidden) var words: [String] = []

  func validate() throws {
    if changing.dryRun, !repair { throw ValidationError("--dry-run needs --repair; doctor alone changes nothing") }
    if changing.quiet, json { throw ValidationError("--quiet prints nothing, so it cannot be combined with --json") }
  }

  func run() throws {
    let (location, rest) = try store.split(words)
    _ = try rest.expect(0...0, "only the store")
    let place: StorePlace
    do throws(StoreError) { place = try StoreAccess.existing(location) } catch {
      guard json else { throw error }
      return try end([Finding(.damage, error.message)])
    }
    // A salvage is one of the findings.
    let options = StoreAccess.options(for: place, layers.choice) { if $0.code != .salvaged { Failure.print($0) } }
    var found = try place.examine(options: options, progress: Progress.bar("verify"))
    // Opened again, a damaged store is salvaged, unless another program has it open.
    if repair, found.verification?.damage.contains(where: { $0.key == nil }) == true {
      found = try place.examine(options: options)
    }
    var findings = found.findings
    if repair, found.verification != nil {
      let repairs = try Repair.apply(to: place, findings.filter(\.isRepairable), isDryRun: changing.dryRun)
      Output.standard.isDone = !changing.dryRun && !repairs.isEmpty
      findings =
        try repairs
        + (changing.dryRun ? findings.filter { !$0.isRepairable } : place.examine(options: options).findings)
    }
    if found.verification == nil, changing.quiet, let reason = findings.first { Failure.print(reason.what) }
    if found.verification != nil { findings += FormerNames.misfits(at: location, layers.choice).map(Finding.init) }
    try end(findings + [Finding(.note, "kept \(Build.version)")], found.verification)
  }

  /// Prints the findings, and ends with the status that they have.
  private func end(_ findings: [Finding], _ found: Verification? = nil) throws {
    if json {
      Output.standard.write(json: Value.array(findings.map { $0.json() }).json)
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
    // A store that cannot be read has not been counted.
    guard let found, found.revision > 0 || found.damage.isEmpty else { return }
    let (values, declarations) = (Count.of(found.values, "value"), Count.of(found.declarations, "declaration"))
    let sums = "\(values) and \(declarations) at revision \(found.revision)"
    let isWell = !findings.contains { $0.severity > .note }
    changing.report(isWell ? "all is well: \(sums)".styled(.green) : sums)
  }
}

extension Finding.Severity {
  /// A character, so that the colour says nothing that is not there without it.
  var mark: String {
    switch self {
    case .note: "·"
    case .attention: "!".styled(.yellow)
    case .damage: "✗".styled(.red)
    }
  }
}

extension Finding {
  /// A value that stays under a former name.
  fileprivate init(_ misfit: StoreError) {
    self.init(
      .attention, misfit.description,
      remedy: "set the key, convert the value in a migration, or reset the former name", key: misfit.key)
  }

  /// - Parameter store: nil if it is known which one is meant.
  func json(in store: String? = nil) -> Value {
    var members: [(ExactString, Value)] = [("severity", .string(severity.rawValue)), ("what", .string(what))]
    for (name, text) in [("remedy", remedy), ("key", key), ("store", store)] {
      if let text { members.append((ExactString(name), .string(text))) }
    }
    return .dictionary(ValueDictionary(members))
  }
}

/// Removes what cannot be read, and acknowledges a salvage.
private enum Repair {
  /// - Parameter findings: those that can be repaired, for the words about a salvage.
  /// - Returns: the repairs done; in a dry run, those that would be.
  static func apply(to place: StorePlace, _ findings: [Finding], isDryRun: Bool) throws -> [Finding] {
    guard !findings.isEmpty else { return [] }
    // The administrator's files may lock keys, or keep the store closed.
    let settings = try StoreAccess.open(place.location, LayerChoice(hasStandard: false)) { _ in }
    let damaged = Set(findings.filter { $0.severity == .damage }.compactMap { $0.key.map { ExactString($0) } }).sorted()
    if !isDryRun { for key in damaged { try remove(key.text, from: settings) } }
    let removed =
      isDryRun
      ? damaged.map { "would remove the stored value of \"\($0)\", which cannot be read" }
      : damaged.map { "removed the stored value of \"\($0)\", which could not be read" }
    if !isDryRun, try settings.salvaged() != nil { try settings.acknowledgeSalvage() }
    let acknowledged = findings.filter { $0.severity != .damage }.map { finding in
      finding.key != nil ? finding.what : (isDryRun ? "would acknowledge: " : "acknowledged: ") + finding.what
    }
    return (removed + acknowledged).map { Finding(.note, $0) }
  }

  private static func remove(_ key: String, from settings: Store) throws {
    try settings.remove(key)
    // A value that cannot be read says nothing about the declaration, which stays if it can be.
    do { _ = try settings.declaration(forKey: key) } catch { try settings.transaction { try $0.undeclare(key) } }
  }
}
