// The address of a member of etcd.

/// A member of etcd, as its clients reach it.
package struct Endpoint: Sendable, Hashable, CustomStringConvertible {
  package let isSecure: Bool
  package let host: String
  package let port: Int

  /// Parses `http://host:port` or `https://host:port`, in which the port may be omitted; nil for anything else.
  package init?(_ url: String) {
    let schemes = [("http://", false), ("https://", true)]
    guard let (scheme, isSecure) = schemes.first(where: { url.hasPrefix($0.0) }) else { return nil }
    var rest = url.dropFirst(scheme.count)
    if rest.hasSuffix("/") { rest.removeLast() }
    var host = rest
    var port = 2379
    // The colons of an address in brackets do not begin a port.
    let end = rest.lastIndex(of: "]") ?? rest.startIndex
    if let colon = rest[end...].lastIndex(of: ":") {
      guard let number = Int(rest[rest.index(after: colon)...]), 1...65535 ~= number else { return nil }
      (host, port) = (rest[..<colon], number)
    }
    if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
    guard !host.isEmpty, !host.contains(where: { "/@?#[] ".contains($0) }) else { return nil }
    (self.isSecure, self.host, self.port) = (isSecure, String(host), port)
  }

  package var description: String {
    "\(isSecure ? "https" : "http")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
  }

  /// Whether the host is an address and not a name.
  var isIPv4: Bool {
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
  }

  var isIPv6: Bool { host.contains(":") }
}
