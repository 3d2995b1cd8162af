// The section "Snapshots" of kept.h: reading a store as it was at one point in time.

public import CKept
import KeptCore
import KeptValues

@_cdecl("kept_snapshot") @implementation
public func kept_snapshot(
  _ store: OpaquePointer?, _ prefix: UnsafePointer<CChar>?, _ snapshot: UnsafeMutablePointer<OpaquePointer?>?,
  _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let (store, out) = (try store.store(), try snapshot.required("snapshot"))
    out.pointee = try Handles.handle(of: store.snapshot(prefix: prefix.text("prefix")))
  }
}

@_cdecl("kept_snapshot_at") @implementation
public func kept_snapshot_at(
  _ store: OpaquePointer?, _ prefix: UnsafePointer<CChar>?, _ revision: UInt64,
  _ snapshot: UnsafeMutablePointer<OpaquePointer?>?, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let (store, out) = (try store.store(), try snapshot.required("snapshot"))
    out.pointee = try Handles.handle(of: store.snapshot(prefix: prefix.text("prefix"), at: revision))
  }
}

@_cdecl("kept_snapshot_end") @implementation
public func kept_snapshot_end(_ snapshot: OpaquePointer?) {
  uncancelled {
    if let snapshot, Handles.snapshots.hasIssued(snapshot) { Handles.snapshots.remove(UInt(bitPattern: snapshot)) }
  }
}

@_cdecl("kept_store_revision") @implementation
public func kept_store_revision(
  _ store: OpaquePointer?, _ revision: UnsafeMutablePointer<UInt64>?, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let snapshot = try store.snapshotOrNil()
    let out = try revision.required("revision")
    out.pointee = if let snapshot { snapshot.revision } else { try store.store().currentRevision() }
  }
}
