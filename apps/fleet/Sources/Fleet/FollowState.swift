// The state of `follow`, for the report in etcd, the local status and the metrics.

internal import Etcd
package import Kept

package struct FollowOptions: Sendable {
  package var group: Group
  package var folder: String
  package var machine: MachineOptions

  package init(group: Group, folder: String, machine: MachineOptions) {
    (self.group, self.folder, self.machine) = (group, folder, machine)
  }
}

struct FollowState: Sendable {
  var link = Link()
  /// The last reading.
  var reading: Reading?
  var applied: [DocumentName: Origin] = [:]
  var refusals: [Refusal] = []
  /// The reason why a correct document is not on disk, by layer.
  var problems: [DocumentName: String] = [:]
  /// Why etcd does not let this machine read the documents of a group.
  var unreadable: [Place: String] = [:]
  /// Why etcd does not take the report.
  var reportProblem: String?
  var changes = 0
  var missed = 0

  /// The revision of a document that is on disk; 0 for none.
  func applied(_ document: DocumentName, _ place: Place) -> Stamp {
    switch document {
    case .declarations:
      guard let item = reading?[place.key(.declarations)], !isRefused(.declarations, place) else { break }
      return Stamp(revision: item.revision, version: item.version)
    default:
      if let source = applied[document]?.sources[place.prefix] { return source.stamp }
    }
    return Stamp(revision: 0, version: 0)
  }

  private func isRefused(_ document: DocumentName, _ place: Place) -> Bool {
    refusals.contains { $0.document == document && $0.prefix == place.prefix }
  }

  /// The problems, which are also reported.
  var reportedProblems: [String] {
    problems.sorted { $0.key.rawValue < $1.key.rawValue }.map(\.value) + unreadable.values.sorted()
  }

  var allProblems: [String] { reportedProblems + (reportProblem.map { [$0] } ?? []) }
}

// MARK: - The report in etcd

/// The report of a machine about the documents or the user's settings under one prefix.
package struct Report: Sendable {
  package var host: String
  /// The identity of the machine; empty if it does not have one.
  package var machine: String
  /// Distinguishes the reports of one process from those of another.
  var process: String
  /// By the clock of the machine.
  package var time: Timestamp
  /// By the clock that the fleet shares; nil if etcd has none.
  var fleetTime: FleetTime?
  package var version: String
  /// How many seconds may pass until the next report.
  package var interval: Int64
  package var prefixes: [String]
  package var documents: [DocumentName: Stamp]
  package var refusals: [Refusal]
  package var problems: [String]
  /// Nil from a machine that follows documents.
  package var sync: SyncReport?

  init(_ state: SyncState, _ identity: MachineIdentity, _ options: SyncOptions) {
    (host, machine, process) = (options.machine.host, identity.text, options.machine.process)
    (version, time) = (options.machine.version, .now)
    interval = options.machine.reportInterval.components.seconds
    prefixes = options.group.prefixes
    (documents, refusals) = ([:], [])
    (problems, sync) = (state.problems, state.report)
  }

  init(_ state: FollowState, _ identity: MachineIdentity, _ place: Place, _ options: FollowOptions) {
    (host, machine, process) = (options.machine.host, identity.text, options.machine.process)
    (version, time) = (options.machine.version, .now)
    interval = options.machine.reportInterval.components.seconds
    prefixes = options.group.prefixes
    documents = Dictionary(uniqueKeysWithValues: DocumentName.allCases.map { ($0, state.applied($0, place)) })
    refusals = state.refusals.filter { $0.prefix == place.prefix }
    problems = state.reportedProblems
  }

  /// Parses a report; nil for a text that is not a report.
  package init?(_ json: String) {
    guard let value = try? Value(json: json), let host = value["host"]?.asString, let time = value["time"]?.asString,
      let time = try? Timestamp(text: time)
    else { return nil }
    (self.host, self.time) = (host, time)
    machine = value["machine"]?.asString ?? ""
    process = value["process"]?.asString ?? ""
    if let term = value["clock"]?["term"]?.asInt64, let seconds = value["clock"]?["seconds"]?.asInt64 {
      fleetTime = FleetTime(term: term, seconds: seconds)
    }
    version = value["version"]?.asString ?? "?"
    // No machine reports less often; one that claims to is still shown as silent.
    interval = value["interval"]?.asInt64.flatMap { 0...Self.longestInterval ~= $0 ? $0 : nil } ?? 300
    prefixes = (value["prefixes"]?.asArray ?? []).compactMap(\.asString)
    documents = [:]
    for name in DocumentName.allCases {
      documents[name] = Stamp(value["documents"]?[ExactString(name.rawValue)])
    }
    refusals = (value["refused"]?.asArray ?? []).compactMap { refusal in
      guard let name = refusal["document"]?.asString.flatMap(DocumentName.init) else { return nil }
      return Refusal(
        document: name, prefix: refusal["prefix"]?.asString ?? "", revision: refusal["revision"]?.asInt64 ?? 0,
        reason: refusal["reason"]?.asString ?? "")
    }
    problems = (value["problems"]?.asArray ?? []).compactMap(\.asString)
    sync = value["sync"].map(SyncReport.init)
  }

  package var value: Value {
    .object([
      "host": .string(host), "machine": .string(machine), "process": .string(process),
      "time": .string(time.description),
      "clock": fleetTime.map { .object(["term": .number($0.term), "seconds": .number($0.seconds)]) },
      "version": .string(version),
      "interval": .number(interval), "prefixes": .array(prefixes.map { .string($0) }),
      "documents": .dictionary(
        ValueDictionary(documents.map { (ExactString($0.key.rawValue), $0.value.value) })),
      "refused": refusals.isEmpty ? nil : .array(refusals.map(\.value)),
      "problems": problems.isEmpty ? nil : .array(problems.map { .string($0) }),
      "sync": sync.map { .object($0.members) },
    ])
  }

  /// The members whose changes are reported at once.
  var content: Value {
    var report = self
    report.sync?.pending = nil
    guard var members = report.value.asDictionary else { return value }
    members["time"] = nil
    members["clock"] = nil
    return .dictionary(members)
  }

  /// The maximum of `--report-every`.
  package static let longestInterval: Int64 = 86_400
}

extension Reading {
  /// The reports of machines, and the keys whose values are not reports.
  func reports(_ place: Place) -> (reports: [Report], malformed: [String]) {
    var malformed = strange
    let reports = items.filter { $0.key.utf8.starts(with: place.reports.utf8) }.compactMap { item -> Report? in
      let report = Report(String(decoding: item.value, as: UTF8.self))
      if report == nil { malformed.append(LongName.shown(item.key)) }
      return report
    }
    return (reports, malformed)
  }
}

extension Refusal {
  var value: Value {
    .object([
      "document": .string(document.rawValue), "prefix": .string(prefix), "revision": .number(revision),
      "reason": .string(reason),
    ])
  }
}

// MARK: - The local status

extension FollowState {
  func status(_ options: FollowOptions) -> [(ExactString, Value?)] {
    let documents = DocumentName.layers.map { layer in
      let sources = options.group.places.map { place in
        let (applied, item) = (applied(layer, place), reading?[place.key(layer)])
        return (
          ExactString(place.prefix),
          Value.object([
            "applied": .number(applied.revision),
            "published": unreadable[place] == nil ? reading.map { _ in .number(item?.revision ?? 0) } : nil,
          ])
        )
      }
      return (ExactString(layer.rawValue), Value.dictionary(ValueDictionary(sources)))
    }
    return link.members + [
      ("identifier", .string(options.group.identifier)), ("revision", reading.map { .number($0.revision) }),
      ("documents", .dictionary(ValueDictionary(documents))), ("behind", .bool(isBehind(options))),
      ("refused", refusals.isEmpty ? nil : .array(refusals.map(\.value))),
      ("problems", allProblems.isEmpty ? nil : .array(allProblems.map { .string($0) })),
      ("changes", .number(changes)), ("missed", .number(missed)),
    ]
  }

  /// Whether the files are known to differ from the published documents.
  private func isBehind(_ options: FollowOptions) -> Bool {
    guard let reading else { return false }
    return options.group.places.contains { place in
      DocumentName.layers.contains { applied($0, place).revision != reading[place.key($0)]?.revision ?? 0 }
    }
  }

  func metrics(_ options: FollowOptions) -> String {
    var metrics = Metrics(options.group.identifier)
    metrics.add(link)
    metrics.gauge("behind", "Whether a file differs from the published document.", isBehind(options) ? 1 : 0)
    metrics.gauge("refused_documents", "Documents that are wrong.", refusals.count)
    metrics.gauge("problems", "Documents and reports that cannot be written.", allProblems.count)
    let revisions = options.group.places.flatMap { place in
      let prefix = Metrics.label(place.prefix)
      return DocumentName.layers.map { layer in
        (",prefix=\"\(prefix)\",document=\"\(layer.rawValue)\"", applied(layer, place).revision)
      }
    }
    metrics.add("applied_revision", "gauge", "The revision of a document on disk.", revisions)
    metrics.counter("changes_total", "Files that were written or removed.", changes)
    metrics.counter("missed_total", "Changes that the watch did not report.", missed)
    return metrics.text
  }
}
