// Sends a machine's reports to etcd: soon after they have changed, and every few minutes.

internal import Etcd
internal import FoundationEssentials
internal import Kept

/// The reports of one process.
struct Reporting: Sendable {
  private var changed: AsyncStream<Void>
  private var continuation: AsyncStream<Void>.Continuation
  private let options: MachineOptions
  private var sent: [String: (content: Value, time: ContinuousClock.Instant)] = [:]
  /// The revisions of the reports that this process has put.
  private(set) var revisions: [String: Int64] = [:]

  init(_ options: MachineOptions) {
    self.options = options
    (changed, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// Starts again with another session: etcd may be another one.
  mutating func begin() {
    sent = [:]
    (changed, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// Notes that a report may have changed.
  func note() { continuation.yield() }

  /// Calls `send` whenever a report may be due, until that throws.
  func run(_ send: @Sendable () async throws -> Void) async throws {
    let (interval, continuation) = (options.reportInterval, continuation)
    continuation.yield()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        while true {
          try await Task.sleep(for: interval * Double.random(in: 0.8...1))
          continuation.yield()
        }
      }
      defer { group.cancelAll() }
      for await _ in changed {
        // The machines of a fleet must not report all at once.
        try await Task.sleep(for: options.spread * Double.random(in: 0...1))
        try await send()
      }
    }
  }

  /// The reports that etcd does not have, or has had for long.
  func due(_ reports: [String: Report]) -> [String: Report] {
    reports.filter { key, report in
      guard let (content, time) = sent[key] else { return true }
      return content != report.content || .now - time >= options.reportInterval * 0.75
    }
  }

  mutating func noteSent(_ reports: [String: Report], at revision: Int64) {
    for (key, report) in reports {
      sent[key] = (report.content, .now)
      revisions[key] = revision
    }
  }
}

/// The result of sending reports.
enum ReportOutcome: Sendable {
  case put(at: Int64)
  /// The reason why etcd does not take them.
  case refused(String)
  /// Another machine reports with the identity of this one.
  case isTaken
}

extension Session {
  /// Puts reports into etcd in place of those that this process has put; the first replaces any.
  ///
  /// Throws if another member may take them.
  func put(_ reports: [String: Report], after revisions: [String: Int64]) async throws(EtcdError) -> ReportOutcome {
    do throws(EtcdError) {
      var reports = reports
      if let time = try await reportTime() { for key in reports.keys { reports[key]?.fleetTime = time } }
      let known = reports.keys.filter { revisions[$0] != nil }
      var present = revisions
      // Twice: the report in etcd may be one of this process whose answer was lost.
      for isAgain in [false, true] {
        if isAgain || known.count < reports.count {
          let found = try await read(reports.keys.map { .key($0) })
          for key in reports.keys {
            let item = found[key]
            if known.contains(key), let item, item.revision != revisions[key],
              Report(String(decoding: item.value, as: UTF8.self))?.process != reports[key]?.process
            {
              return .isTaken
            }
            present[key] = item?.revision ?? 0
          }
        }
        let values = reports.map { (key: $0.key, value: Data($0.value.value.json.utf8)) }
        if let revision = try await change(
          values, ifUnchanged: reports.keys.map { (key: $0, revision: present[$0] ?? 0) })
        {
          return .put(at: revision)
        }
      }
      return .refused(
        "the report could not be sent: another program keeps changing "
          + "\(reports.keys.sorted().joined(separator: ", ")); find it and stop it")
    } catch {
      guard !error.isOfOneMember else { throw error }
      return .refused("the report could not be sent to \(reports.keys.sorted().joined(separator: ", ")): \(error)")
    }
  }

  /// Nil from an etcd that has no leases for this client.
  private func reportTime() async throws(EtcdError) -> FleetTime? {
    do throws(EtcdError) { return try await beginFleetTime() } catch {
      guard !error.isOfOneMember else { throw error }
      return nil
    }
  }
}
