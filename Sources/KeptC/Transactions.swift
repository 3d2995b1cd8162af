// The section "Transactions" of kept.h: changing several keys atomically.

public import CKept
import KeptCore
import KeptValues

@_cdecl("kept_begin") @implementation
public func kept_begin(
  _ store: OpaquePointer?, _ options: UnsafePointer<kept_transaction_options>?,
  _ transaction: UnsafeMutablePointer<OpaquePointer?>?, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let store = try store.store()
    let out = try transaction.required("transaction")
    let choices = try options.map { options throws(StoreError) in try options.choices() }
    out.pointee = try Handles.handle(of: store.begin(durability: choices?.durability, tag: choices?.tag))
  }
}

@_cdecl("kept_commit") @implementation
public func kept_commit(
  _ transaction: OpaquePointer?, _ revision: UnsafeMutablePointer<UInt64>?, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let ending = try transaction.transaction()
    guard !ending.isLent else {
      throw StoreError(
        .unsupported, "a migration step cannot commit; return from it, and all steps are committed after the last")
    }
    Handles.transactions.remove(UInt(bitPattern: transaction))
    let committed = try ending.commit()
    revision?.pointee = committed
  }
}

@_cdecl("kept_rollback") @implementation
public func kept_rollback(_ transaction: OpaquePointer?) {
  uncancelled {
    guard let ending = try? transaction.transaction() else { return }
    // The migration removes the handle of its step's transaction, and fails.
    if ending.isLent { ending.rollBack() } else { end(ending, transaction) }
  }
}

/// Rolls a transaction back and removes its handle.
func end(_ transaction: Transaction, _ handle: OpaquePointer?) {
  transaction.rollBack()
  Handles.transactions.remove(UInt(bitPattern: handle))
}

extension UnsafePointer where Pointee == kept_transaction_options {
  /// Unspecified options have the values that the store was opened with.
  func choices() throws(StoreError) -> (durability: Durability?, tag: String?) {
    let known = try knownOptions(self, size: pointee.size, least: 16, name: "KEPT_TRANSACTION_OPTIONS_INIT")
    try checkReserved(known.reserved)
    let durability = known.durability == KEPT_AS_OPENED ? nil : try Durability(known.durability)
    return (durability, try known.tag.map { tag throws(StoreError) in try Optional(tag).text("tag") })
  }
}
