// The reports of the machines of a fleet.

package import Etcd
package import Kept

package struct FleetStatus: Sendable {
  package struct Machine: Sendable {
    package let report: Report
    /// The host, and the identity if several machines have its name.
    package let name: String
    /// Seconds since the report: by the clock of etcd, or by the two machines' clocks if etcd has none.
    ///
    /// It is negative for a report from the future.
    package let age: Int64
    /// The number of publications that it has not applied.
    package let behind: Int64

    /// Whether a report is overdue.
    ///
    /// A report from the future comes from a wrong clock, and is not a proof of life.
    package var isSilent: Bool { age.magnitude > report.interval * 2 + 30 }
    package var isFine: Bool {
      !isSilent && behind == 0 && report.refusals.isEmpty && report.problems.isEmpty
        && report.sync?.refusals.isEmpty ?? true
    }

    package var value: Value {
      var members = report.value.asDictionary ?? ValueDictionary()
      members["age"] = .number(age)
      members["behind"] = .number(behind)
      members["connected"] = .bool(!isSilent)
      return .dictionary(members)
    }
  }

  package let machines: [Machine]
  /// The keys whose values are not reports.
  package let malformed: [String]
  package let published: [DocumentName: Stamp]

  package init(_ session: Session, _ place: Place) async throws(EtcdError) {
    let documents = try await session.read(place.documents, keysOnly: true)
    var published: [DocumentName: Stamp] = [:]
    for name in DocumentName.allCases {
      let item = documents[place.key(name)]
      published[name] = Stamp(revision: item?.revision ?? 0, version: item?.version ?? 0)
    }
    let reports: [Report]
    (reports, malformed) = try await session.read([.prefix(place.reports)], at: documents.revision).reports(place)
    let time = try? await session.fleetTime()
    let hosts = Dictionary(reports.map { (ExactString($0.host), 1) }) { $0 + $1 }
    let now = Timestamp.now
    machines = reports.map { report in
      let layers = report.sync == nil ? DocumentName.layers : []
      let behind = layers.map { name -> Int64 in
        let (applied, present) = (report.documents[name]?.revision ?? 0, published[name]?.revision ?? 0)
        guard applied != present else { return 0 }
        return max(1, (published[name]?.version ?? 0).subtractingClamped(report.documents[name]?.version ?? 0))
      }
      let isOnlyOne = report.machine.isEmpty || hosts[ExactString(report.host)] == 1
      return Machine(
        report: report, name: isOnlyOne ? report.host : "\(report.host):\(report.machine)",
        age: Self.age(of: report, time, now), behind: behind.max() ?? 0)
    }
    self.published = published
  }

  private static func age(of report: Report, _ time: FleetTime?, _ now: Timestamp) -> Int64 {
    if let time, let reported = report.fleetTime { return time.seconds(since: reported) }
    return now.seconds - report.time.seconds
  }
}
