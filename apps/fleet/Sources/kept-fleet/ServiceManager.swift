// Notifies systemd: sd_notify(3) without its library.

import Glibc

struct ServiceManager: Sendable {
  private let socketPath: String?
  /// How often systemd expects a notification; nil if it does not.
  let watchdogInterval: Duration?

  init() {
    socketPath = Environment.variable("NOTIFY_SOCKET")
    let isForUs = Environment.variable("WATCHDOG_PID").map { $0 == "\(getpid())" } ?? true
    watchdogInterval =
      isForUs ? Environment.variable("WATCHDOG_USEC").flatMap(Int64.init).map { .microseconds($0) } : nil
  }

  /// Sends lines such as `READY=1`; does nothing without systemd.
  func notify(_ message: String) {
    guard let socketPath else { return }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var path = Array(socketPath.utf8)
    guard path.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
    // A name in the abstract namespace begins with a zero byte.
    if path.first == UInt8(ascii: "@") { path[0] = 0 }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
    let length = socklen_t(MemoryLayout.offset(of: \sockaddr_un.sun_path) ?? 2) + socklen_t(path.count)
    let socket = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard socket >= 0 else { return }
    defer { close(socket) }
    _ = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        message.withCString { sendto(socket, $0, strlen($0), Int32(MSG_NOSIGNAL), address, length) }
      }
    }
  }
}
