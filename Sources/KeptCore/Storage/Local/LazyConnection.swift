// What stands on a connection of its own: it is made when it is needed, let go during a fork, and gone after closing.

/// The part of a storage that owns a connection.
protocol ConnectionOwner {
  var connection: SQLiteConnection { get }
}

/// Something that asks SQLite.
///
/// Not thread-safe: its owner keeps it behind a monitor.
struct LazyConnection<Thing: ConnectionOwner> {
  private var thing: Thing?
  private var isClosed = false
  private let make: @Sendable () throws(StoreError) -> Thing

  init(_ thing: sending Thing? = nil, make: @escaping @Sendable () throws(StoreError) -> Thing) {
    self.thing = thing
    self.make = make
  }

  /// The thing, made now if need be; throws `closed` after ``close()``.
  mutating func get() throws(StoreError) -> Thing {
    if isClosed { throw StoreError(.closed, "the store was closed; open it again") }
    let thing = if let thing { thing } else { try make() }
    self.thing = thing
    return thing
  }

  /// Closes the connection as if nobody had noticed: the log stays as it is, and the next use opens another one.
  mutating func letGo() {
    thing?.connection.leaveLog()
    thing = nil
  }

  /// Whether the database is not where it was; nil: nothing is connected.
  var hasMoved: Bool? { thing?.connection.hasMoved }

  mutating func close() {
    thing = nil
    isClosed = true
  }
}
