// A replacement for the Swift runtime's lock around one-time initialization: of lazy globals and generic metadata. The
// runtime's own lock identifies its owner by a thread id, and the main thread of a forked child still has its parent's
// id: two threads of the child that started the same initialization spun forever. The linker redirects the runtime's
// calls here (`--wrap`, cmake/KeptLibrary.cmake).

import CPlatform

/// Runs `make` unless it has been run; returns when it has completed, on whichever thread.
///
/// - Parameter once: two words. The first is 0 until completion, and negative then; the second is a lock: 0 free, 1
///   taken, 2 taken while other threads sleep.
@_cdecl("__wrap__ZN5swift14threading_impl9once_slowERNS0_6once_tEPFvPvES3_")
func makeOnce(
  _ once: UnsafeMutablePointer<UInt32>, _ make: @convention(c) (UnsafeMutableRawPointer?) -> Void,
  _ context: UnsafeMutableRawPointer?
) {
  let lock = once + 1
  // A thread that finds the lock taken may have overwritten the mark of sleeping threads, and so leaves it at 2.
  if kept_swap32(lock, 1) != 0 { while kept_swap32(lock, 2) != 0 { kept_sleep_here(lock, 2, 1000) } }
  if kept_load32(once) == 0 {
    make(context)
    kept_store32(once, UInt32(bitPattern: -1))
  }
  if kept_swap32(lock, 0) == 2 { kept_wake_all_here(lock) }
}
