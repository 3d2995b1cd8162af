// What was stored under a key that is declared secret is erased when it is removed or replaced: no file of the store
// keeps its bytes.
//
// SQLite's secure_delete is not enough. When it balances a tree it leaves copies of rows in the gaps of pages, also of
// rows that stay, and finds none of them later (docs/decisions/0023). So the whole database is written anew, without
// gaps, and then the log is brought into it and emptied.

import Synchronization

/// What is still to be erased in one store.
///
/// The writer sees to it right after its commit; where somebody's long reading is in the way, the maintenance tries on.
final class SecretEraser: Sendable {
  private enum Stage {
    static let nothing: UInt8 = 0
    static let log: UInt8 = 1
    static let database: UInt8 = 2
  }
  private let stage = Atomic<UInt8>(Stage.nothing)

  /// How long others may keep it from being done, each time that it is tried.
  private static let patienceMilliseconds = 50

  /// Whether there is something to erase.
  var isDue: Bool { stage.load(ordering: .acquiring) != Stage.nothing }

  /// Something is about to be committed that takes the place of a secret.
  func note() { stage.store(Stage.database, ordering: .releasing) }

  /// Erases what is due, on the writer's connection, which runs nothing else meanwhile; false: others are in the way.
  func perform(on connection: SQLiteConnection) -> Bool {
    connection.setPatience(milliseconds: Self.patienceMilliseconds)
    do throws(StoreError) {
      if stage.load(ordering: .acquiring) == Stage.database {
        // What is written anew waits in memory: a temporary file would be one more copy.
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
  /// Whether a value goes, or stands somewhere already, that is declared secret before the commit or after it.
  var leavesSecret: Bool {
    // First what costs nothing where nothing is declared.
    guard old?.declaration?.isSecret == true || new.declaration?.isSecret == true else { return false }
    return old?.value != nil || old?.revision ?? 0 != 0
  }
}
