// The section "Keys" of kept.h: listing keys.

public import CKept
import KeptCore
import KeptValues

@_cdecl("kept_contains") @implementation
public func kept_contains(
  _ store: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ out: UnsafeMutablePointer<Bool>?,
  _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let settings = try store.reading()
    let out = try out.required("out")
    out.pointee = try settings.contains(key.key())
  }
}

@_cdecl("kept_remove") @implementation
public func kept_remove(
  _ store: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(warning: error) { () throws(StoreError) in
    let settings = try store.settings()
    let key = try key.key()
    guard try settings.delete(key) else {
      throw StoreError(.absent, key: key.text, "is not stored, so there was nothing to remove")
    }
    return settings.shadow(over: key)
  }
}

@_cdecl("kept_revision_of") @implementation
public func kept_revision_of(
  _ store: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ revision: UnsafeMutablePointer<UInt64>?,
  _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let settings = try store.reading()
    let out = try revision.required("revision")
    let key = try key.key()
    guard let found = try settings.revision(of: key) else {
      throw StoreError(.absent, key: key.text, "is not stored, so it has no revision")
    }
    out.pointee = found
  }
}

@_cdecl("kept_list") @implementation
public func kept_list(
  _ store: OpaquePointer?, _ prefix: UnsafePointer<CChar>?, _ callback: kept_list_callback?,
  _ context: UnsafeMutableRawPointer?, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let settings = try store.reading()
    let callback = try callback.required("callback")
    // All keys are read first: the callback may write, and no lock is held while it runs.
    for key in try settings.listedKeys(prefix: ExactString(prefix.text("prefix"))) {
      let answer = key.text.withCString { callback(context, $0) }
      if answer != 0 { return }
    }
  }
}

@_cdecl("kept_list_json") @implementation
public func kept_list_json(
  _ store: OpaquePointer?, _ prefix: UnsafePointer<CChar>?, _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let settings = try store.reading()
    let out = try json.required("json")
    let keys = try settings.listedKeys(prefix: ExactString(prefix.text("prefix")))
    out.pointee = try Value.array(keys.map { .string($0.text) }).newCText()
  }
}
