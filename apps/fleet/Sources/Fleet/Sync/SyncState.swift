// The state of `sync`, for the report in etcd, the local status and the metrics.

internal import Etcd
package import Kept

/// A change of this machine that etcd's value, or one of etcd that this machine's value, has replaced.
package struct Conflict: Sendable, Hashable {
  package var key: String
  /// The machine whose value both sides have now.
  package var winner: String
  package var time: Timestamp
}

/// A key whose value one side cannot take from the other.
package struct KeyRefusal: Sendable, Hashable {
  package var key: String
  package var reason: String
}

/// The part of a report about a user's settings.
package struct SyncReport: Sendable, Hashable {
  /// The number of pending keys.
  ///
  /// Nil if it is not known, as when etcd has been away since the start.
  package var pending: Int?
  /// How many conflicts there were since the start of the program.
  package var conflicts = 0
  package var lastConflicts: [Conflict] = []
  package var refusals: [KeyRefusal] = []
  /// How many keys are refused: the list may have fewer.
  package var refused = 0
  /// How many secrets stay on the machine.
  package var withheld = 0

  init() {}

  /// Zeros for a value that is not a number.
  init(_ value: Value) {
    func count(_ member: ExactString) -> Int { Int(clamping: value[member]?.asInt64 ?? 0) }
    (conflicts, withheld) = (count("conflicts"), count("withheld"))
    pending = value["pending"].map { _ in count("pending") }
    lastConflicts = (value["lastConflicts"]?.asArray ?? []).compactMap { conflict in
      guard let key = conflict["key"]?.asString, let time = conflict["time"]?.asString,
        let time = try? Timestamp(text: time)
      else { return nil }
      return Conflict(key: key, winner: conflict["winner"]?.asString ?? "", time: time)
    }
    refusals = (value["refused"]?.asArray ?? []).compactMap { refusal in
      guard let key = refusal["key"]?.asString else { return nil }
      return KeyRefusal(key: key, reason: refusal["reason"]?.asString ?? "")
    }
    refused = max(count("refusedTotal"), refusals.count)
  }

  var members: [(ExactString, Value?)] {
    [
      ("pending", pending.map { .number($0) }), ("conflicts", .number(conflicts)), ("withheld", .number(withheld)),
      (
        "lastConflicts",
        lastConflicts.isEmpty
          ? nil
          : .array(
            lastConflicts.map {
              .object([
                "key": .string($0.key), "winner": .string($0.winner), "time": .string($0.time.description),
              ])
            })
      ),
      (
        "refused",
        refusals.isEmpty
          ? nil : .array(refusals.map { .object(["key": .string($0.key), "reason": .string($0.reason)]) })
      ), ("refusedTotal", refused == 0 ? nil : .number(refused)),
    ]
  }
}

struct SyncState: Sendable {
  var link = Link()
  /// The revision of etcd up to which everything is on this machine, or is refused.
  var revision: Int64?
  var refusals: [ExactString: String] = [:]
  var withheld: Set<ExactString> = []
  /// Nil until both sides have been compared.
  var pending: Int?
  var conflicts = 0
  private var lastConflicts: [Conflict] = []
  /// Problems that keep changes from the store or from etcd.
  var problem: String?
  /// The problem with the files of the store: it was salvaged, or must be opened again.
  var damage: String?
  /// The files with values that lost a conflict and that the history cannot hold.
  var conflictFiles: String?
  /// The reason why the store cannot be read.
  var storeProblem: String?
  var reportProblem: String?
  /// Which keys of etcd no store can have.
  var nameProblem: String?
  var sent = 0
  var received = 0
  var missed = 0

  /// How many conflicts and refusals are listed.
  private static let most = 20

  mutating func note(_ conflict: Conflict) {
    conflicts += 1
    lastConflicts = (lastConflicts + [conflict]).suffix(Self.most)
  }

  var report: SyncReport {
    var report = SyncReport()
    (report.pending, report.conflicts, report.withheld) = (pending, conflicts, withheld.count)
    (report.lastConflicts, report.refused) = (lastConflicts, refusals.count)
    report.refusals = refusals.sorted { $0.key < $1.key }.prefix(Self.most)
      .map { KeyRefusal(key: LongName.shown($0.key.text), reason: $0.value) }
    return report
  }

  var problems: [String] {
    [damage, conflictFiles, storeProblem, problem, nameProblem, reportProblem].compactMap(\.self)
  }

  func status(_ options: SyncOptions) -> [(ExactString, Value?)] {
    link.members + report.members + [
      ("identifier", .string(options.group.identifier)), ("prefix", .string(options.place.place.prefix)),
      ("secretsKeys", options.secretsKeys.isEmpty ? nil : .array(options.secretsKeys.ids.map { .string($0) })),
      ("store", .string(options.store)), ("revision", revision.map { .number($0) }),
      ("problems", problems.isEmpty ? nil : .array(problems.map { .string($0) })),
      ("sent", .number(sent)), ("received", .number(received)), ("missed", .number(missed)),
    ]
  }

  func metrics(_ options: SyncOptions) -> String {
    var metrics = Metrics(options.group.identifier)
    metrics.add(link)
    metrics.gauge("pending_keys", "Pending keys, which the other side has not taken yet.", pending ?? 0)
    metrics.gauge("refused_keys", "Keys whose value one side cannot take from the other.", refusals.count)
    metrics.gauge("withheld_secrets", "Secrets that stay on the machine.", withheld.count)
    metrics.gauge("problems", "Problems that keep changes from the store or from etcd.", problems.count)
    metrics.gauge("revision", "The revision of etcd that this machine has.", revision ?? 0)
    metrics.counter("conflicts_total", "Keys that both sides had changed.", conflicts)
    metrics.counter("sent_total", "Values and removals sent to etcd.", sent)
    metrics.counter("received_total", "Values and removals received from etcd.", received)
    metrics.counter("missed_total", "Changes that the watch did not report.", missed)
    return metrics.text
  }
}
