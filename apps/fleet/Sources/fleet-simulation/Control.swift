// What the commands do.

import Etcd
import Fleet

import struct FoundationEssentials.Data

struct Control: Sendable {
  let cluster: Cluster
  let options: FleetOptions
  let population: Population
  let machines: Int

  /// The times of all machines, or of as many as there are after some seconds.
  func until(_ patience: Double, _ times: () -> [Instant]) async -> [Instant] {
    let end = ContinuousClock.now + .seconds(patience)
    while times().count < machines, .now < end { try? await Task.sleep(for: .milliseconds(20)) }
    return times()
  }

  func untilAway(_ patience: Double) async {
    let end = ContinuousClock.now + .seconds(patience)
    while !population.readTimes.isEmpty, .now < end { try? await Task.sleep(for: .milliseconds(20)) }
  }

  func write(_ count: Int) async throws -> [Duration] {
    let key = "\(options.place.prefix)/\(options.place.identifier)/unwatched"
    return try await cluster.withAnySession({ _ in }) { session, _ in
      var times: [Duration] = []
      for number in 0..<count {
        let start = ContinuousClock.now
        _ = try await session.change([(key, Data("\(number)".utf8))])
        times.append(.now - start)
      }
      return times
    }
  }

  func publish(_ bytes: Int, _ patience: Double, _ answer: inout Answer) async throws {
    let text = Data(
      "{\"values\":{\"a\":\"\(String(repeating: "x", count: max(0, bytes - 20)))\"}}".utf8)
    let key = options.place.key(.managed)
    _ = population.takeReportTimes()
    let before = population.counts.reports
    // A read first, so that the connection exists.
    let (start, end, revision) = try await cluster.withAnySession({ try await $0.read([.key("x")]) }) { session, _ in
      let start = ContinuousClock.now
      let revision = try await session.change([(key, text)]) ?? 0
      return (start, ContinuousClock.now, revision)
    }
    answer["put"] = (end - start).milliseconds
    let times = await until(patience) { population.arrivals(of: revision) }
    answer.add("arrival", times.map { $0 - start })
    answer["arrived"] = Double(times.count)
    let deadline = ContinuousClock.now + .seconds(patience)
    while population.counts.reports - before < machines, .now < deadline {
      try? await Task.sleep(for: .milliseconds(20))
    }
    answer["reported"] = (population.lastReport - start).milliseconds
    answer.add("report", population.takeReportTimes())
  }

  func add(_ answer: inout Answer) {
    let counts = population.counts
    answer["watching"] = Double(population.watchTimes.count)
    answer["reports"] = Double(counts.reports)
    answer["comparisons"] = Double(counts.comparisons)
    answer["differences"] = Double(counts.differences)
    answer["proofs"] = Double(counts.proofs)
    answer["failures"] = Double(counts.failures)
  }
}
