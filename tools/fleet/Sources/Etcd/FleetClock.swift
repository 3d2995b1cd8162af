// A clock that all clients of an etcd share, whatever their own clocks say.

internal import SwiftProtobuf

/// How long a lease has lived, by the clock of the member that leads.
///
/// The lease begins anew when another member leads, which its term tells.
package struct FleetTime: Sendable, Hashable {
  package var term: Int64
  package var seconds: Int64

  package init(term: Int64, seconds: Int64) { (self.term, self.seconds) = (term, seconds) }

  /// How many seconds have passed since an earlier time: at least, if the lease has begun anew since.
  ///
  /// It is negative for a time of the future, which another program has written.
  package func seconds(since earlier: FleetTime) -> Int64 {
    term == earlier.term ? seconds.subtractingClamped(earlier.seconds) : max(0, seconds)
  }
}

extension Session {
  /// No other program makes a lease with this number, which is "kept-flt" in ASCII.
  private static let lease: Int64 = 0x6B65_7074_2D66_6C74
  /// 31 years, in seconds.
  private static let lifetime: Int64 = 1_000_000_000

  /// The time of the fleet; nil if no machine has begun it.
  package func fleetTime() async throws(EtcdError) -> FleetTime? {
    let leases = Etcdserverpb_Lease.Client(wrapping: client)
    let answer = try await call {
      try await leases.leaseTimeToLive(.with { $0.id = Self.lease }, metadata: $0, options: $1)
    }
    guard answer.ttl >= 0 else { return nil }
    let seconds = max(0, answer.grantedTtl.subtractingClamped(answer.ttl))
    return FleetTime(term: Int64(clamping: answer.header.raftTerm), seconds: seconds)
  }

  /// The time of the fleet, which begins now if no machine has begun it.
  package func beginFleetTime() async throws(EtcdError) -> FleetTime? {
    if let time = try await fleetTime() { return time }
    let leases = Etcdserverpb_Lease.Client(wrapping: client)
    do throws(EtcdError) {
      _ = try await call {
        try await leases.leaseGrant(.with { ($0.id, $0.ttl) = (Self.lease, Self.lifetime) }, metadata: $0, options: $1)
      }
    } catch {
      // Another machine may have begun it at the same time.
      guard let time = try await fleetTime() else { throw error }
      return time
    }
    return try await fleetTime()
  }
}
