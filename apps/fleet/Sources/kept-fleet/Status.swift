import ArgumentParser
import Etcd
import Fleet
import FoundationEssentials
import Glibc
import Kept

struct Status: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Shows which machines have the published documents.",
    usage: """
      kept-fleet status IDENTIFIER --etcd URL...
      kept-fleet status [IDENTIFIER] [--status-file FILE]
      """,
    discussion: """
      With --etcd, all machines that have reported under a prefix; without, the `kept-fleet follow` of this machine. \
      The exit status is 1 if a machine is behind, is silent, or has refused a document or a key. It is 4 if the \
      program of this machine has ended or is not connected.
      """)

  @Argument(help: "The identifier of the store, such as com.example.player.") var identifier: String?
  @OptionGroup var etcd: EtcdOptions
  @OptionGroup var groups: GroupOptions
  @Option(help: ArgumentHelp("The file that a program of this machine writes with --status-file.", valueName: "file"))
  var statusFile: String?
  @Flag(help: "One JSON array, or one object for the local status.") var json = false

  func validate() throws {
    if etcd.etcd.isEmpty {
      if identifier == nil, statusFile == nil {
        throw ValidationError("neither an identifier nor --status-file was given; use one of them")
      }
    } else {
      if identifier == nil { throw ValidationError("--etcd needs an identifier") }
      if statusFile != nil { throw ValidationError("--status-file cannot be combined with --etcd") }
      if groups.prefixes.count > 1 {
        throw ValidationError("\(groups.prefixes.count) prefixes are given; status covers only one")
      }
    }
  }

  func run() async throws {
    guard let identifier, !etcd.etcd.isEmpty else { return try showLocal() }
    guard let place = try groups.group(identifier).places.last else { return }
    let status = try await etcd.cluster().withAnySession({ try await FleetStatus($0, place) }, { $1 })
    KeptFleet.complain(ofNoReports: status.malformed)
    if json {
      print(Value.array(status.machines.map(\.value)).json)
    } else {
      show(status)
    }
    if !status.malformed.isEmpty || !status.machines.allSatisfy(\.isFine) { throw ExitStatus.attention }
  }

  private func show(_ status: FleetStatus) {
    let following = status.machines.filter { $0.report.sync == nil }
    if !following.isEmpty || status.machines.isEmpty {
      let published = DocumentName.allCases.map { "\($0.rawValue) \(status.published[$0]?.revision ?? 0)" }
      print("published revisions: \(published.joined(separator: ", "))")
    }
    if status.machines.isEmpty { print("no machine has reported") }
    if !following.isEmpty {
      show(following, ["MANAGED", "SYSTEM", "BEHIND"]) { machine in
        let documents = machine.report.documents
        return [documents[.managed]?.revision ?? 0, documents[.system]?.revision ?? 0, machine.behind]
      }
    }
    let syncing = status.machines.filter { $0.report.sync != nil }
    guard !syncing.isEmpty else { return }
    show(syncing, ["CONFLICTS", "REFUSED", "SECRETS"]) { machine in
      guard let sync = machine.report.sync else { return [0, 0, 0] }
      return [Int64(sync.conflicts), Int64(sync.refused), Int64(sync.withheld)]
    }
  }

  private func show(
    _ machines: [FleetStatus.Machine], _ names: [String], _ numbers: (FleetStatus.Machine) -> [Int64]
  ) {
    let rows = machines.map { machine in
      let report = machine.report
      let refusal =
        report.refusals.first.map { "\($0.document.rawValue): \($0.reason)" }
        ?? report.sync?.refusals.first.map { "\($0.key): \($0.reason)" }
      let count = report.sync?.refused ?? report.refusals.count
      let problem = refusal.map { count > 1 ? "\($0) (and \(count - 1) more)" : $0 } ?? report.problems.first ?? ""
      let age = machine.age < 0 ? "in \(-machine.age) s" : "\(machine.age) s"
      return [machine.name, machine.isSilent ? "silent" : "reports", age] + numbers(machine).map { "\($0)" }
        + [report.version, problem]
    }
    Terminal.printTable([["HOST", "STATE", "AGE"] + names + ["VERSION", "PROBLEM"]] + rows)
  }

  // MARK: - This machine

  private func showLocal() throws {
    let path = statusFile ?? "/run/kept-fleet/\(identifier ?? "").json"
    guard let bytes = FileManager.default.contents(atPath: path),
      let value = try? Value(json: String(decoding: bytes, as: UTF8.self)),
      let isRunning = WritingProcess.isRunning(value)
    else {
      throw StoreError(.unavailable, "\(path) has no status; start kept-fleet with --status-file \(path)")
    }
    print(json ? value.json : text(value))
    guard isRunning else {
      throw StoreError(.unavailable, "the kept-fleet that wrote \(path) has ended; start it again")
    }
    guard value["connected"] == true else { throw ExitStatus.unavailable }
    if value["behind"] == true || value["refused"] != nil || value["problems"] != nil { throw ExitStatus.attention }
  }

  private func text(_ value: Value) -> String {
    func text(_ member: ExactString) -> String { value[member]?.asString ?? "–" }
    var lines = [
      "\(text("identifier")) on \(text("host")), kept-fleet \(text("version"))",
      value["connected"] == true
        ? "connected to \(text("etcd")) since \(text("since")), last answer at \(text("heard"))"
        : "not connected; last answer at \(text("heard"))",
    ]
    for document in value["documents"]?.asDictionary ?? ValueDictionary() {
      for source in document.value.asDictionary ?? ValueDictionary() {
        let (applied, published) = (source.value["applied"]?.json ?? "0", source.value["published"]?.json)
        lines.append(
          "\(document.key.text) from \(source.key.text): revision \(applied)"
            + (published.map { $0 == applied ? "" : ", published is \($0)" } ?? ""))
      }
    }
    if let keys = value["secretsKeys"]?.asArray?.compactMap(\.asString) {
      lines.append("secrets are sealed with the first of these keys: \(keys.joined(separator: ", "))")
    }
    if let conflicts = value["conflicts"] {
      let pending = value["pending"]?.json ?? "not known"
      lines.append("pending keys: \(pending); conflicts since the start: \(conflicts.json)")
    }
    for conflict in value["lastConflicts"]?.asArray ?? [] {
      lines.append(
        "conflict, at \(conflict["time"]?.asString ?? ""): \(conflict["key"]?.asString ?? ""); the change from "
          + "\(conflict["winner"]?.asString ?? "") won")
    }
    for refusal in value["refused"]?.asArray ?? [] {
      let subject =
        refusal["key"]?.asString ?? "\(refusal["document"]?.asString ?? "") from \(refusal["prefix"]?.asString ?? "")"
      lines.append("refused: \(subject): \(refusal["reason"]?.asString ?? "")")
    }
    let listed = Int64(value["refused"]?.asArray?.count ?? 0)
    if let all = value["refusedTotal"]?.asInt64, all > listed {
      lines.append("refused: \(all) keys; the first \(listed) are listed")
    }
    for problem in value["problems"]?.asArray ?? [] { lines.append("problem: \(problem.asString ?? "")") }
    if let error = value["lastError"] {
      lines.append("last error, at \(error["time"]?.asString ?? ""): \(error["message"]?.asString ?? "")")
    }
    return lines.map(Terminal.line).joined(separator: "\n")
  }
}

enum Terminal {
  /// A line without control characters, which keys, values and reports may have.
  static func line(_ text: String) -> String { DisplayText.line(text) }

  /// The same for a text of several lines, such as a usage.
  static func lines(_ text: String) -> String { DisplayText.lines(text) }

  /// Prints rows in columns of equal width.
  static func printTable(_ rows: [[String]]) {
    let rows = rows.map { $0.map(line) }
    let widths =
      rows.first.map { $0.indices.map { column in rows.map { DisplayText.columns($0[column]) }.max() ?? 0 } } ?? []
    for row in rows {
      let cells = zip(row, widths).map { cell, width in DisplayText.padded(cell, toColumns: width) }
      print((cells.dropLast() + row.suffix(1)).joined(separator: "  "))
    }
  }
}
