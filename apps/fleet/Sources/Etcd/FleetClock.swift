// A clock that all clients of an etcd cluster share, independent of their own clocks.

internal import SwiftProtobuf

/// The age of a lease by the leader's clock.
///
/// The lease starts again when another member becomes the leader, which shows in the term.
package struct FleetTime: Sendable, Hashable {
  package var term: Int64
  package var seconds: Int64

  package init(term: Int64, seconds: Int64) { (self.term, self.seconds) = (term, seconds) }

  /// The number of seconds since an earlier time, or a lower bound if the lease has started again since then.
  ///
  /// It is negative for a time in the future, which another program may have written.
  package func seconds(since earlier: FleetTime) -> Int64 {
    term == earlier.term ? seconds.subtractingClamped(earlier.seconds) : max(0, seconds)
  }
}

extension Session {
  /// A lease number that no other program uses: "kept-flt" in ASCII.
  private static let lease: Int64 = 0x6B65_7074_2D66_6C74
  /// 31 years, in seconds.
  private static let lifetime: Int64 = 1_000_000_000

  /// Returns the fleet time; nil if no machine has started it.
  package func fleetTime() async throws(EtcdError) -> FleetTime? {
    let leases = Etcdserverpb_Lease.Client(wrapping: client)
    let answer = try await call {
      try await leases.leaseTimeToLive(.with { $0.id = Self.lease }, metadata: $0, options: $1)
    }
    guard answer.ttl >= 0 else { return nil }
    let seconds = max(0, answer.grantedTtl.subtractingClamped(answer.ttl))
    return FleetTime(term: Int64(clamping: answer.header.raftTerm), seconds: seconds)
  }

  /// Returns the fleet time, and starts it if no machine has.
  package func beginFleetTime() async throws(EtcdError) -> FleetTime? {
    if let time = try await fleetTime() { return time }
    let leases = Etcdserverpb_Lease.Client(wrapping: client)
    do throws(EtcdError) {
      _ = try await call {
        try await leases.leaseGrant(.with { ($0.id, $0.ttl) = (Self.lease, Self.lifetime) }, metadata: $0, options: $1)
      }
    } catch {
      // Another machine may have started it at the same time.
      guard let time = try await fleetTime() else { throw error }
      return time
    }
    return try await fleetTime()
  }
}
