// What the machines of a fleet have reported.

package import Etcd
package import Kept

package struct FleetStatus: Sendable {
  package struct Machine: Sendable {
    package let report: Report
    /// Seconds since the report, by the two clocks.
    package let age: Int64
    /// How many publications it has not applied.
    package let behind: Int64

    /// Whether a report is overdue.
    package var isSilent: Bool { age > report.interval * 2 + 30 }
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
  package let published: [DocumentName: Stamp]

  package init(_ session: Session, _ place: Place) async throws(EtcdError) {
    let reading = try await session.read(place.documents + [.prefix(place.reports)])
    var published: [DocumentName: Stamp] = [:]
    for name in DocumentName.allCases {
      let item = reading[place.key(name)]
      published[name] = Stamp(revision: item?.revision ?? 0, version: item?.version ?? 0)
    }
    let now = Timestamp.now
    machines = reading.items.filter { $0.key.utf8.starts(with: place.reports.utf8) }.compactMap { item in
      guard let report = Report(String(decoding: item.value, as: UTF8.self)) else { return nil }
      let layers = report.sync == nil ? DocumentName.layers : []
      let behind = layers.map { name -> Int64 in
        let (applied, present) = (report.documents[name]?.revision ?? 0, published[name]?.revision ?? 0)
        guard applied != present else { return 0 }
        return max(1, (published[name]?.version ?? 0) - (report.documents[name]?.version ?? 0))
      }
      return Machine(
        report: report, age: max(0, now.seconds - report.time.seconds), behind: behind.max() ?? 0)
    }
    self.published = published
  }
}
