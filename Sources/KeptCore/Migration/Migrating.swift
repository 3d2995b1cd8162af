// Migrates a store: all missing steps run in one transaction, which also changes the schema version, so a kill at any
// point leaves the old state or the new one.

import CPlatform
import KeptSystem
public import KeptValues

extension Store {
  /// The schema version, which programs assign to the shape of the stored data; 0 if none was assigned.
  ///
  /// Throws `unsupported` for a storage that keeps none. In C: `kept_schema_version`.
  public func schemaVersion() throws(StoreError) -> UInt32 { try storage().schemaVersion() }

  /// Brings the store to the schema version of the last step.
  ///
  /// The steps that lead to versions above the store's own run in order, in one process and one transaction, after a
  /// backup to the folder `backups` of the store. A store that was never written gets the version without running a
  /// step. In C: `kept_migrate`. In Python: `settings.migrate(...)`.
  ///
  /// Throws ``MigrationFailure`` with what a step threw, with nothing changed; `unsupported` for a store of a later
  /// version, for a storage that keeps no version, and inside a step; `busy` if others migrate or write for longer than
  /// the busy timeout; `invalid` for steps that are not in the order of their versions.
  @discardableResult
  public func migrate(
    _ steps: [Migration], whileOthersDo patience: MigrationPatience = .wait, ofLaterVersion: LaterVersion = .refuse,
    backup: Bool = true
  ) throws -> Migrated {
    let target = try Self.target(of: steps)
    if let done = try settled(at: target, ofLaterVersion) { return done }
    let folder = try (shared.storage as? any FolderStorage)?.folder
    let milliseconds = patience == .wait ? options.patience : 0
    guard let turn = try MigrationTurn.take(of: shared, in: folder, waiting: milliseconds) else {
      guard patience == .carryOn else {
        throw StoreError(
          .busy,
          "another migration or restore was still running after \(milliseconds) ms; wait for it to finish, or only "
            + "read from the store"
        )
      }
      return .elsewhere
    }
    defer { turn.end() }
    do { return try migrate(steps, to: target, ofLaterVersion, backup: backup) } catch StoreError.Code.conflict {
      throw StoreError(
        .busy,
        "nothing was migrated, because other writers kept writing until the timeout; try again when they have finished")
    }
  }

  private static func target(of steps: [Migration]) throws(StoreError) -> UInt32 {
    var last: UInt32 = 0
    for step in steps {
      guard step.version > last else {
        throw StoreError(
          .invalid,
          "the step \"\(step.name)\" leads to version \(step.version), but must lead to a version above \(last); "
            + "number the steps from 1 in ascending order")
      }
      last = step.version
    }
    guard last > 0 else { throw StoreError(.invalid, "there are no migration steps; pass at least one") }
    return last
  }

  /// The result if there is nothing to do; nil if there is.
  private func settled(at target: UInt32, _ ofLaterVersion: LaterVersion) throws(StoreError) -> Migrated? {
    let found = try schemaVersion()
    guard found >= target else { return nil }
    if found == target {
      allowWrites()
      return .nothing
    }
    guard ofLaterVersion == .readOnly else {
      throw StoreError(
        .unsupported,
        "the store has schema version \(found), but this program knows versions up to \(target); update the program, "
          + "or use it only for reading")
    }
    refuseWrites(tooLate: found)
    return .readOnly(version: found)
  }

  /// Checks the version again, because it may have waited for another migration, and then runs the steps.
  private func migrate(
    _ steps: [Migration], to target: UInt32, _ ofLaterVersion: LaterVersion, backup: Bool
  ) throws -> Migrated {
    if let done = try settled(at: target, ofLaterVersion) { return done }
    let found = try schemaVersion()
    if found == 0, try begin(at: target) { return .fresh }
    let copying = backup ? shared.storage as? any FolderStorage : nil
    let copy = try copying?.setCopyAside(in: "backups", "-before-version-\(target)")
    let forks = Fork.count
    do { try run(steps, from: found, to: target) } catch {
      // A program that fails at every start must not fill the disk with copies. But the commit may have been made
      // without reaching the disk, and a child that was forked in a step has no copy of its own.
      if let copy, Fork.count == forks, (try? schemaVersion()) == found { copy.remove() }
      throw error
    }
    allowWrites()
    return .from(version: found, backup: copy?.path)
  }

  private func run(_ steps: [Migration], from found: UInt32, to target: UInt32) throws {
    try transaction(durability: .durable) { transaction in
      for step in steps where step.version > found {
        do {
          try step.run(transaction)
          try transaction.checkSubscripts()
        } catch StoreError.Code.conflict where !transaction.wasRefused {
          // Another writer was faster: all steps run again.
          throw StoreError(.conflict, "another writer committed during the migration; try again")
        } catch {
          throw MigrationFailure(version: step.version, name: step.name, reason: error)
        }
      }
      transaction.lead(from: found, to: target)
    }
  }

  /// Sets the first version of a store that holds nothing; returns false if it holds something.
  private func begin(at version: UInt32) throws -> Bool {
    // A transaction that has listed everything conflicts with every write, so it is only used for empty stores.
    guard try shared.storage.holdsNothing() else { return false }
    return try transaction(durability: .durable) { transaction in
      guard try transaction.storedKeys(prefix: "").isEmpty, try shared.storage.holdsNothing() else { return false }
      transaction.lead(from: 0, to: version)
      return true
    }
  }
}
