// Errors of calls, as sentences.

internal import GRPCCore

package struct EtcdError: Error, Sendable, CustomStringConvertible {
  package enum Kind: Sendable, Hashable {
    /// The member cannot be reached, has no leader, or did not answer in time. Another member may answer.
    case unavailable
    /// This side or the other did not accept a certificate.
    case certificate
    case wrongPassword
    /// The token has expired, for example after a restart of etcd.
    case expiredToken
    case denied
    case noSpace
    case tooLarge
    /// The answer is larger than this client accepts.
    case largeAnswer
    case compacted
    /// The member does not have the revision yet.
    case future
    /// etcd refused the request, or a file that the connection needs is invalid.
    case invalid
  }

  package let kind: Kind
  package let message: String

  package init(_ kind: Kind, _ message: String) { (self.kind, self.message) = (kind, message) }

  package var description: String { message }

  /// Whether another member may answer.
  package var isOfOneMember: Bool { kind == .unavailable || kind == .certificate }
}

extension EtcdError {
  /// The error of a call to a member.
  init(_ error: any Error, of endpoint: Endpoint, user: String?) {
    if let error = error as? EtcdError {
      self = error
      return
    }
    guard let error = error as? RPCError else {
      self.init(.unavailable, "etcd at \(endpoint) is unavailable: \(error)")
      return
    }
    let said = error.message.hasPrefix("etcdserver: ") ? String(error.message.dropFirst(12)) : error.message
    func says(_ text: String) -> Bool { said.contains(text) }
    let who = user.map { "the user \"\($0)\"" } ?? "this client"
    let causes = Self.causes(of: error)
    switch error.code {
    // The library chose this status code, which says nothing about the cause. A watch has the second text.
    case _ where causes.contains("maximum payload size") || causes.contains("Failed to decode message"):
      self.init(
        .largeAnswer, "etcd at \(endpoint) sent a response larger than \(CallOptions.largestAnswer >> 20) MiB")
    case _
    where says("invalid auth token") || says("revision of auth store is old")
      || user != nil && says("user name is empty"):
      self.init(.expiredToken, "etcd at \(endpoint) no longer accepts the token of \(who)")
    case _ where says("invalid user ID or password"):
      self.init(.wrongPassword, "etcd at \(endpoint) does not accept the name or the password of \(who); check both")
    case _ where says("user name is empty"):
      self.init(.denied, "etcd at \(endpoint) requires a user and a password; use --user and --password-file")
    case .permissionDenied:
      self.init(
        .denied,
        "etcd at \(endpoint) does not permit \(who) to access these keys; grant the user's role access to them")
    case .resourceExhausted where says("space exceeded"):
      self.init(
        .noSpace,
        "etcd at \(endpoint) has no space left and accepts no changes; compact and defragment it, and disarm "
          + "its alarm")
    case _ where says("request is too large") || says("too large") || says("larger than max"):
      self.init(.tooLarge, "etcd at \(endpoint) refuses the request as too large; the default limit is 1.5 MiB")
    case .outOfRange where says("compacted"):
      self.init(.compacted, "etcd at \(endpoint) has compacted the requested revision")
    case .outOfRange where says("future revision"):
      self.init(.future, "etcd at \(endpoint) does not have the requested revision yet")
    case .unavailable, .deadlineExceeded, .cancelled, .internalError, .unknown, .aborted:
      if let reason = Self.certificateReason(in: causes) {
        self.init(.certificate, "the TLS connection to etcd at \(endpoint) failed: \(reason)")
      } else if error.code == .deadlineExceeded {
        self.init(.unavailable, "etcd at \(endpoint) did not answer in time")
      } else {
        self.init(.unavailable, "etcd at \(endpoint) is unavailable: \(causes)")
      }
    default: self.init(.invalid, "etcd at \(endpoint) refuses the request: \(said)")
    }
  }

  /// The messages of an error and its causes.
  private static func causes(of error: RPCError) -> String {
    var texts = [error.message]
    var next = error.cause
    while let cause = next {
      let cause = cause as? RPCError
      texts.append(cause?.message ?? next.map { "\($0)" } ?? "")
      next = cause?.cause
    }
    return texts.joined(separator: ": ")
  }

  /// The problem with a certificate, from BoringSSL's message.
  private static func certificateReason(in text: String) -> String? {
    let upper = text.uppercased()
    for (word, reason) in [
      ("CERTIFICATE_VERIFY_FAILED", "etcd's certificate has expired, is for another host, or has an untrusted issuer"),
      ("FAILEDTOVALIDATEHOSTNAME", "etcd's certificate is for another host"),
      ("ALERT_CERTIFICATE_EXPIRED", "etcd reports that the client's certificate has expired"),
      ("ALERT_BAD_CERTIFICATE", "etcd does not accept the client's certificate; it may have expired"),
      ("ALERT_CERTIFICATE_REQUIRED", "etcd requires a client certificate; use --cert and --key"),
      ("ALERT_UNKNOWN_CA", "etcd does not trust the authority of the client's certificate"),
      ("WRONG_VERSION_NUMBER", "etcd does not use TLS at this URL; correct the port, or use http://"),
    ] where upper.contains(word) { return reason }
    return upper.contains("SSL") || upper.contains("HANDSHAKE") ? text : nil
  }
}
