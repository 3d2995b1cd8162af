// How long a removal is remembered, so that whoever was away can still be told of it.

/// Forgets old tombstones and raises the floor below which `changes(after:)` says "too old".
struct TombstonePruning: Sendable {
  /// At most so many are remembered, the newest ones.
  var count: Int64 = 10_000
  /// None longer than this; 30 days.
  var ageInSeconds: Int64 = 30 * 86_400
  /// A commit looks for old ones only where its revision divides by this: most commits need not count.
  var interval: Revision = 256
  /// Seconds since 1970.
  var now: @Sendable () -> Int64 = { Moment.secondsSince1970 }

  /// Runs inside the write transaction of a commit that removed something.
  func prune(_ connection: SQLiteConnection, at revision: Revision) throws(StoreError) {
    guard revision % interval == 0 else { return }
    let newest = try newestToForget(connection)
    guard newest > 0 else { return }
    try run("DELETE FROM entry WHERE kind = 'removed' AND revision <= ?1", newest, connection)
    try run("UPDATE store SET floor = max(floor, ?1)", newest, connection)
  }

  private func newestToForget(_ connection: SQLiteConnection) throws(StoreError) -> Int64 {
    let rows = try connection.statement(
      """
      SELECT max(
        coalesce((SELECT max(revision) FROM entry WHERE kind = 'removed' AND value < ?1), 0),
        coalesce((SELECT revision FROM entry WHERE kind = 'removed' ORDER BY revision DESC LIMIT 1 OFFSET ?2), 0))
      """)
    try rows.bind(1, now() - ageInSeconds)
    try rows.bind(2, count)
    return try rows.first { rows.integer(0) } ?? 0
  }

  private func run(_ sql: StaticString, _ revision: Int64, _ connection: SQLiteConnection) throws(StoreError) {
    let statement = try connection.statement(sql)
    try statement.bind(1, revision)
    try statement.finish()
  }
}
