// What `follow` knows of itself: for the report in etcd, the local status and the metrics.

internal import Etcd
package import Kept

package struct FollowOptions: Sendable {
  package var group: Group
  package var folder: String
  package var host: String
  package var version: String
  /// How often the documents are compared with what the watch has told.
  package var checkInterval: Duration = .seconds(120)
  /// How often a machine reports that it is alive.
  package var reportInterval: Duration = .seconds(300)
  /// The time over which the reports of a fleet are spread.
  package var spread: Duration = .seconds(3)
  package var statusFile: String?
  package var metricsFile: String?

  package init(group: Group, folder: String, host: String, version: String) {
    (self.group, self.folder, self.host, self.version) = (group, folder, host, version)
  }

  /// How often the member of etcd must prove that it is alive.
  var proofInterval: Duration { min(checkInterval / 2, .seconds(20)) }
}

struct FollowState: Sendable {
  var endpoint: Endpoint?
  var isConnected = false
  var connectedSince: Timestamp?
  /// The last proof of life of etcd.
  var heard: Timestamp?
  var lastError: (time: Timestamp, message: String)?
  /// What was read last.
  var reading: Reading?
  var applied: [DocumentName: Origin] = [:]
  var refusals: [Refusal] = []
  /// What keeps a correct document from the disk, by layer.
  var problems: [DocumentName: String] = [:]
  /// Why etcd does not take the report.
  var reportProblem: String?
  var connections = 0
  var changes = 0
  var missed = 0

  /// The revision of a document that is on disk; 0 for none.
  func applied(_ document: DocumentName, _ place: Place) -> Stamp {
    switch document {
    case .declarations:
      guard let item = reading?[place.key(.declarations)], !isRefused(.declarations, place) else { break }
      return Stamp(revision: item.revision, version: item.version)
    default:
      if let stamp = applied[document]?.sources[place.prefix] { return stamp }
    }
    return Stamp(revision: 0, version: 0)
  }

  private func isRefused(_ document: DocumentName, _ place: Place) -> Bool {
    refusals.contains { $0.document == document && $0.prefix == place.prefix }
  }

  var allProblems: [String] {
    problems.sorted { $0.key.rawValue < $1.key.rawValue }.map(\.value) + (reportProblem.map { [$0] } ?? [])
  }
}

// MARK: - The report in etcd

/// What a machine reports about the documents under one prefix.
package struct Report: Sendable {
  package var host: String
  package var time: Timestamp
  package var version: String
  /// How many seconds may pass until the next report.
  package var interval: Int64
  package var prefixes: [String]
  package var documents: [DocumentName: Stamp]
  package var refusals: [Refusal]
  package var problems: [String]

  init(_ state: FollowState, _ place: Place, _ options: FollowOptions) {
    host = options.host
    time = .now
    version = options.version
    interval = options.reportInterval.components.seconds
    prefixes = options.group.prefixes
    documents = Dictionary(uniqueKeysWithValues: DocumentName.allCases.map { ($0, state.applied($0, place)) })
    refusals = state.refusals.filter { $0.prefix == place.prefix }
    problems = state.problems.sorted { $0.key.rawValue < $1.key.rawValue }.map(\.value)
  }

  /// Parses a report; nil for what is none.
  package init?(_ json: String) {
    guard let value = try? Value(json: json), let host = value["host"]?.asString, let time = value["time"]?.asString,
      let time = try? Timestamp(text: time)
    else { return nil }
    (self.host, self.time) = (host, time)
    version = value["version"]?.asString ?? "?"
    interval = value["interval"]?.asInt64 ?? 300
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
  }

  package var value: Value {
    .object([
      "host": .string(host), "time": .string(time.description), "version": .string(version),
      "interval": .number(interval), "prefixes": .array(prefixes.map { .string($0) }),
      "documents": .dictionary(
        ValueDictionary(documents.map { (ExactString($0.key.rawValue), $0.value.value) })),
      "refused": refusals.isEmpty ? nil : .array(refusals.map(\.value)),
      "problems": problems.isEmpty ? nil : .array(problems.map { .string($0) }),
    ])
  }

  /// What has to be reported at once if it changes.
  var content: Value {
    guard var members = value.asDictionary else { return value }
    members["time"] = nil
    return .dictionary(members)
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
  func status(_ options: FollowOptions, process: Int32) -> Value {
    let documents = DocumentName.layers.map { layer in
      let sources = options.group.places.map { place in
        let (applied, item) = (applied(layer, place), reading?[place.key(layer)])
        return (
          ExactString(place.prefix),
          Value.object([
            "applied": .number(applied.revision), "published": reading.map { _ in .number(item?.revision ?? 0) },
          ])
        )
      }
      return (ExactString(layer.rawValue), Value.dictionary(ValueDictionary(sources)))
    }
    return .object([
      "identifier": .string(options.group.identifier), "host": .string(options.host),
      "version": .string(options.version), "process": .number(process), "time": .string(Timestamp.now.description),
      "interval": .number(options.proofInterval.components.seconds + 1),
      "connected": .bool(isConnected), "etcd": endpoint.map { .string($0.description) },
      "since": connectedSince.map { .string($0.description) }, "heard": heard.map { .string($0.description) },
      "revision": reading.map { .number($0.revision) },
      "documents": .dictionary(ValueDictionary(documents)),
      "behind": .bool(isBehind(options)),
      "refused": refusals.isEmpty ? nil : .array(refusals.map(\.value)),
      "problems": allProblems.isEmpty ? nil : .array(allProblems.map { .string($0) }),
      "lastError": lastError.map { .object(["time": .string($0.time.description), "message": .string($0.message)]) },
      "connections": .number(connections), "changes": .number(changes), "missed": .number(missed),
    ])
  }

  /// Whether the files are known not to be what is published.
  private func isBehind(_ options: FollowOptions) -> Bool {
    guard let reading else { return false }
    return options.group.places.contains { place in
      DocumentName.layers.contains { applied($0, place).revision != reading[place.key($0)]?.revision ?? 0 }
    }
  }

  /// The Prometheus text format.
  func metrics(_ options: FollowOptions) -> String {
    let label = "identifier=\"\(options.group.identifier)\""
    var text = ""
    func add(_ name: String, _ type: String, _ help: String, _ values: [(labels: String, value: Int64)]) {
      text += "# HELP kept_fleet_\(name) \(help)\n# TYPE kept_fleet_\(name) \(type)\n"
      for (labels, value) in values { text += "kept_fleet_\(name){\(label)\(labels)} \(value)\n" }
    }
    add("connected", "gauge", "Whether etcd is connected.", [("", isConnected ? 1 : 0)])
    add("behind", "gauge", "Whether a file is not what is published.", [("", isBehind(options) ? 1 : 0)])
    add("refused_documents", "gauge", "Documents that are wrong.", [("", Int64(refusals.count))])
    add("problems", "gauge", "Documents and reports that cannot be written.", [("", Int64(allProblems.count))])
    add("last_heard_timestamp_seconds", "gauge", "The last proof of life of etcd.", [("", heard?.seconds ?? 0)])
    let revisions = options.group.places.flatMap { place in
      let prefix = place.prefix.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
      return DocumentName.layers.map { layer in
        (",prefix=\"\(prefix)\",document=\"\(layer.rawValue)\"", applied(layer, place).revision)
      }
    }
    add("applied_revision", "gauge", "The revision of a document on disk.", revisions)
    add("connections_total", "counter", "Connections to etcd.", [("", Int64(connections))])
    add("changes_total", "counter", "Files that were written or removed.", [("", Int64(changes))])
    add("missed_total", "counter", "Changes that the watch did not tell of.", [("", Int64(missed))])
    return text
  }
}
