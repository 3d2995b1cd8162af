// What signals do for a time.

import Glibc

/// The pipe into which a handler writes.
nonisolated(unsafe) private var interruption: Int32 = -1

enum Signals {
  static func set(_ signals: [Int32]) -> sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for signal in signals { sigaddset(&set, signal) }
    return set
  }

  /// Whether the program was started with a signal ignored, as by nohup.
  static func isIgnored(_ signal: Int32) -> Bool {
    var action = sigaction()
    sigaction(signal, nil, &action)
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  /// Ignores signals while `body` runs.
  static func ignoring<T, E>(_ signals: [Int32], _ body: () throws(E) -> T) throws(E) -> T {
    try handling(signals, SIG_IGN, body)
  }

  /// Lets signals end the waiting for input, and do nothing else.
  ///
  /// `body` gets what waits: it returns false once a signal has come, in whichever thread, since `body` was begun.
  static func interrupting<T>(_ signals: [Int32], _ body: (_ isReadable: (Int32) -> Bool) -> T) -> T {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return body { _ in true } }
    interruption = ends[1]
    defer { for end in ends { close(end) } }
    return handling(signals, { _ in _ = write(interruption, "", 1) }) {
      body { descriptor in
        var waiting = [descriptor, ends[0]].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        while poll(&waiting, 2, -1) < 0, errno == EINTR {}
        return waiting[1].revents == 0
      }
    }
  }

  /// Calls `handler` for signals while `body` runs.
  static func handling<T, E>(
    _ signals: [Int32], _ handler: __sighandler_t?, _ body: () throws(E) -> T
  ) throws(E) -> T {
    let old = signals.filter { !isIgnored($0) }.map { signal in
      var (new, old) = (sigaction(), sigaction())
      // Without SA_RESTART, so that a read is interrupted.
      new.__sigaction_handler.sa_handler = handler
      sigaction(signal, &new, &old)
      return (signal, old)
    }
    defer {
      for (signal, old) in old {
        var old = old
        sigaction(signal, &old, nil)
      }
    }
    return try body()
  }
}
