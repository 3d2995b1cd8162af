// The section "History" of kept.h: past changes, and undoing them.

public import CKept
import KeptCore
import KeptValues

@_cdecl("kept_history_json") @implementation
public func kept_history_json(
  _ store: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ flags: UInt32,
  _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let (store, out) = (try store.store(), try json.required("json"))
    try checkFlags(flags, KEPT_HISTORY_PREFIX, "KEPT_HISTORY_PREFIX")
    let text = try key.text("key")
    let history = try flags == 0 ? store.history(of: text) : store.history(prefix: text)
    out.pointee = try history.newCText()
  }
}

@_cdecl("kept_undo") @implementation
public func kept_undo(
  _ store: OpaquePointer?, _ revision: UInt64, _ options: UnsafePointer<kept_transaction_options>?,
  _ keys: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let store = try store.store()
    let choices = try options.map { options throws(StoreError) in try options.choices() }
    let restored = try store.undo(revision: revision, durability: choices?.durability, tag: choices?.tag)
    // It is done, and cannot fail any more.
    keys?.pointee = try? Value.array(restored.map { .string($0) }).newCText()
  }
}

@_cdecl("kept_set_history_limits") @implementation
public func kept_set_history_limits(
  _ store: OpaquePointer?, _ json: UnsafePointer<CChar>?, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    try store.store().setHistoryLimits(HistoryLimits(json: json.text("json")))
  }
}

@_cdecl("kept_history_limits_json") @implementation
public func kept_history_limits_json(
  _ store: OpaquePointer?, _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let (store, out) = (try store.store(), try json.required("json"))
    out.pointee = try copied(store.historyLimits().json)
  }
}
