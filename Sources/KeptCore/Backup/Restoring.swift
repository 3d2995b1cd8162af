// Restores a backup in one commit, so that other processes keep the store open and receive the changes, and a kill at
// any point leaves either the old state or the new one.

import CPlatform
import KeptSystem
public import KeptValues

/// The result of a restore.
public struct Restored: Sendable, Hashable {
  /// The revision of the store after the restore.
  public let revision: Revision
  /// The path of the copy of the previous content, in the store's folder `quarantine`; nil if the store was empty, had
  /// the same content, or has no folder.
  public let quarantine: String?
}

extension Store {
  /// Replaces the content of the store by a backup: values, declarations and schema version.
  ///
  /// The previous content is copied to the folder `quarantine` first. Values that an administrator has locked are
  /// restored too, and stay hidden. To restore without replacing this store, open another location and restore there.
  /// In C: `kept_restore`. In Python: `settings.restore(path)`.
  ///
  /// Throws `unavailable` if there is no backup, `corrupt` for a damaged one, `unsupported` for a file of another kind
  /// or a backup of a later version, and `busy` if others keep writing: nothing is changed then.
  /// - Parameter path: what ``backup(to:replacing:)`` has written, a file or a folder.
  @discardableResult
  public func restore(from path: String) throws(StoreError) -> Restored {
    let storage = try storage()
    guard storage.abilities.isSuperset(of: [.atomicBatch, .revisions, .listsKeys]) else {
      throw StoreError(
        .unsupported,
        "this storage cannot list its keys, or cannot change several at once; restore into a store in a folder")
    }
    let backup = try BackupFile(at: path)
    let folder = try (storage as? any FolderStorage)?.folder
    let deadline = MonotonicTime.milliseconds + Int64(options.patience)
    guard let turn = try MigrationTurn.take(of: shared, in: folder, waiting: options.patience) else {
      throw StoreError(
        .busy,
        "nothing was restored, because another migration or restore ran until the timeout; try again when it has "
          + "finished")
    }
    defer { turn.end() }
    var attempt = 0
    while true {
      let base = try storage.revision()
      do throws(StoreError) { return try put(backup, after: base) } catch {
        guard error.code == .conflict else { throw error }
        guard MonotonicTime.milliseconds < deadline else {
          throw StoreError(
            .busy,
            "nothing was restored, because other writers kept writing until the timeout; try again when they have "
              + "finished"
          )
        }
        MonotonicTime.backOff(attempt: attempt)
        attempt += 1
      }
    }
  }

  /// Replaces the content; throws `conflict` if another process has written after the revision.
  private func put(_ backup: BackupFile, after base: Revision) throws(StoreError) -> Restored {
    let present = try storage().entries(in: [.prefix("")])
    try Allowance.ask(
      forEntries: present.entries.count + present.unreadable.count + backup.entries.count, to: "restore the backup")
    var batch = newBatch(durability: .durable)
    batch.conditions = [.unchangedPrefix("", after: base)]
    batch.isAdmittedAsItIs = true
    let keys = present.entries.map(\.key) + present.unreadable.map(\.key)
    for key in keys where backup.entries[key] == nil {
      batch.edit(key, .remove)
      batch.declare(key, nil)
    }
    for (key, entry) in backup.entries {
      batch.edit(key, entry.value.map { .set($0) } ?? .remove)
      // Removing the current declaration first allows one of another type.
      batch.declare(key, nil)
      if let declaration = entry.declaration { batch.declare(key, declaration) }
    }
    let before = try storage().abilities.contains(.schemaVersion) ? storage().schemaVersion() : nil
    if before != nil { batch.schemaVersion = backup.schemaVersion }
    let isEmpty = keys.isEmpty && present.revision == 0
    let copying = isEmpty ? nil : shared.storage as? any FolderStorage
    let aside = try copying?.setCopyAside(in: "quarantine", "-restored-over")
    do throws(StoreError) {
      let restored = try commit(batch).revision
      let isUnchanged = restored == base && batch.schemaVersion == before
      if isUnchanged, let aside { aside.remove() }
      return Restored(revision: restored, quarantine: isUnchanged ? nil : aside?.path)
    } catch {
      // The commit may have succeeded without reaching the disk.
      if let aside, (try? storage().revision()) == base { aside.remove() }
      throw error
    }
  }
}
