// Erases the value of a key that is declared secret when it is removed or replaced: no file of the store keeps its
// bytes.
//
// SQLite's secure_delete is not enough. When SQLite balances a tree it leaves copies of rows in the gaps of pages, also
// of rows that remain, and does not find them later (docs/decisions/08-trust-and-secrets.md). So the whole database is
// rewritten without gaps, and then the log is checkpointed and truncated.

import KeptSchema
import KeptValues
import Synchronization

/// The pending erasures of one store.
///
/// The writer erases right after its commit; if a long read blocks it, the maintenance thread retries.
final class SecretEraser: Sendable {
  private enum Stage {
    static let nothing: UInt8 = 0
    static let log: UInt8 = 1
    static let database: UInt8 = 2
  }
  private let stage = Atomic<UInt8>(Stage.nothing)
  private let isInRing = Atomic<Bool>(false)

  /// How long each attempt waits for other connections.
  private static let patienceMilliseconds = 50

  /// Whether there is something to erase.
  var isDue: Bool { stage.load(ordering: .acquiring) != Stage.nothing }

  /// Whether frames may contain it: a key that was declared secret before has its values in the database only.
  var isDueInRing: Bool { isInRing.load(ordering: .acquiring) }

  /// Notes that a commit is about to replace a secret.
  func note(_ change: StoredChange) {
    if change.old?.declaration?.isSecret != true { isInRing.store(true, ordering: .releasing) }
    stage.store(Stage.database, ordering: .releasing)
  }

  /// Notes that a secret is staged which no commit gives to its key.
  func noteStaged() { stage.store(Stage.database, ordering: .releasing) }

  /// Notes that there is another ring.
  func noteNewRing() { isInRing.store(false, ordering: .releasing) }

  /// Erases the secrets that are due, on the writer's connection, which must be idle; returns false if others block it.
  func perform(on connection: SQLiteConnection) -> Bool {
    let usual = connection.patience
    connection.setPatience(milliseconds: Self.patienceMilliseconds)
    defer { connection.setPatience(milliseconds: usual) }
    do throws(StoreError) {
      if stage.load(ordering: .acquiring) == Stage.database {
        // The new copy is built in memory: a temporary file would be one more copy.
        try connection.run("PRAGMA temp_store = MEMORY")
        try connection.run("VACUUM")
        stage.store(Stage.log, ordering: .releasing)
      }
      if isDue { try connection.copyLog() }
      stage.store(Stage.nothing, ordering: .releasing)
      return true
    } catch {
      return false
    }
  }
}

extension StoredChange {
  /// Whether files may hold a secret that is replaced: the key is declared secret before or after the commit, and has
  /// had a value, or a default that it loses.
  var leavesSecret: Bool {
    // The check that is free without declarations comes first.
    guard old?.declaration?.isSecret == true || new.declaration?.isSecret == true else { return false }
    if old?.declaration?.defaultValue != nil, old?.declaration != new.declaration { return true }
    return old?.value != nil || old?.revision ?? 0 != 0
  }
}
