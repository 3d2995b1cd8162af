// The three streams that every program has; a shell may have closed some of them, as with `>&-`.

import Glibc

enum StandardStreams {
  /// Occupies closed standard descriptors, so that no file of a store gets one of them and is written as output.
  ///
  /// They are opened the wrong way round: reading closed input and writing to closed output still fail.
  static func occupyClosed() {
    for (descriptor, mode) in [(Int32(0), O_WRONLY), (1, O_RDONLY), (2, O_RDONLY)]
    where fcntl(descriptor, F_GETFD) < 0 {
      // The lowest free number is this one, because those below it are open.
      _ = open("/dev/null", mode)
    }
  }
}
