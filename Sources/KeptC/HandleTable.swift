// The representation of handles in C. A late handle must be KEPT_CLOSED, never a crash, so nothing that C can still
// refer to is ever freed or reused:
// - a store is the address of its handle's words (`ReadContext`), which are never freed. They own the Swift object
//   until the store is closed, and are all that remains of it then;
// - transactions, snapshots and subscriptions are unlimited in number, so their handles are odd, increasing numbers (no
//   object has an odd address) that are looked up in a table and are no longer found after their end.

import KeptCore

/// The kind of object that a number stands for, in its lowest two bits.
enum HandleKind: UInt {
  case transaction = 1
  case snapshot = 3
  /// The same mark as for transactions: C has a separate type for subscriptions, so the two are never confused.
  static let subscription = HandleKind.transaction
}

/// Objects that C refers to by a number.
final class HandleTable<Object: Sendable>: Sendable {
  private struct Table {
    var last: UInt = 0
    var objects: [Number: Object] = [:]
  }
  // The standard library would hash a number, which no attacker chooses, in 100 instructions.
  private struct Number: Hashable {
    let number: UInt

    init(_ handle: UInt) { number = handle >> 2 }

    func _rawHashValue(seed: Int) -> Int { Int(bitPattern: number &* 0x9E37_79B9_7F4A_7C15) >> 32 }
  }
  private let table = Monitor(Table())
  private let kind: HandleKind

  init(_ kind: HandleKind) { self.kind = kind }

  /// Inserts an object; returns its number.
  func insert(_ object: Object) -> UInt {
    let number = reserve()
    insert(object, at: number)
    return number
  }

  /// Returns a new number without an object.
  func reserve() -> UInt {
    table.update { table in
      table.last += 1
      return table.last << 2 | kind.rawValue
    }
  }

  /// Inserts an object at a reserved number.
  func insert(_ object: Object, at number: UInt) { table.update { $0.objects[Number(number)] = object } }

  /// Returns the object of a number; nil after it was removed.
  func find(_ number: UInt) -> Object? { table.updateQuietly { $0.objects[Number(number)] } }

  /// Removes an object; nil if it was removed before.
  @discardableResult
  func remove(_ number: UInt) -> Object? { table.update { $0.objects.removeValue(forKey: Number(number)) } }

  /// Removes all matching objects.
  func remove(where isEnding: (Object) -> Bool) {
    table.update { table in table.objects = table.objects.filter { !isEnding($0.value) } }
  }

  /// Whether a handle is a number of this kind, current or removed.
  func hasIssued(_ handle: OpaquePointer) -> Bool { UInt(bitPattern: handle) & 3 == kind.rawValue }
}

/// A subscription of a C program.
struct Subscribed: Sendable {
  let subscription: Subscription
  /// The delivery that calls it, if the program polls it.
  let polled: HostDelivery?
  /// Whether it has no callback.
  let isTaken: Bool
}

enum Handles {
  static let transactions = HandleTable<Transaction>(.transaction)
  static let snapshots = HandleTable<Snapshot>(.snapshot)
  static let subscriptions = HandleTable<Subscribed>(.subscription)

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
    pins.hold { ReadContext.owner(of: handle).map { Unmanaged<Store>.fromOpaque($0).retain() } }?.takeRetainedValue()
  }

  /// Releases a store that was closed; a second call has no effect.
  static func end(_ handle: OpaquePointer) {
    guard let owner = ReadContext.disown(handle) else { return }
    // Any thread that has read the owner has taken its own reference by then.
    pins.awaitAll()
    Unmanaged<Store>.fromOpaque(owner).release()
  }

  /// The handle of a transaction; never nil, because its number is odd.
  static func handle(of transaction: Transaction) -> OpaquePointer? {
    OpaquePointer(bitPattern: transactions.insert(transaction))
  }

  /// The handle of a snapshot; never nil.
  static func handle(of snapshot: Snapshot) -> OpaquePointer? {
    OpaquePointer(bitPattern: snapshots.insert(snapshot))
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

  /// A store; `unsupported` for a transaction.
  func store() throws(StoreError) -> Store {
    let handle = try required("store")
    guard !Handles.isNumber(handle) else {
      if let snapshot = try snapshotOrNil() { throw unsupported(snapshot) }
      throw StoreError(.unsupported, "a transaction cannot do this; call it on the store")
    }
    guard let store = Handles.store(handle) else {
      throw StoreError(.closed, "the store was closed; open it again")
    }
    return store
  }

  /// A transaction; `invalid` for a store.
  func transaction() throws(StoreError) -> Transaction {
    guard let transaction = try transactionOrNil() else {
      throw StoreError(.invalid, "expected a transaction, got a store; begin one with kept_begin")
    }
    return transaction
  }

  private func transactionOrNil() throws(StoreError) -> Transaction? {
    let handle = try required("store")
    guard Handles.isNumber(handle) else { return nil }
    if let snapshot = try snapshotOrNil() { throw unsupported(snapshot) }
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

  private func unsupported(_ snapshot: Snapshot) -> StoreError {
    StoreError(
      .unsupported, "a snapshot, here of revision \(snapshot.revision), can only be read; call this on the store")
  }
}
