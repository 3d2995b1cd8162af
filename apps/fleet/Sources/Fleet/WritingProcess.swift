// Checks whether the process that has written a local status still runs.

internal import Etcd
internal import FoundationEssentials
internal import Glibc
package import Kept

package enum WritingProcess {
  /// The members of a local status that identify this process.
  static var members: [(ExactString, Value?)] {
    [
      ("process", .number(getpid())), ("started", start(of: "self").map { .string($0) }),
      ("namespace", namespace.map { .string($0) }), ("uptime", .number(uptime)),
    ]
  }

  /// Whether the process runs that has written a status; nil for a value that is not a status.
  ///
  /// A number of a process means something in its own namespace only. In another one, such as that of a container, a
  /// status is valid as long as it is renewed.
  package static func isRunning(_ status: Value) -> Bool? {
    guard let process = status["process"]?.asInt64 else { return nil }
    guard let there = status["namespace"]?.asString, there == namespace else {
      guard let written = status["uptime"]?.asInt64, let interval = status["interval"]?.asInt64 else { return false }
      return (0...max(10, 3 * min(max(interval, 0), 3_600))).contains(uptime.subtractingClamped(written))
    }
    guard let number = pid_t(exactly: process), number > 0, kill(number, 0) == 0 || errno == EPERM else { return false }
    // The number may belong to another process by now. Where others' processes are hidden, that is not known.
    guard let started = status["started"]?.asString, let found = start(of: "\(number)") else { return true }
    return started == found
  }

  private static var namespace: String? {
    var text = [CChar](repeating: 0, count: 64)
    let count = readlink("/proc/self/ns/pid", &text, text.count)
    return count > 0 ? String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
  }

  /// When a process was started, in ticks since the machine was.
  private static func start(of process: String) -> String? {
    guard let bytes = FileManager.default.contents(atPath: "/proc/\(process)/stat"),
      // The name before it may have spaces and brackets.
      let name = bytes.lastIndex(of: UInt8(ascii: ")"))
    else { return nil }
    let fields = bytes[bytes.index(after: name)...].split(separator: UInt8(ascii: " "))
    return fields.count > 19 ? String(decoding: fields[19], as: UTF8.self) : nil
  }

  /// Seconds since the machine was started, which no step of a clock changes.
  private static var uptime: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_BOOTTIME, &time)
    return Int64(time.tv_sec)
  }
}
