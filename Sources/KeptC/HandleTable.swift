// The representation of handles in C. A late handle must be KEPT_CLOSED, never a crash, so nothing that C can still
// refer to is ever freed or reused:
// - a store is the address of its handle's words (`ReadContext`), which are never freed. They own the Swift object
//   until the store is closed, and are all that remains of it then;
// - transactions, snapshots and subscriptions are unlimited in number, so their handles are odd numbers (no object has
//   an odd address), each used once. They name a slot of a table, which no longer has them after their end.

import CPlatform
import KeptCore
import KeptSystem
import KeptValues

/// Objects of one class that C refers to by a number.
struct HandleTable<Object: AnyObject & Sendable>: Sendable {
  private let slots: HandleSlots

  init(_ kind: HandleKind, _ pins: Pins, _ name: StaticString = "handles") { slots = HandleSlots(kind, pins, name) }

  /// Inserts an object; returns its number.
  ///
  /// Throws `failed` if there are too many.
  func insert(_ object: Object) throws(StoreError) -> UInt {
    let number = try reserve()
    insert(object, at: number)
    return number
  }

  /// Returns a new number without an object; ``remove(_:)`` it if it gets none.
  ///
  /// Throws `failed` if there are too many.
  func reserve() throws(StoreError) -> UInt { try slots.reserve() }

  /// Inserts an object at a reserved number, unless that was removed in between.
  func insert(_ object: Object, at number: UInt) { slots.insert(object, at: number) }

  /// Returns the object of a number; nil after it was removed.
  // A table has objects of this class only.
  func find(_ number: UInt) -> Object? { slots.find(number).map { unsafeDowncast($0, to: Object.self) } }

  /// Removes a number and its object; a second call has no effect.
  func remove(_ number: UInt) { slots.remove(number) }

  /// Removes all matching objects.
  func remove(where isEnding: (Object) -> Bool) {
    slots.remove { isEnding(unsafeDowncast($0, to: Object.self)) }
  }

  /// Whether a handle is a number of this kind, current or removed.
  func hasIssued(_ handle: OpaquePointer) -> Bool { slots.hasIssued(handle) }
}

/// A subscription of a C program.
final class Subscribed: Sendable {
  let subscription: Subscription
  /// The delivery that calls it, if the program polls it.
  let polled: HostDelivery?
  /// Whether it has no callback.
  let isTaken: Bool

  init(subscription: Subscription, polled: HostDelivery?, isTaken: Bool) {
    (self.subscription, self.polled, self.isTaken) = (subscription, polled, isTaken)
  }
}

enum Handles {
  static let transactions = HandleTable<Transaction>(.transaction, pins, "transactions")
  static let snapshots = HandleTable<Snapshot>(.snapshot, pins, "snapshots")
  static let subscriptions = HandleTable<Subscribed>(.subscription, pins, "subscriptions")

  private static let pins = Pins()

  /// The handle of a store; it retains the store until ``end(_:)``.
  static func handle(of store: Store) -> OpaquePointer {
    // Initialized by the opening thread, before several threads use them at the same time.
    _ = (transactions, snapshots, subscriptions, pins)
    return store.handle.lend(owner: Unmanaged.passRetained(store).toOpaque())
  }

  /// The store of a handle; nil after its end.
  @inline(never)
  static func store(_ handle: OpaquePointer) -> Store? {
    pins.hold {
      kept_read_context_owner(UnsafePointer(handle)).map { Unmanaged<Store>.fromOpaque($0).retain() }
    }?.takeRetainedValue()
  }

  /// Releases a store that was closed; a second call has no effect.
  static func end(_ handle: OpaquePointer) {
    guard let owner = kept_read_context_set_owner(UnsafeMutablePointer(handle), nil) else { return }
    // Any thread that has read the owner has taken its own reference by then.
    pins.awaitAll()
    Unmanaged<Store>.fromOpaque(owner).release()
  }

  /// The handle of a transaction; never nil, because its number is odd.
  static func handle(of transaction: Transaction) throws(StoreError) -> OpaquePointer? {
    OpaquePointer(bitPattern: try transactions.insert(transaction))
  }

  /// The handle of a snapshot; never nil.
  static func handle(of snapshot: Snapshot) throws(StoreError) -> OpaquePointer? {
    OpaquePointer(bitPattern: try snapshots.insert(snapshot))
  }

  /// Whether a handle is a number and not an address.
  @inline(__always)
  static func isNumber(_ handle: OpaquePointer) -> Bool { UInt(bitPattern: handle) & 1 == 1 }
}

extension Optional where Wrapped == OpaquePointer {
  /// The target of reads: a store, a transaction or a snapshot.
  func reading() throws(StoreError) -> any SettingsReading {
    if let snapshot = try snapshotOrNil() { snapshot } else { try settings() }
  }

  /// The target of reads and writes: a store or a transaction; `unsupported` for a snapshot.
  func settings() throws(StoreError) -> any SettingsAccess {
    if let transaction = try transactionOrNil() { transaction } else { try store() }
  }

  /// A store; `unsupported` for a transaction or a snapshot.
  func store() throws(StoreError) -> Store {
    let handle = try required("store")
    guard !Handles.isNumber(handle) else {
      let kind = try snapshotOrNil() == nil ? "transaction" : "snapshot"
      throw StoreError(.unsupported, "this function does not take a \(kind); call it on the store")
    }
    guard let store = Handles.store(handle) else {
      throw StoreError(.closed, "the store was closed; open it again")
    }
    return store
  }

  /// A transaction; `invalid` for a store, `unsupported` for a snapshot.
  func transaction() throws(StoreError) -> Transaction {
    _ = try required("transaction")
    let isSnapshot = try snapshotOrNil() != nil
    guard !isSnapshot, let transaction = try transactionOrNil() else {
      throw StoreError(
        isSnapshot ? .unsupported : .invalid,
        "expected a transaction, got a \(isSnapshot ? "snapshot" : "store"); begin one with kept_begin")
    }
    return transaction
  }

  private func transactionOrNil() throws(StoreError) -> Transaction? {
    let handle = try required("store")
    guard Handles.isNumber(handle) else { return nil }
    if let snapshot = try snapshotOrNil() {
      throw StoreError(
        .unsupported, "the snapshot of revision \(snapshot.revision) is read-only; call the function on the store")
    }
    guard let transaction = Handles.transactions.find(UInt(bitPattern: handle)) else {
      throw StoreError(.closed, "the transaction has ended; begin another")
    }
    return transaction
  }

  /// A snapshot; nil for a store and a transaction.
  func snapshotOrNil() throws(StoreError) -> Snapshot? {
    let handle = try required("store")
    guard Handles.snapshots.hasIssued(handle) else { return nil }
    guard let snapshot = Handles.snapshots.find(UInt(bitPattern: handle)) else {
      throw StoreError(.closed, "the snapshot has ended; take another")
    }
    return snapshot
  }
}
