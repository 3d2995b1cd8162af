// Checks that etcd's certificate is for the requested host name.

internal import NIOCore
internal import NIOSSL
internal import NIOTLS
internal import SwiftASN1
internal import X509

/// Closes a connection to a named host unless the certificate has that name.
///
/// NIOSSL also accepts a certificate for the address that the name resolves to. That would let DNS decide which host is
/// trusted.
final class HostNameCheck: ChannelInboundHandler {
  typealias InboundIn = NIOAny
  private let host: String

  private init(_ host: String) { self.host = host }

  /// Adds the check behind the TLS handler, so that nothing is sent to another host.
  static func add(for host: String, to channel: any Channel) -> EventLoopFuture<Void> {
    channel.eventLoop.submit {
      let tls = try channel.pipeline.syncOperations.handler(type: NIOSSLClientHandler.self)
      try channel.pipeline.syncOperations.addHandler(HostNameCheck(host), position: .after(tls))
    }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) { context.fireChannelRead(data) }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case TLSUserEvent.handshakeCompleted = event {
      do {
        guard let leaf = try context.pipeline.syncOperations.handler(type: NIOSSLClientHandler.self).peerCertificate,
          try Self.isFor(host, Certificate(derEncoded: leaf.toDERBytes()))
        else { throw OtherName(host: host) }
      } catch {
        context.fireErrorCaught(error)
        return context.close(promise: nil)
      }
    }
    context.fireUserInboundEventTriggered(event)
  }

  private static func isFor(_ host: String, _ certificate: Certificate) throws -> Bool {
    guard let names = try certificate.extensions.subjectAlternativeNames else {
      // NIOSSL has already compared the common name, as was usual before subject alternative names.
      return true
    }
    return names.contains { name in
      if case .dnsName(let pattern) = name { matches(host, pattern) } else { false }
    }
  }

  /// Compares without regard to case, and matches a first label `*` with any one label.
  static func matches(_ host: String, _ pattern: String) -> Bool {
    // A dot at the end marks a fully qualified name.
    func labels(_ name: String) -> [[UInt8]] {
      let bytes = Array(name.utf8).map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
      let labels = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map(Array.init)
      return labels.last?.isEmpty == true ? labels.dropLast() : labels
    }
    let (host, pattern) = (labels(host), labels(pattern))
    guard host.count == pattern.count, let first = pattern.first else { return false }
    if first == Array("*".utf8), host.count > 1 { return host.dropFirst() == pattern.dropFirst() }
    return host == pattern
  }

  private struct OtherName: Error, CustomStringConvertible {
    let host: String
    var description: String { "failedToValidateHostname: the certificate does not have the name \(host)" }
  }
}
