// The representation of handles in C. A late handle must be KEPT_CLOSED, never a crash, so nothing that C can still
// refer to is ever freed or reused:
// - a store is the address of its handle's words (`ReadContext`), which are never freed. They own the Swift object
//   until the store is closed, and are all that remains of it then;
// - transactions, snapshots and subscriptions are unlimited in number, so they are tickets: odd, increasing numbers (no
//   object has an odd address) that are looked up in a table and are no longer found after their end.

import KeptCore

/// The kind of object that a ticket stands for, in its lowest two bits.
enum TicketMark: UInt {
  case transaction = 1
  case snapshot = 3
  /// The same mark as for transactions: C has a separate type for subscriptions, so the two are never confused.
  static let subscription = TicketMark.transaction
}

/// Objects that C refers to by a number.
final class Tickets<Thing: Sendable>: Sendable {
  private struct Table {
    var last: UInt = 0
    var things: [UInt: Thing] = [:]
  }
  private let table = Monitor(Table())
  private let mark: TicketMark

  init(_ mark: TicketMark) { self.mark = mark }

  /// Issues a new ticket.
  func issue(_ thing: Thing) -> UInt {
    let ticket = reserve()
    issue(ticket, thing)
    return ticket
  }

  /// Issues a new ticket without an object.
  func reserve() -> UInt {
    table.update { table in
      table.last += 1
      return table.last << 2 | mark.rawValue
    }
  }

  /// Assigns an object to a reserved ticket.
  func issue(_ ticket: UInt, _ thing: Thing) { table.update { $0.things[ticket >> 2] = thing } }

  /// The object of a ticket; nil after it was withdrawn.
  func find(_ ticket: UInt) -> Thing? { table.read { $0.things[ticket >> 2] } }

  /// Ends a ticket; nil if it had ended already.
  @discardableResult
  func withdraw(_ ticket: UInt) -> Thing? { table.update { $0.things.removeValue(forKey: ticket >> 2) } }

  /// Ends all tickets whose objects match.
  func withdraw(where isEnding: (Thing) -> Bool) {
    table.update { table in table.things = table.things.filter { !isEnding($0.value) } }
  }

  /// Whether a handle is a ticket of this kind, current or withdrawn.
  func issued(_ handle: OpaquePointer) -> Bool { UInt(bitPattern: handle) & 3 == mark.rawValue }
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
  static let transactions = Tickets<Transaction>(.transaction)
  static let snapshots = Tickets<Snapshot>(.snapshot)
  static let subscriptions = Tickets<Subscribed>(.subscription)

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

  /// The handle of a transaction; never nil, because a ticket is odd.
  static func handle(of transaction: Transaction) -> OpaquePointer? {
    OpaquePointer(bitPattern: transactions.issue(transaction))
  }

  /// The handle of a snapshot; never nil.
  static func handle(of snapshot: Snapshot) -> OpaquePointer? {
    OpaquePointer(bitPattern: snapshots.issue(snapshot))
  }

  /// Whether a handle is a ticket and not an address.
  @inline(__always)
  static func isTicket(_ handle: OpaquePointer) -> Bool { UInt(bitPattern: handle) & 1 == 1 }
}

extension Optional where Wrapped == OpaquePointer {
  /// The target of reads: a store, a transaction or a snapshot.
  func reading() throws(StoreError) -> any SettingsReading {
    if let snapshot = try snapshotIfTicket() { snapshot } else { try settings() }
  }

  /// The target of reads and writes: a store or a transaction; `unsupported` for a snapshot.
  func settings() throws(StoreError) -> any SettingsAccess {
    if let transaction = try transactionIfTicket() { transaction } else { try store() }
  }

  /// A store; `unsupported` for a transaction.
  func store() throws(StoreError) -> Store {
    let handle = try required("store")
    guard !Handles.isTicket(handle) else {
      if let snapshot = try snapshotIfTicket() { throw unsupported(snapshot) }
      throw StoreError(.unsupported, "a transaction cannot do this; call it on the store")
    }
    guard let store = Handles.store(handle) else {
      throw StoreError(.closed, "the store was closed; open it again")
    }
    return store
  }

  /// A transaction; `invalid` for a store.
  func transaction() throws(StoreError) -> Transaction {
    guard let transaction = try transactionIfTicket() else {
      throw StoreError(.invalid, "expected a transaction, got a store; begin one with kept_begin")
    }
    return transaction
  }

  private func transactionIfTicket() throws(StoreError) -> Transaction? {
    let handle = try required("store")
    guard Handles.isTicket(handle) else { return nil }
    if let snapshot = try snapshotIfTicket() { throw unsupported(snapshot) }
    guard let transaction = Handles.transactions.find(UInt(bitPattern: handle)) else {
      throw StoreError(.closed, "the transaction has ended; begin another")
    }
    return transaction
  }

  /// A snapshot; nil for a store and a transaction.
  func snapshotIfTicket() throws(StoreError) -> Snapshot? {
    let handle = try required("store")
    guard Handles.snapshots.issued(handle) else { return nil }
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
