// The section "Observation" of kept.h: hearing of changes.

public import CKept
import KeptCore

@_cdecl("kept_observe") @implementation
public func kept_observe(
  _ store: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ flags: UInt32, _ callback: kept_notice_callback?,
  _ context: UnsafeMutableRawPointer?, _ release: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?,
  _ subscription: UnsafeMutablePointer<OpaquePointer?>?, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let store = try store.store()
    let scope = try scope(key, flags)
    let callee = Callee(call: try callback.required("callback"), context: context, release: release)
    let out = try subscription.required("subscription")
    let ticket = Handles.subscriptions.reserve()
    let (started, deliverInitial) = try store.prepareToObserve(
      scope, initial: flags & KEPT_OBSERVE_INITIAL != 0,
      afterLastCall: {
        // It may have ended with its store: nobody need withdraw the ticket.
        Handles.subscriptions.withdraw(ticket)
        callee.end()
      }, callee.call)
    Handles.subscriptions.issue(ticket, started)
    out.pointee = OpaquePointer(bitPattern: ticket)
    deliverInitial()
  }
}

@_cdecl("kept_unobserve") @implementation
public func kept_unobserve(_ subscription: OpaquePointer?) {
  Handles.subscriptions.withdraw(UInt(bitPattern: subscription))?.cancel()
}

private func scope(_ key: UnsafePointer<CChar>?, _ flags: UInt32) throws(StoreError) -> Scope {
  guard flags & ~(KEPT_OBSERVE_PREFIX | KEPT_OBSERVE_INITIAL) == 0 else {
    throw StoreError(.invalid, "the flags \(flags) are unknown; use KEPT_OBSERVE_…")
  }
  return flags & KEPT_OBSERVE_PREFIX == 0 ? .key(try key.key()) : .prefix(ExactString(try key.text("key")))
}

/// The C program's function with its context, which it has promised may be used on any thread.
private final class Callee: @unchecked Sendable {
  private let callback: kept_notice_callback
  private let context: UnsafeMutableRawPointer?
  private let release: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?

  init(
    call: @escaping kept_notice_callback, context: UnsafeMutableRawPointer?,
    release: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?
  ) {
    callback = call
    self.context = context
    self.release = release
  }

  func call(_ notice: Notice) {
    let shown = ShownNotice(notice)
    callback(context, OpaquePointer(Unmanaged.passUnretained(shown).toOpaque()))
    // The callback has its pointer until here.
    withExtendedLifetime(shown) {}
  }

  func end() { release?(context) }
}
