// The connection to etcd: to one member after the other, until the task is cancelled.

package import Etcd
internal import Glibc
internal import Kept

/// The state of the connection.
struct Link: Sendable {
  private(set) var endpoint: Endpoint?
  private(set) var isConnected = false
  private(set) var since: Timestamp?
  /// The last proof of life of etcd.
  var heard: Timestamp?
  private(set) var lastError: (time: Timestamp, message: String)?
  private(set) var connections = 0

  mutating func connect(to endpoint: Endpoint) {
    (isConnected, self.endpoint, since) = (true, endpoint, .now)
    connections += 1
  }

  /// Returns whether the error is another one than before.
  mutating func lose(_ error: (any Error)?) -> Bool {
    isConnected = false
    guard let error else { return false }
    let isNew = lastError?.message != "\(error)"
    lastError = (.now, "\(error)")
    return isNew
  }

  /// The members of a local status about the connection.
  var members: [(ExactString, Value?)] {
    [
      ("connected", .bool(isConnected)), ("etcd", endpoint.map { .string($0.description) }),
      ("since", since.map { .string($0.description) }), ("heard", heard.map { .string($0.description) }),
      ("lastError", lastError.map { .object(["time": .string($0.time.description), "message": .string($0.message)]) }),
      ("connections", .number(connections)),
    ]
  }
}

extension Cluster {
  /// Calls `body` with a session with one member after the other, until the task is cancelled.
  ///
  /// - Parameters:
  ///   - body: raises the flag when the session works.
  ///   - failed: called with the reason why a session ended, and whether no member has worked since one did.
  package func keepConnected(
    _ body: @escaping @Sendable (Session, Latch) async throws -> Void,
    failed: @Sendable (Endpoint, any Error, _ isAway: Bool) async -> Void
  ) async {
    let endpoints = endpoints.shuffled()
    var failures = 0
    for turn in 0... {
      let endpoint = endpoints[turn % endpoints.count]
      let works = Latch()
      do { try await withSession(endpoint) { try await body($0, works) } } catch {
        if Task.isCancelled { return }
        failures = works.isRaised ? 0 : failures + 1
        await failed(endpoint, error, failures >= endpoints.count)
      }
      do { try await Task.sleep(for: Self.pause(failures / endpoints.count)) } catch { return }
    }
  }

  /// A random time, so that the machines of a fleet do not all return at once.
  private static func pause(_ rounds: Int) -> Duration {
    .seconds(Double.random(in: 0...1) * min(30, pow(2, Double(min(rounds, 10)))))
  }
}
