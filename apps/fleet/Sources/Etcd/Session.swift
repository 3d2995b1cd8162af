// Reads, transactions and watches on a connection to one member.

package import struct FoundationEssentials.Data
internal import GRPCCore
internal import GRPCNIOTransportHTTP2Posix
internal import SwiftProtobuf
internal import Synchronization

/// A connection to one member.
///
/// Knowledge about keys is only valid for one session. The next session reads them again.
package final class Session: Sendable {
  package let endpoint: Endpoint
  let user: Login?
  let patience: Duration
  private let connect: @Sendable () throws -> GRPCClient<HTTP2ClientTransport.Posix>
  private let clients: Mutex<Clients>
  private let token = Mutex(Token.unknown)

  private struct Clients {
    var present: GRPCClient<HTTP2ClientTransport.Posix>
    /// The previous client, which may still be about to make a call.
    var last: GRPCClient<HTTP2ClientTransport.Posix>?
    var calls = 0
  }

  private enum Token {
    case unknown
    /// No user was given, or etcd does not require one.
    case none
    case text(String)
  }

  /// - Parameter connect: creates a client for the member and runs it.
  init(
    _ endpoint: Endpoint, _ user: Login?, _ patience: Duration,
    _ connect: @escaping @Sendable () throws -> GRPCClient<HTTP2ClientTransport.Posix>
  ) throws {
    (self.endpoint, self.user, self.patience, self.connect) = (endpoint, user, patience, connect)
    clients = Mutex(Clients(present: try connect()))
  }

  /// A client for one call or watch.
  ///
  /// etcd sends a ping with most answers, and swift-nio-http2 1.46 closes a connection after 200 pings within 30
  /// seconds. So a connection is replaced after fewer calls. Calls and watches that run on the old one continue.
  var client: GRPCClient<HTTP2ClientTransport.Posix> {
    clients.withLock { clients in
      clients.calls += 1
      if clients.calls > 100, let next = try? connect() {
        clients.last?.beginGracefulShutdown()
        clients = Clients(present: next, last: clients.present)
      }
      return clients.present
    }
  }

  /// Reads ranges at one revision, in as many pages as necessary, without values that are too large for an answer.
  ///
  /// - Parameters:
  ///   - revision: an earlier revision that this member has, such as the revision of an event; nil for the current
  ///     revision, which a majority of the members confirms.
  ///   - oldest: the first revision of interest. Keys that were last changed before it are left out.
  package func read(
    _ ranges: [KeyRange], at revision: Int64? = nil, changedFrom oldest: Int64 = 0, keysOnly: Bool = false
  ) async throws(EtcdError) -> Reading {
    let pages = Pages(ranges, at: revision, changedFrom: oldest, keysOnly: keysOnly)
    do throws(EtcdError) { return try await read(pages) } catch {
      // etcd sends the events of a revision before the revision can be read. The delay grows with the number of
      // watchers. A read that a majority confirms waits until the revision can be read.
      guard error.kind == .future, revision != nil else { throw error }
      var pages = pages
      pages.isConfirmed = true
      return try await read(pages)
    }
  }

  private func read(_ pages: Pages) async throws(EtcdError) -> Reading {
    var pages = pages
    while let request = pages.next {
      do throws(EtcdError) { pages.take(try await transaction(request)) } catch {
        guard error.kind == .largeAnswer, pages.askForLess() else { throw error }
      }
    }
    return pages.reading
  }

  /// Reads the state of keys at earlier revisions.
  package func past(
    _ points: [(key: String, revision: Int64)], keysOnly: Bool = false
  ) async throws(EtcdError) -> [Past] {
    var found = [Past](repeating: .compacted, count: points.count)
    // If a revision is compacted, all older ones are, too.
    var rest = points.indices.sorted { points[$0].revision > points[$1].revision }[...]
    var width = Self.mostOperations
    while !rest.isEmpty, width > 0 {
      let part = rest.prefix(width)
      let request = Etcdserverpb_TxnRequest.with {
        $0.success = part.map { index in
          .with {
            $0.requestRange = .with {
              ($0.key, $0.revision) = (Data(points[index].key.utf8), points[index].revision)
              ($0.serializable, $0.keysOnly) = (true, keysOnly)
            }
          }
        }
      }
      do throws(EtcdError) {
        for (index, answer) in zip(part, try await transaction(request).responses) {
          found[index] = answer.responseRange.kvs.first.flatMap { Item($0) }.map { .item($0) } ?? .absent
        }
        rest = rest.dropFirst(part.count)
      } catch {
        guard error.kind == .compacted else { throw error }
        width /= 2
      }
    }
    return found
  }

  /// The largest answer of etcd that this client accepts, in bytes.
  package static let largestAnswer = CallOptions.largestAnswer

  /// The number of keys that one transaction may compare, read or change unless etcd is configured otherwise.
  package static let mostOperations = 128

  /// Changes keys together if no key in `revisions` has changed since; returns the revision, or nil if one has.
  ///
  /// - Parameters:
  ///   - revisions: the last known revisions of keys; 0 for a key that must not exist.
  ///   - existing: a key that must not have been deleted since it was read.
  ///   - changes: the new values of keys; nil deletes a key.
  package func change(
    _ changes: [(key: String, value: Data?)], ifUnchanged revisions: [(key: String, revision: Int64)] = [],
    ifExists existing: Item? = nil
  ) async throws(EtcdError) -> Int64? {
    let request = Etcdserverpb_TxnRequest.with {
      $0.compare = revisions.map { key, revision in
        .with {
          ($0.key, $0.target, $0.result, $0.modRevision) = (Data(key.utf8), .mod, .equal, revision)
        }
      }
      if let existing {
        $0.compare.append(
          .with {
            ($0.key, $0.target, $0.result) = (Data(existing.key.utf8), .create, .equal)
            $0.createRevision = existing.created
          })
      }
      $0.success = changes.map { key, value in
        .with {
          if let value {
            $0.requestPut = .with { ($0.key, $0.value) = (Data(key.utf8), value) }
          } else {
            $0.requestDeleteRange = .with { $0.key = Data(key.utf8) }
          }
        }
      }
    }
    let response = try await transaction(request)
    return response.succeeded ? response.header.revision : nil
  }

  private func transaction(_ request: Etcdserverpb_TxnRequest) async throws(EtcdError) -> Etcdserverpb_TxnResponse {
    let kv = Etcdserverpb_KV.Client(wrapping: client)
    return try await call { try await kv.txn(request, metadata: $0, options: $1) }
  }

  private func login() async throws(EtcdError) {
    guard let user else { return token.withLock { $0 = .none } }
    let auth = Etcdserverpb_Auth.Client(wrapping: client)
    let password = try user.password()
    do {
      let response = try await auth.authenticate(
        .with { ($0.name, $0.password) = (user.user, password) }, options: options)
      token.withLock { $0 = .text(response.token) }
    } catch let error as RPCError where error.message.contains("authentication is not enabled") {
      token.withLock { $0 = .none }
    } catch {
      throw EtcdError(error, of: endpoint, user: user.user)
    }
  }

  /// Makes a call, and repeats it after a new login if the token has expired.
  func call<Response: Sendable>(
    _ body: @escaping @Sendable (Metadata, CallOptions) async throws -> Response
  ) async throws(EtcdError) -> Response {
    if case .unknown = token.withLock({ $0 }) { try await login() }
    do throws(EtcdError) { return try await once(body) } catch {
      guard error.kind == .expiredToken, user != nil else { throw error }
      try await login()
      return try await once(body)
    }
  }

  /// Makes a call, which ends by its deadline and is not cancelled with the caller.
  ///
  /// In grpc-swift-nio-transport 2.9, a call that is cancelled just before it waits for a connection waits forever.
  private func once<Response: Sendable>(
    _ body: @escaping @Sendable (Metadata, CallOptions) async throws -> Response
  ) async throws(EtcdError) -> Response {
    let call = Task { [metadata, options] in try await body(metadata, options) }
    do { return try await call.value } catch {
      throw EtcdError(error, of: endpoint, user: user?.user)
    }
  }

  /// The metadata of a call, which has no token before the first login.
  var metadata: Metadata {
    if case .text(let text) = token.withLock({ $0 }) { ["token": "\(text)"] } else { [:] }
  }

  private var options: CallOptions {
    var options = CallOptions.etcd
    options.timeout = patience
    return options
  }
}

extension CallOptions {
  /// The maximum size of an answer in bytes, with room for the largest value that etcd may store and its envelope.
  static let largestAnswer = 16 << 20

  static var etcd: CallOptions {
    var options = CallOptions.defaults
    options.maxResponseMessageBytes = largestAnswer
    // grpc-swift-nio-transport 2.9 applies this limit to answers.
    options.maxRequestMessageBytes = largestAnswer
    return options
  }
}

/// A fact that becomes true once.
package final class Latch: Sendable {
  private let value = Atomic(false)
  package init() {}
  package var isRaised: Bool { value.load(ordering: .relaxed) }
  package func raise() { value.store(true, ordering: .relaxed) }
}
