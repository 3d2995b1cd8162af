// The section "Observation" of kept.h: subscribing to changes.

public import CKept
import KeptCore
import KeptSystem
import KeptValues

@_cdecl("kept_observe") @implementation
public func kept_observe(
  _ store: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ flags: UInt32, _ callback: kept_notice_callback?,
  _ context: UnsafeMutableRawPointer?, _ release: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?,
  _ subscription: UnsafeMutablePointer<OpaquePointer?>?, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let store = try store.store()
    let scope = try scope(key, flags)
    let isPolled = flags & KEPT_OBSERVE_POLLED != 0
    let callback = isPolled ? callback : try callback.required("callback")
    let callee = WaitTarget(call: callback, context: context, release: release)
    let out = try subscription.required("subscription")
    let polled = isPolled ? try HostDelivery() : nil
    let number = try Handles.subscriptions.reserve()
    let started: Subscription
    let deliverInitial: () -> Void
    do throws(StoreError) {
      (started, deliverInitial) = try store.prepareToObserve(
        scope, initial: flags & KEPT_OBSERVE_INITIAL != 0, isTaken: callback == nil,
        by: polled.map { .by($0) } ?? .asOpened,
        afterLastCall: {
          polled?.end()
          callee.end()
          // Not earlier: a thread that still finds the number waits for all this.
          Handles.subscriptions.remove(number)
        }, callee.call)
    } catch {
      Handles.subscriptions.remove(number)
      throw error
    }
    Handles.subscriptions.insert(
      Subscribed(subscription: started, polled: polled, isTaken: callback == nil), at: number)
    out.pointee = OpaquePointer(bitPattern: number)
    deliverInitial()
  }
}

@_cdecl("kept_unobserve") @implementation
public func kept_unobserve(_ subscription: OpaquePointer?) {
  // The number is removed when the last callback has returned, so another thread that ends it at the same time waits
  // too.
  uncancelled { Handles.subscriptions.find(UInt(bitPattern: subscription))?.subscription.cancel() }
}

@_cdecl("kept_store_fd") @implementation
public func kept_store_fd(
  _ store: OpaquePointer?, _ fd: UnsafeMutablePointer<Int32>?, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let out = try fd.required("fd")
    out.pointee = try store.store().hostDelivery().descriptor
  }
}

@_cdecl("kept_store_dispatch") @implementation
public func kept_store_dispatch(
  _ store: OpaquePointer?, _ max: Int, _ delivered: UnsafeMutablePointer<Int>?,
  _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let count = try store.store().hostDelivery().dispatch(atMost: limit(max))
    delivered?.pointee = count
  }
}

@_cdecl("kept_subscription_fd") @implementation
public func kept_subscription_fd(
  _ subscription: OpaquePointer?, _ fd: UnsafeMutablePointer<Int32>?, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let out = try fd.required("fd")
    out.pointee = try polled(subscription).delivery.descriptor
  }
}

@_cdecl("kept_subscription_dispatch") @implementation
public func kept_subscription_dispatch(
  _ subscription: OpaquePointer?, _ max: Int, _ delivered: UnsafeMutablePointer<Int>?,
  _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let (delivery, isTaken) = try polled(subscription)
    guard !isTaken else {
      throw StoreError(.unsupported, "the subscription has no callback; call kept_subscription_take")
    }
    let count = delivery.dispatch(atMost: limit(max))
    delivered?.pointee = count
  }
}

@_cdecl("kept_subscription_take") @implementation
public func kept_subscription_take(
  _ subscription: OpaquePointer?, _ notice: UnsafeMutablePointer<OpaquePointer?>?,
  _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let out = try notice.required("notice")
    let (delivery, isTaken) = try polled(subscription)
    guard isTaken else {
      throw StoreError(.unsupported, "the subscription has a callback; call kept_subscription_dispatch")
    }
    out.pointee = delivery.take().map { OpaquePointer(Unmanaged.passRetained(ShownNotice($0)).toOpaque()) }
  }
}

@_cdecl("kept_notice_free") @implementation
public func kept_notice_free(_ notice: OpaquePointer?) {
  guard let notice else { return }
  uncancelled { Unmanaged<ShownNotice>.fromOpaque(UnsafeRawPointer(notice)).release() }
}

/// The maximum number of calls; 0 means all that are due.
private func limit(_ max: Int) -> Int { max <= 0 ? .max : max }

private func polled(_ subscription: OpaquePointer?) throws(StoreError) -> (delivery: HostDelivery, isTaken: Bool) {
  let handle = try subscription.required("subscription")
  guard let found = Handles.subscriptions.find(UInt(bitPattern: handle)) else {
    throw StoreError(.closed, "the subscription has ended; subscribe again")
  }
  guard let polled = found.polled else {
    throw StoreError(.unsupported, "the subscription is not polled; subscribe with KEPT_OBSERVE_POLLED")
  }
  return (polled, found.isTaken)
}

private func scope(_ key: UnsafePointer<CChar>?, _ flags: UInt32) throws(StoreError) -> Scope {
  try checkFlags(flags, KEPT_OBSERVE_PREFIX | KEPT_OBSERVE_INITIAL | KEPT_OBSERVE_POLLED, "KEPT_OBSERVE_…")
  return flags & KEPT_OBSERVE_PREFIX == 0 ? .key(try key.key()) : .prefix(ExactString(try key.text("key")))
}

/// The C program's function with its context, which the program guarantees may be used on any thread.
private final class WaitTarget: @unchecked Sendable {
  /// nil if its notices are taken.
  private let callback: kept_notice_callback?
  private let context: UnsafeMutableRawPointer?
  private let release: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?

  init(
    call: kept_notice_callback?, context: UnsafeMutableRawPointer?,
    release: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?
  ) {
    callback = call
    self.context = context
    self.release = release
  }

  func call(_ notice: Notice) {
    let shown = ShownNotice(notice)
    callback?(context, OpaquePointer(Unmanaged.passUnretained(shown).toOpaque()))
    // The callback's pointer is valid until here.
    withExtendedLifetime(shown) {}
  }

  func end() { release?(context) }
}
