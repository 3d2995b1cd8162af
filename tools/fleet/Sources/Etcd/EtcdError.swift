// Why a call failed, in sentences.

internal import GRPCCore

package struct EtcdError: Error, Sendable, CustomStringConvertible {
  package enum Kind: Sendable, Hashable {
    /// The member cannot be reached, has no leader, or did not answer in time: another may.
    case unavailable
    /// A certificate was not accepted, by this side or the other.
    case certificate
    case wrongPassword
    /// The token is no longer valid, as after a restart of etcd.
    case expiredToken
    case denied
    case noSpace
    case tooLarge
    /// The answer is larger than this side takes.
    case largeAnswer
    case compacted
    /// The member does not have the revision yet.
    case future
    /// etcd refuses the request, or a file that the connection needs is wrong.
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
      self.init(.unavailable, "etcd at \(endpoint) cannot be reached: \(error)")
      return
    }
    let said = error.message.hasPrefix("etcdserver: ") ? String(error.message.dropFirst(12)) : error.message
    func says(_ text: String) -> Bool { said.contains(text) }
    let who = user.map { "the user \"\($0)\"" } ?? "this client"
    let causes = Self.causes(of: error)
    switch error.code {
    // Its code is that of the library, and says nothing.
    case _ where causes.contains("maximum payload size"):
      self.init(.largeAnswer, "etcd at \(endpoint) has sent an answer that is too large")
    case _
    where says("invalid auth token") || says("revision of auth store is old")
      || user != nil && says("user name is empty"):
      self.init(.expiredToken, "etcd at \(endpoint) no longer accepts the token of \(who)")
    case _ where says("invalid user ID or password"):
      self.init(.wrongPassword, "etcd at \(endpoint) does not accept the name or the password of \(who); check both")
    case _ where says("user name is empty"):
      self.init(.denied, "etcd at \(endpoint) wants a user and a password; give --user and --password-file")
    case .permissionDenied:
      self.init(.denied, "etcd at \(endpoint) does not permit \(who) to do this; grant the role of the user the keys")
    case .resourceExhausted where says("space exceeded"):
      self.init(
        .noSpace, "etcd at \(endpoint) has no space left and accepts no changes; compact, defragment, disarm its alarm")
    case _ where says("request is too large") || says("too large") || says("larger than max"):
      self.init(.tooLarge, "etcd at \(endpoint) refuses the request as too large; it takes 1.5 MiB unless configured")
    case .outOfRange where says("compacted"):
      self.init(.compacted, "etcd at \(endpoint) has compacted the revision that was asked for")
    case .outOfRange where says("future revision"):
      self.init(.future, "etcd at \(endpoint) does not have the revision yet that was asked for")
    case .unavailable, .deadlineExceeded, .cancelled, .internalError, .unknown, .aborted:
      if let reason = Self.certificateReason(in: causes) {
        self.init(.certificate, "the TLS connection to etcd at \(endpoint) failed: \(reason)")
      } else if error.code == .deadlineExceeded {
        self.init(.unavailable, "etcd at \(endpoint) does not answer in time")
      } else {
        self.init(.unavailable, "etcd at \(endpoint) cannot be reached: \(causes)")
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

  /// What is wrong with a certificate, from the words of BoringSSL.
  private static func certificateReason(in text: String) -> String? {
    let upper = text.uppercased()
    for (word, reason) in [
      ("CERTIFICATE_VERIFY_FAILED", "etcd's certificate has expired, is for another host, or is of another authority"),
      ("FAILEDTOVALIDATEHOSTNAME", "etcd's certificate is for another host"),
      ("ALERT_CERTIFICATE_EXPIRED", "etcd says that the client's certificate has expired"),
      ("ALERT_BAD_CERTIFICATE", "etcd does not accept the client's certificate; it may have expired"),
      ("ALERT_CERTIFICATE_REQUIRED", "etcd wants a client certificate; give --cert and --key"),
      ("ALERT_UNKNOWN_CA", "etcd does not know the authority of the client's certificate"),
      ("WRONG_VERSION_NUMBER", "etcd does not speak TLS there; is it http://?"),
    ] where upper.contains(word) { return reason }
    return upper.contains("SSL") || upper.contains("HANDSHAKE") ? text : nil
  }
}
