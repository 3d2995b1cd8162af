// How handles cross the boundary. A late handle must be KEPT_CLOSED, never a crash, so nothing that C can still name is
// ever freed or given to somebody else:
// - a store is the address of its handle's words (`ReadContext`), which are kept for ever. They own the Swift object
//   until the store is closed, and are all that is left of it then;
// - transactions, snapshots and subscriptions come in any number, so they are tickets: odd numbers (no object has an
//   odd address), counted upwards, that are looked up in a table and are simply no longer found after their end.

import KeptCore

/// What kind of thing a ticket stands for, in its lowest two bits.
enum TicketMark: UInt {
  case transaction = 1
  case snapshot = 3
  /// It is never where another could be: C has a type of its own for it.
  static let subscription = TicketMark.transaction
}

/// Things that C names by a number.
final class Tickets<Thing: Sendable>: Sendable {
  private struct Table {
    var last: UInt = 0
    var things: [UInt: Thing] = [:]
  }
  private let table = Monitor(Table())
  private let mark: TicketMark

  init(_ mark: TicketMark) { self.mark = mark }

  /// Hands out a new ticket.
  func issue(_ thing: Thing) -> UInt {
    let ticket = reserve()
    issue(ticket, thing)
    return ticket
  }

  /// A new ticket that stands for nothing yet.
  func reserve() -> UInt {
    table.update { table in
      table.last += 1
      return table.last << 2 | mark.rawValue
    }
  }

  /// Lets a reserved ticket stand for a thing.
  func issue(_ ticket: UInt, _ thing: Thing) { table.update { $0.things[ticket >> 2] = thing } }

  /// What a ticket stands for; nil after it was withdrawn.
  func find(_ ticket: UInt) -> Thing? { table.read { $0.things[ticket >> 2] } }

  /// Ends a ticket; nil if it had ended already.
  @discardableResult
  func withdraw(_ ticket: UInt) -> Thing? { table.update { $0.things.removeValue(forKey: ticket >> 2) } }

  /// Ends all tickets that stand for things like this.
  func withdraw(where isEnding: (Thing) -> Bool) {
    table.update { table in table.things = table.things.filter { !isEnding($0.value) } }
  }

  /// Whether it is one of these tickets, of today or of before.
  func issued(_ handle: OpaquePointer) -> Bool { UInt(bitPattern: handle) & 3 == mark.rawValue }
}

/// A subscription of a C program.
struct Subscribed: Sendable {
  let subscription: Subscription
  /// Who calls it, if the program polls it by itself.
  let polled: HostDelivery?
  /// Whether it has no callback.
  let isTaken: Bool
}

enum Handles {
  static let transactions = Tickets<Transaction>(.transaction)
  static let snapshots = Tickets<Snapshot>(.snapshot)
  static let subscriptions = Tickets<Subscribed>(.subscription)

  private static let pins = Pins()

  /// The handle of a store, which keeps it until ``end(_:)``.
  static func handle(of store: Store) -> OpaquePointer {
    // Made by the thread that opens, before others meet at their first use.
    _ = (transactions, snapshots, subscriptions, pins)
    return store.handle.lend(owner: Unmanaged.passRetained(store).toOpaque())
  }

  /// The store of a handle; nil after its end.
  @inline(never)
  static func store(_ handle: OpaquePointer) -> Store? {
    pins.hold { ReadContext.owner(of: handle).map { Unmanaged<Store>.fromOpaque($0).retain() } }?.takeRetainedValue()
  }

  /// Lets go of a store that was closed; the second time does nothing.
  static func end(_ handle: OpaquePointer) {
    guard let owner = ReadContext.disown(handle) else { return }
    // Whoever has seen the owner has taken a reference of its own by then.
    pins.awaitAll()
    Unmanaged<Store>.fromOpaque(owner).release()
  }

  /// The handle of a transaction; nil never happens, since a ticket is odd.
  static func handle(of transaction: Transaction) -> OpaquePointer? {
    OpaquePointer(bitPattern: transactions.issue(transaction))
  }

  /// The same for a snapshot.
  static func handle(of snapshot: Snapshot) -> OpaquePointer? {
    OpaquePointer(bitPattern: snapshots.issue(snapshot))
  }

  /// Whether a handle is no address.
  @inline(__always)
  static func isTicket(_ handle: OpaquePointer) -> Bool { UInt(bitPattern: handle) & 1 == 1 }
}

extension Optional where Wrapped == OpaquePointer {
  /// What reads go to: a store, a transaction or a snapshot.
  func reading() throws(StoreError) -> any SettingsReading {
    if let snapshot = try snapshotIfTicket() { snapshot } else { try settings() }
  }

  /// What reads and writes go to: a store or a transaction; `unsupported` for a snapshot.
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
      throw StoreError(.invalid, "a store is no transaction; begin one with kept_begin")
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
