// The section "Backup" of kept.h: copying, restoring and verifying a store.

public import CKept
import KeptCore
import KeptValues

@_cdecl("kept_backup") @implementation
public func kept_backup(
  _ store: OpaquePointer?, _ path: UnsafePointer<CChar>?, _ flags: UInt32, _ revision: UnsafeMutablePointer<UInt64>?,
  _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let (store, path) = (try store.store(), try path.text("path"))
    try checkFlags(flags, KEPT_BACKUP_REPLACE, "KEPT_BACKUP_REPLACE")
    let shown = try store.backup(to: path, replacing: flags & KEPT_BACKUP_REPLACE != 0)
    revision?.pointee = shown
  }
}

@_cdecl("kept_restore") @implementation
public func kept_restore(
  _ store: OpaquePointer?, _ path: UnsafePointer<CChar>?, _ passphrase: UnsafePointer<CChar>?,
  _ quarantine: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let (store, path) = (try store.store(), try path.text("path"))
    let words = try passphrase.textIfAny("passphrase")
    try copied(to: quarantine) { () throws(StoreError) in try store.restore(from: path, passphrase: words).quarantine }
  }
}

@_cdecl("kept_verify_json") @implementation
public func kept_verify_json(
  _ store: OpaquePointer?, _ progress: kept_progress_callback?, _ context: UnsafeMutableRawPointer?,
  _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let (store, out) = (try store.store(), try json.required("json"))
    out.pointee = try store.verify(progress: transferProgress(progress, context)).newCText()
  }
}
