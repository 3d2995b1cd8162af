// The section "Clearing" of kept.h: resetting keys to their defaults.

public import CKept
import KeptCore
import KeptValues

@_cdecl("kept_reset") @implementation
public func kept_reset(
  _ store: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(warning: error) { () throws(StoreError) in
    let (settings, key) = (try store.settings(), try key.key())
    return try settings.reset(key).map { .shadowed(key, by: $0) }
  }
}

@_cdecl("kept_remove_all") @implementation
public func kept_remove_all(
  _ store: OpaquePointer?, _ prefix: UnsafePointer<CChar>?, _ removed: UnsafeMutablePointer<Int>?,
  _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let count = try store.settings().removeAll(prefix: prefix.text("prefix"))
    removed?.pointee = count
  }
}
