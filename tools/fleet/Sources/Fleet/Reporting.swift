// When a machine's reports go to etcd: soon after they have changed, and every few minutes.

internal import Etcd
internal import FoundationEssentials
internal import Kept

/// The reports of one session.
struct Reporting: Sendable {
  private let changed: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation
  private let options: MachineOptions
  private var sent: [String: (content: Value, time: ContinuousClock.Instant)] = [:]

  init(_ options: MachineOptions) {
    self.options = options
    (changed, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// Says that a report may have changed.
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
        // Not all machines of a fleet at once.
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

  mutating func noteSent(_ reports: [String: Report]) {
    for (key, report) in reports { sent[key] = (report.content, .now) }
  }
}

extension Session {
  /// Puts reports into etcd; returns why it does not take them.
  ///
  /// Throws if another member may take them.
  func put(_ reports: [String: Report]) async throws -> String? {
    guard !reports.isEmpty else { return nil }
    do {
      _ = try await change(reports.map { ($0.key, Data($0.value.value.json.utf8)) })
      return nil
    } catch {
      guard !error.isOfOneMember else { throw error }
      return "the report is not in etcd: \(error)"
    }
  }
}
