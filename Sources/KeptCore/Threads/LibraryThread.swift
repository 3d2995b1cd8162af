// The library's own threads: plain pthreads, which a fork leaves behind cleanly, with the host's signals kept away.

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

enum LibraryThread {
  /// Starts a detached thread that runs `body` once. It receives no signals: those are the host's.
  static func start(_ body: @escaping @Sendable () -> Void) throws(StoreError) {
    var everything = sigset_t()
    var hosts = sigset_t()
    sigfillset(&everything)
    pthread_sigmask(SIG_BLOCK, &everything, &hosts)
    defer { pthread_sigmask(SIG_SETMASK, &hosts, nil) }

    let boxed = Unmanaged.passRetained(Body(run: body))
    let status = spawn(boxed.toOpaque())
    guard status == 0 else {
      boxed.release()
      throw StoreError(.failed, "no thread for delivering changes could be started (error \(status)); free some threads")
    }
  }

  /// Tells one thread from another, for as long as both live.
  static var current: UInt {
    #if canImport(Darwin)
    UInt(bitPattern: pthread_self())
    #else
    UInt(pthread_self())
    #endif
  }

  private final class Body: Sendable {
    let run: @Sendable () -> Void
    init(run: @escaping @Sendable () -> Void) { self.run = run }

    static func run(_ body: UnsafeMutableRawPointer) {
      Unmanaged<Body>.fromOpaque(body).takeRetainedValue().run()
    }
  }

  private static func spawn(_ body: UnsafeMutableRawPointer) -> Int32 {
    #if canImport(Darwin)
    var thread: pthread_t?
    let status = pthread_create(&thread, nil, { body in
      Body.run(body)
      return nil
    }, body)
    if status == 0, let thread { pthread_detach(thread) }
    #else
    var thread = pthread_t()
    let run: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { body in
      if let body { Body.run(body) }
      return nil
    }
    let status = pthread_create(&thread, nil, run, body)
    if status == 0 { pthread_detach(thread) }
    #endif
    return status
  }

}
