// The library's own threads: plain pthreads, which do not survive into a forked child, with the host's signals blocked.

import CPlatform
package import KeptValues

package enum LibraryThread {
  /// Starts a detached thread that runs `body` once.
  package static func start(_ body: @escaping @Sendable () -> Void) throws(StoreError) {
    let boxed = Unmanaged.passRetained(Body(run: body))
    let run: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { body in
      // A callback may hand its thread to pthread_cancel().
      _ = kept_hold_cancelling()
      if let body { Unmanaged<Body>.fromOpaque(body).takeRetainedValue().run() }
      return nil
    }
    let status = kept_thread_start(run, boxed.toOpaque())
    guard status == 0 else {
      boxed.release()
      let words = String(cString: strerror(status))
      throw StoreError(.failed, "could not start a thread to deliver changes: \(words); stop some threads")
    }
  }

  /// Identifies the calling thread while it runs.
  package static var current: UInt { kept_thread_current() }

  private final class Body: Sendable {
    let run: @Sendable () -> Void
    init(run: @escaping @Sendable () -> Void) { self.run = run }
  }
}
