// A connection to one member: reads, transactions and watches.

package import struct FoundationEssentials.Data
internal import GRPCCore
internal import GRPCNIOTransportHTTP2Posix
internal import SwiftProtobuf
internal import Synchronization

/// A connection to one member.
///
/// What is known of the keys is valid for one session: the next one reads them again.
package final class Session: Sendable {
  package let endpoint: Endpoint
  let client: GRPCClient<HTTP2ClientTransport.Posix>
  let user: Login?
  let patience: Duration
  private let token = Mutex(Token.unknown)

  private enum Token {
    case unknown
    /// There is no user, or etcd asks for none.
    case none
    case text(String)
  }

  init(_ endpoint: Endpoint, _ client: GRPCClient<HTTP2ClientTransport.Posix>, _ user: Login?, _ patience: Duration) {
    (self.endpoint, self.client, self.user, self.patience) = (endpoint, client, user, patience)
  }

  /// Reads ranges at one revision, in as many pages as it takes.
  ///
  /// - Parameters:
  ///   - revision: a revision of the past that this member has, such as that of an event; nil for the present, which a
  ///     majority of the members confirms.
  ///   - oldest: the first revision of interest: keys that were changed before are left out.
  package func read(
    _ ranges: [KeyRange], at revision: Int64? = nil, changedFrom oldest: Int64 = 0, keysOnly: Bool = false
  ) async throws(EtcdError) -> Reading {
    let pages = Pages(ranges, at: revision, changedFrom: oldest, keysOnly: keysOnly)
    do throws(EtcdError) { return try await read(pages) } catch {
      // etcd sends the events of a revision before the revision can be read; the more machines watch, the longer
      // before. A read that a majority confirms waits until it can.
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
        guard error.kind == .largeAnswer else { throw error }
        if pages.askForLess() { continue }
        throw EtcdError(
          .largeAnswer,
          "etcd at \(endpoint) has a value of over \(CallOptions.largestAnswer >> 20) MiB, at \(pages.place) or behind "
            + "it; make it smaller, or delete it")
      }
    }
    return pages.reading
  }

  /// Reads what one key had at revisions of the past; throws `compacted` if one of them is gone.
  ///
  /// - Parameter revisions: at most ``mostOperations``.
  package func read(_ key: String, at revisions: [Int64]) async throws(EtcdError) -> [Item?] {
    let request = Etcdserverpb_TxnRequest.with {
      $0.success = revisions.map { revision in
        .with { $0.requestRange = .with { ($0.key, $0.revision, $0.serializable) = (Data(key.utf8), revision, true) } }
      }
    }
    return try await transaction(request).responses.map { $0.responseRange.kvs.first.flatMap(Item.init) }
  }

  /// How many keys one transaction may compare, read or change unless etcd is configured otherwise.
  package static let mostOperations = 128

  /// Changes keys together if none of those in `revisions` has changed since; returns the revision, or nil if one has.
  ///
  /// - Parameters:
  ///   - revisions: the last revision of keys; 0 for a key that must not exist.
  ///   - existing: a key that must not have been deleted since it was read.
  ///   - changes: values of keys; nil deletes.
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

  /// A call, repeated after a new login if the token has expired.
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

  /// Ends by its deadline, and not earlier if the caller is cancelled.
  ///
  /// In grpc-swift-nio-transport 2.9, a call that is cancelled just before it waits for a connection waits for ever.
  private func once<Response: Sendable>(
    _ body: @escaping @Sendable (Metadata, CallOptions) async throws -> Response
  ) async throws(EtcdError) -> Response {
    let call = Task { [metadata, options] in try await body(metadata, options) }
    do { return try await call.value } catch {
      throw EtcdError(error, of: endpoint, user: user?.user)
    }
  }

  /// What a call carries; before the first read there is no token.
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
  /// The largest answer of etcd in bytes: room for the largest value that an etcd takes, with what is around it.
  static let largestAnswer = 16 << 20

  static var etcd: CallOptions {
    var options = CallOptions.defaults
    options.maxResponseMessageBytes = largestAnswer
    // grpc-swift-nio-transport 2.9 compares answers with this one.
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
