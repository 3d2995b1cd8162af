// The address of an etcd member.

/// The address at which clients reach an etcd member.
package struct Endpoint: Sendable, Hashable, CustomStringConvertible {
  package let isSecure: Bool
  package let host: String
  package let port: Int

  /// Parses `http://host:port` or `https://host:port`, with an optional port; returns nil for anything else.
  package init?(_ url: String) {
    let schemes = [("http://", false), ("https://", true)]
    guard let (scheme, isSecure) = schemes.first(where: { url.utf8.starts(with: $0.0.utf8) }) else { return nil }
    var scalars = url.unicodeScalars.dropFirst(scheme.count)
    if scalars.last == "/" { scalars.removeLast() }
    var host = scalars
    var port = 2379
    // The colons in a bracketed address do not begin a port.
    let end = scalars.lastIndex(of: "]") ?? scalars.startIndex
    if let colon = scalars.lastIndex(of: ":"), colon >= end {
      guard let number = Int(String(scalars[colon...].dropFirst())), 1...65535 ~= number else { return nil }
      (host, port) = (scalars[..<colon], number)
    }
    if host.first == "[", host.last == "]" { host = host.dropFirst().dropLast() }
    guard !host.isEmpty, !host.contains(where: { "/@?#[] ".unicodeScalars.contains($0) }) else { return nil }
    (self.isSecure, self.host, self.port) = (isSecure, String(host), port)
  }

  package var description: String {
    "\(isSecure ? "https" : "http")://\(isIPv6 ? "[\(host)]" : host):\(port)"
  }

  /// Whether the host is an IP address and not a name.
  var isIPv4: Bool {
    let parts = host.unicodeScalars.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts.allSatisfy { UInt8(String($0)) != nil }
  }

  var isIPv6: Bool { host.unicodeScalars.contains(":") }

  /// Whether traffic to it stays on this machine.
  package var isLoopback: Bool {
    isIPv4 && host.utf8.starts(with: "127.".utf8) || host == "::1" || host.lowercased() == "localhost"
  }

  /// Whether traffic to it can be read on the way.
  package var isReadable: Bool { !isSecure && !isLoopback }
}
