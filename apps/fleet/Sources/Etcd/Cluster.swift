// The members of an etcd cluster, and sessions with them.

internal import GRPCCore
internal import GRPCNIOTransportHTTP2Posix

package struct Cluster: Sendable {
  package let endpoints: [Endpoint]
  package let tls: TLSFiles
  package let login: Login?
  /// The time limit of one call.
  package let patience: Duration

  package init(_ endpoints: [Endpoint], tls: TLSFiles, login: Login?, patience: Duration) {
    (self.endpoints, self.tls, self.login, self.patience) = (endpoints, tls, login, patience)
  }

  /// Connects to one member while `body` runs.
  package func withSession<Result: Sendable>(
    _ endpoint: Endpoint, _ body: @Sendable (Session) async throws -> Result
  ) async throws -> Result {
    let (clients, begun) = AsyncStream.makeStream(of: GRPCClient<HTTP2ClientTransport.Posix>.self)
    let session = try Session(endpoint, login, patience) {
      let client = GRPCClient(transport: try transport(endpoint))
      begun.yield(client)
      return client
    }
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        await withDiscardingTaskGroup { group in
          for await client in clients { group.addTask { try? await client.runConnections() } }
        }
      }
      // A graceful shutdown would wait for a member that does not answer.
      defer { group.cancelAll() }
      return try await body(session)
    }
  }

  /// Connects to the first member for which `prepare` succeeds, and calls `body` with its result.
  ///
  /// `prepare` may run more than once, so it must not change anything.
  package func withAnySession<Prepared: Sendable, Result: Sendable>(
    _ prepare: @escaping @Sendable (Session) async throws -> Prepared,
    _ body: @escaping @Sendable (Session, Prepared) async throws -> Result
  ) async throws -> Result {
    var last = EtcdError(.invalid, "no etcd member was given")
    for endpoint in endpoints {
      let isPrepared = Latch()
      do {
        return try await withSession(endpoint) { session in
          let prepared = try await prepare(session)
          isPrepared.raise()
          return try await body(session, prepared)
        }
      } catch let error as EtcdError where error.isOfOneMember && !isPrepared.isRaised {
        last = error
      }
    }
    throw last
  }

  private func transport(_ endpoint: Endpoint) throws -> HTTP2ClientTransport.Posix {
    let target: any ResolvableTarget =
      if endpoint.isIPv4 {
        .ipv4(address: endpoint.host, port: endpoint.port)
      } else if endpoint.isIPv6 {
        .ipv6(address: endpoint.host, port: endpoint.port)
      } else {
        .dns(host: endpoint.host, port: endpoint.port)
      }
    return try HTTP2ClientTransport.Posix(
      target: target,
      transportSecurity: endpoint.isSecure ? try tls.security() : .plaintext,
      config: .defaults { config in
        // etcd closes the connection of a client that pings more often than every five seconds.
        config.connection.keepalive = .init(time: .seconds(10), timeout: patience, allowWithoutCalls: false)
        config.connection.maxIdleTime = nil
        if endpoint.isSecure, !endpoint.isIPv4, !endpoint.isIPv6 {
          config.channelDebuggingCallbacks.onCreateTCPConnection = { HostNameCheck.add(for: endpoint.host, to: $0) }
        }
      })
  }
}
