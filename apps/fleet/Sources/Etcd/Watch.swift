// Watches keys. A stream that falls silent is ended.

internal import GRPCCore
internal import SwiftProtobuf
internal import Synchronization

package enum WatchOutput: Sendable {
  /// Changes in the order of their revisions. One output may contain several transactions.
  case events([Event])
  /// The member is alive. A watch cannot resume at its revision, because etcd 3.4 sends it out of step with events.
  case alive
}

extension Session {
  /// Calls `body` with each change of the keys from a revision on, until `body` throws or the watch ends.
  ///
  /// Always throws: `compacted` if the revision is gone, so that the keys must be read again, `denied` or `unavailable`
  /// if the stream ends or falls silent.
  /// etcd's gRPC proxy does not answer progress requests. There, one read has to succeed, and from then on the caller
  /// has to detect silence by comparing.
  /// - Parameter interval: the interval at which the member has to show that it is alive.
  package func watch(
    _ ranges: [KeyRange], from revision: Int64, interval: Duration,
    _ body: @escaping @Sendable (WatchOutput) async throws -> Void
  ) async throws {
    let heard = LastSign()
    let watch = Etcdserverpb_Watch.Client(wrapping: client)
    try await withThrowingTaskGroup(of: Void.self) { [metadata, endpoint, user, patience] group in
      group.addTask {
        do {
          try await watch.watch(metadata: metadata, options: .etcd) { writer in
            for range in ranges {
              try await writer.write(
                .with {
                  $0.createRequest = .with {
                    ($0.key, $0.rangeEnd, $0.startRevision) = (range.first, range.end, revision)
                    ($0.progressNotify, $0.fragment) = (true, true)
                  }
                })
            }
            while true {
              try await Task.sleep(for: interval)
              try await writer.write(.with { $0.progressRequest = .init() })
            }
          } onResponse: { response in
            // Changes that are too large for one message arrive in fragments.
            var begun: [Int64: [Event]] = [:]
            for try await message in response.messages {
              heard.note(isAnswer: message.watchID == -1)
              try Self.check(message, at: endpoint)
              let events = message.events.compactMap(Event.init)
              begun[message.watchID, default: []] += events
              if message.fragment { continue }
              let all = begun.removeValue(forKey: message.watchID) ?? []
              try await body(all.isEmpty ? .alive : .events(all))
            }
            throw EtcdError(.unavailable, "etcd at \(endpoint) ended the watch")
          }
        } catch let error as EtcdError {
          throw error
        } catch let error as RPCError {
          throw EtcdError(error, of: endpoint, user: user?.user)
        }
      }
      group.addTask {
        while true {
          let deadline = heard.time + interval + patience
          if deadline < .now {
            guard !heard.hasAnswer else { throw EtcdError(.unavailable, "etcd at \(endpoint) has stopped responding") }
            _ = try await self.read(ranges, keysOnly: true)
            try await Task.sleep(for: .seconds(Int64.max >> 32))
          }
          try await Task.sleep(until: deadline)
        }
      }
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  private static func check(_ message: Etcdserverpb_WatchResponse, at endpoint: Endpoint) throws(EtcdError) {
    guard message.canceled else { return }
    if message.compactRevision > 0 {
      throw EtcdError(.compacted, "etcd at \(endpoint) has compacted the revision at which the watch begins")
    }
    let reason = message.cancelReason
    // etcd 3.4 reports an expired token in the same way.
    let isDenied = reason.contains("permission denied")
    throw EtcdError(isDenied ? .denied : .unavailable, "etcd at \(endpoint) cancelled the watch: \(reason)")
  }
}

/// The time of the last message from a member, and whether it has ever answered a progress request.
private final class LastSign: Sendable {
  private let last = Mutex((time: ContinuousClock.now, hasAnswer: false))
  var time: ContinuousClock.Instant { last.withLock { $0.time } }
  var hasAnswer: Bool { last.withLock { $0.hasAnswer } }
  func note(isAnswer: Bool) { last.withLock { $0 = (.now, $0.hasAnswer || isAnswer) } }
}
