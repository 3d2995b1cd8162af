// What has happened to the machines, and when.

import Etcd
import Synchronization

typealias Instant = ContinuousClock.Instant

final class Population: Sendable {
  struct Counts: Sendable {
    var reports = 0
    var comparisons = 0
    /// Comparisons that found what no event had told of, among them some that ran while a change arrived.
    var differences = 0
    var proofs = 0
    var failures = 0
  }

  private struct State: Sendable {
    var counts = Counts()
    var read: [Int: Instant] = [:]
    var watching: [Int: Instant] = [:]
    /// When machines had a revision of the document.
    var arrivals: [Int64: [Instant]] = [:]
    var lastReport = Instant.now
    var reportTimes: [Duration] = []
    var lastError: String?
  }

  private let state = Mutex(State())

  var counts: Counts { state.withLock { $0.counts } }
  /// When each machine that is connected had read the documents.
  var readTimes: [Instant] { state.withLock { Array($0.read.values) } }
  /// When etcd had confirmed the watches of each machine that is connected.
  var watchTimes: [Instant] { state.withLock { Array($0.watching.values) } }
  var lastReport: Instant { state.withLock { $0.lastReport } }
  func arrivals(of revision: Int64) -> [Instant] { state.withLock { $0.arrivals[revision] ?? [] } }

  /// The last error since the last call.
  func takeError() -> String? {
    state.withLock { state in
      defer { state.lastError = nil }
      return state.lastError
    }
  }

  /// How long the reports took that were sent since the last call.
  func takeReportTimes() -> [Duration] {
    state.withLock { state in
      defer { state.reportTimes = [] }
      return state.reportTimes
    }
  }

  func hasRead(_ machine: Int) { state.withLock { $0.read[machine] = .now } }
  func watches(_ machine: Int) { state.withLock { $0.watching[machine] = .now } }
  func hasProof() { state.withLock { $0.counts.proofs += 1 } }
  func hasDocument(_ revision: Int64) { state.withLock { $0.arrivals[revision, default: []].append(.now) } }

  func hasCompared(_ differs: Bool) {
    state.withLock {
      $0.counts.comparisons += 1
      if differs { $0.counts.differences += 1 }
    }
  }

  func hasReported(_ time: Duration) {
    state.withLock {
      $0.counts.reports += 1
      $0.lastReport = .now
      $0.reportTimes.append(time)
    }
  }

  func lost(_ machines: [Machine], _ error: any Error) {
    state.withLock { state in
      state.counts.failures += 1
      state.lastError = "\(error)"
      for machine in machines {
        state.read[machine.number] = nil
        state.watching[machine.number] = nil
      }
    }
  }
}
