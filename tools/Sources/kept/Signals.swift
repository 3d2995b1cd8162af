// What signals do for a time.

import Glibc

enum Signals {
  static func set(_ signals: [Int32]) -> sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for signal in signals { sigaddset(&set, signal) }
    return set
  }

  /// Ignores signals while `body` runs.
  static func ignoring<T>(_ signals: [Int32], _ body: () -> T) -> T { handling(signals, SIG_IGN, body) }

  /// Lets signals end a system call of `body`, and do nothing else.
  static func interrupting<T>(_ signals: [Int32], _ body: () -> T) -> T { handling(signals, { _ in }, body) }

  private static func handling<T>(_ signals: [Int32], _ handler: __sighandler_t?, _ body: () -> T) -> T {
    let old = signals.map { signal in
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
    return body()
  }
}
