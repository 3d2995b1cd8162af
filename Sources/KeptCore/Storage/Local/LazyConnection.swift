// A connection that is opened at its first use, released during a fork, and gone after closing.

import KeptValues

/// The part of a storage that owns a connection.
protocol ConnectionOwner {
  var connection: SQLiteConnection { get }
}

/// The owner of a connection, created at its first use.
///
/// Not thread-safe: its owner keeps it behind a monitor.
struct LazyConnection<Thing: ConnectionOwner> {
  private var thing: Thing?
  private(set) var isClosed = false
  private let make: @Sendable () throws(StoreError) -> Thing

  init(_ thing: sending Thing? = nil, make: @escaping @Sendable () throws(StoreError) -> Thing) {
    self.thing = thing
    self.make = make
  }

  /// Returns the owner, creating it if necessary; throws `closed` after ``close()``.
  mutating func get() throws(StoreError) -> Thing {
    if isClosed { throw StoreError(.closed, "the store was closed; open it again") }
    let thing = if let thing { thing } else { try make() }
    self.thing = thing
    return thing
  }

  /// Closes the connection without settling: the log stays as it is, and the next use opens another connection.
  mutating func disconnect() {
    thing?.connection.leaveLog()
    thing = nil
  }

  /// Whether the database is no longer where it was; nil if there is no connection.
  var hasMoved: Bool? { thing?.connection.hasMoved }

  mutating func close() {
    thing = nil
    isClosed = true
  }
}
