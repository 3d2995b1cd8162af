// Standard output, in few and whole writes.

import Glibc

/// The program's output; only the main thread, or the one thread that delivers changes, writes.
final class Output: @unchecked Sendable {
  static let standard = Output()

  private var pending: [UInt8] = []
  let isTerminal = isatty(1) == 1
  /// Whether the command has done what it was asked for, and the rest is its report: to repeat it would do it again.
  var isDone = false
  /// Called before the program ends because the output cannot be written.
  var atFailure: () -> Void = {}

  /// Whether text may be coloured: on a terminal, unless NO_COLOR is set.
  var isColored: Bool {
    isTerminal && Environment.variable("NO_COLOR") == nil && Environment.variable("TERM") != "dumb"
  }

  /// The columns of the terminal.
  var width: Int {
    var size = winsize()
    guard ioctl(1, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }

  func write(_ text: String) {
    pending.append(contentsOf: text.utf8)
    if pending.count > 1 << 16 { flush() }
  }

  func write(line: String) { write(line + "\n") }

  func write(json: String) { write(line: Shown.json(json)) }

  func write(bytes: [UInt8]) { pending.append(contentsOf: bytes) }

  /// Ends the program if the output cannot be written: silently if its reader has left, as `head` does.
  func flush() {
    var start = 0
    while start < pending.count {
      let count = pending.withUnsafeBytes { Glibc.write(1, $0.baseAddress.map { $0 + start }, $0.count - start) }
      if count > 0 {
        start += count
      } else if count < 0, errno == EPIPE {
        // As a shell shows a program that a signal has ended.
        end(128 + SIGPIPE)
      } else if count < 0, errno == EAGAIN {
        // Another program has made the pipe one that does not block.
        var ready = pollfd(fd: 1, events: Int16(POLLOUT), revents: 0)
        poll(&ready, 1, -1)
      } else if count < 0, errno != EINTR {
        let remedy = errno == ENOSPC || errno == EDQUOT ? "; free some space, or write to another place" : ""
        let reason = String(cString: strerror(errno)) + remedy
        let what = isDone ? "the command is done, but its report" : "the output"
        Failure.print("\(what) cannot be written: \(reason)")
        end(ExitStatus.unavailable.rawValue)
      }
    }
    pending.removeAll(keepingCapacity: true)
  }

  private func end(_ status: Int32) -> Never {
    pending = []
    atFailure()
    exit(isDone ? ExitStatus.unreported.rawValue : status)
  }
}

enum Style: String {
  case bold = "1", dim = "2", red = "31", green = "32", yellow = "33", cyan = "36"
}

extension String {
  /// The text in a style, where the output is coloured.
  func styled(_ style: Style) -> String {
    Output.standard.isColored ? "\u{1B}[\(style.rawValue)m\(self)\u{1B}[0m" : self
  }
}
