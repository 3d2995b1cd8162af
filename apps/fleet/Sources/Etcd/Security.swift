// TLS files, and the user's name and password.

internal import FoundationEssentials
internal import Glibc
internal import GRPCNIOTransportHTTP2Posix
internal import NIOSSL

/// The files for a TLS connection, in PEM.
package struct TLSFiles: Sendable {
  /// The certificate authorities for etcd; nil for the system's.
  package var authority: String?
  package var certificate: String?
  package var key: String?

  package init(authority: String? = nil, certificate: String? = nil, key: String? = nil) {
    (self.authority, self.certificate, self.key) = (authority, certificate, key)
  }

  /// The TLS configuration, which reads the files for each connection, so that a renewed certificate is used.
  func security() throws(EtcdError) -> HTTP2ClientTransport.Posix.TransportSecurity {
    var configuration = HTTP2ClientTransport.Posix.TransportSecurity.TLS.defaults
    if let authority {
      _ = try Self.certificates(authority)
      configuration.trustRoots = .certificates([.file(path: authority, format: .pem)])
    }
    if let certificate, let key {
      guard let own = try Self.certificates(certificate).first else {
        throw EtcdError(.certificate, "\(certificate) contains no certificate")
      }
      if own.notValidAfter < time(nil) {
        let end = Date(timeIntervalSince1970: TimeInterval(own.notValidAfter)).ISO8601Format()
        throw EtcdError(.certificate, "the certificate in \(certificate) expired at \(end); renew it")
      }
      guard (try? NIOSSLPrivateKey(file: key, format: .pem)) != nil else {
        throw EtcdError(.certificate, "\(key) cannot be read as a private key in PEM")
      }
      configuration.certificateChain = [.file(path: certificate, format: .pem)]
      configuration.privateKey = .file(path: key, format: .pem)
    }
    return .tls(configuration)
  }

  private static func certificates(_ path: String) throws(EtcdError) -> [NIOSSLCertificate] {
    do { return try NIOSSLCertificate.fromPEMFile(path) } catch {
      throw EtcdError(.certificate, "\(path) cannot be read as certificates in PEM")
    }
  }
}

/// An etcd user.
///
/// The password file is read again for each login.
package struct Login: Sendable {
  package let user: String
  let passwordFile: String

  package init(user: String, passwordFile: String) { (self.user, self.passwordFile) = (user, passwordFile) }

  func password() throws(EtcdError) -> String {
    var status = stat()
    guard let bytes = FileManager.default.contents(atPath: passwordFile), stat(passwordFile, &status) == 0 else {
      throw EtcdError(.wrongPassword, "the password file \(passwordFile) cannot be read")
    }
    guard String(validating: bytes, as: UTF8.self) != nil else {
      throw EtcdError(.wrongPassword, "the password file \(passwordFile) is not UTF-8; save it as UTF-8")
    }
    guard status.st_mode & 0o007 == 0 else {
      throw EtcdError(
        .wrongPassword, "the password file \(passwordFile) is accessible to all users; run chmod o= on it")
    }
    // Editors end the line with LF, or with CR LF on Windows.
    let hasLineFeed = bytes.last == UInt8(ascii: "\n")
    let line = hasLineFeed ? bytes.dropLast() : bytes
    let hasReturn = hasLineFeed && line.last == UInt8(ascii: "\r")
    return String(decoding: hasReturn ? line.dropLast() : line, as: UTF8.self)
  }
}
