// Restores a backup in one commit, so that other processes keep the store open and receive the changes, and a kill at
// any point leaves either the old state or the new one.

import CPlatform
import KeptSchema
import KeptSecrets
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
  /// or a backup of a later version, and `busy` if others migrate for longer than
  /// the busy timeout: nothing is changed then.
  /// Secrets of a backup are opened with the passphrase, if given, otherwise with the keys of this store, or with
  /// the keys that the backup has. The call throws `denied` for a wrong passphrase, and `unavailable` if no provider
  /// gives the keys. Programs that the backup names are run only if this store has them too. Secrets are stored as this
  /// store keeps them; if no one has decided that, as the backup says; and if that says nothing, the call throws
  /// `unavailable`. It throws `invalid` if encrypted ones would become plain.
  /// - Parameters:
  ///   - path: what ``backup(to:replacing:)`` has written, a file or a folder.
  ///   - passphrase: the passphrase of the store that was copied, if its secrets are encrypted.
  @discardableResult
  public func restore(from path: String, passphrase: String? = nil) throws(StoreError) -> Restored {
    let storage = try storage()
    guard storage.abilities.isSuperset(of: [.atomicBatch, .revisions, .listsKeys]) else {
      throw StoreError(
        .unsupported,
        "this storage cannot list its keys, or cannot change several at once; restore into a store in a folder")
    }
    let secrets = storage as? any SecretStorage
    // This store's own file may be damaged, too.
    let isPlain = try secrets.map { secrets throws(StoreError) in try secrets.secrets.document()?.isPlain == true }
    let backup = try BackupFile(at: path, secrets?.secrets, passphrase: passphrase)
    if backup.hasSealed, isPlain ?? !(storage is MemoryStorage) {
      throw StoreError(
        .invalid,
        "the backup \(path) has encrypted secrets, and this store would have them plain; encrypt its secrets first "
          + "(kept secrets init), or restore into another store")
    }
    let folder = try (storage as? any FolderStorage)?.folder
    guard let turn = try MigrationTurn.take(of: shared, in: folder, waiting: options.patience) else {
      throw StoreError(
        .busy,
        "nothing was restored, because another migration or restore ran until the timeout; try again when it has "
          + "finished")
    }
    defer { turn.end() }
    if let secrets, let document = backup.document, try secrets.secrets.document() == nil {
      try secrets.replace(nil, by: document, backup.keys)
    }
    // A value that is restored as it was is not stored again, and the copy must not have plain ones.
    if let secrets, secrets.secrets.areUnlocked { try secrets.sealAgain() }
    return try replaceContents(by: backup)
  }

  private func replaceContents(by backup: BackupFile) throws(StoreError) -> Restored {
    let storage = try storage()
    let base = try storage.revision()
    let before = storage.abilities.contains(.schemaVersion) ? try storage.schemaVersion() : nil
    let copying = storage as? any FolderStorage
    let aside = base == 0 ? nil : try copying?.setCopyAside(in: "quarantine", "-restored-over")
    let replaced = copying.map { _ in Monitor<(any StoredContents)?>(nil) }
    do throws(StoreError) {
      let commit = try commit("nothing was restored") { () throws(StoreError) in
        try batch(of: backup, replaced, schemaVersion: before != nil)
      }
      let isUnchanged = commit.isEmpty && (before == nil || before == backup.schemaVersion)
      if isUnchanged {
        aside?.remove()
      } else if let replaced = replaced?.read(\.self) {
        // Other writers may have committed after the copy was made.
        try? aside?.update(to: replaced)
      }
      return Restored(revision: commit.revision, quarantine: isUnchanged ? nil : aside?.path)
    } catch {
      // The commit may have succeeded without reaching the disk.
      if let aside, (try? storage.revision()) == base { aside.remove() }
      throw error
    }
  }

  /// - Parameter replaced: receives the replaced contents; nil for a storage that must be told which keys to remove.
  private func batch(
    of backup: BackupFile, _ replaced: Monitor<(any StoredContents)?>?, schemaVersion: Bool
  ) throws(StoreError) -> Batch {
    var batch = newBatch(durability: .durable)
    (batch.isAdmittedAsItIs, batch.replacesDeclarations) = (true, replaced != nil)
    if schemaVersion { batch.schemaVersion = backup.schemaVersion }
    try Allowance.ask(forEntries: 2 * backup.entries.count, to: "restore the backup")
    batch.reserve(backup.entries.count)
    let superseded = superseded(in: backup)
    for keyed in backup.entries {
      let (key, entry) = (keyed.key, keyed.entry)
      let value = superseded.contains(key) ? nil : entry.value
      batch.edit(key, value.map { .set($0) } ?? .remove)
      // Removing the current declaration first allows one of another type.
      if replaced == nil { batch.declare(key, nil) }
      if let declaration = entry.declaration { batch.declare(key, declaration) }
    }
    if let replaced {
      batch.completion = Completion(scope: "", base: nil) { key, _, batch in
        if batch.edits[key] == nil { batch.edit(key, .remove) }
      }
      batch.completion?.noteReplaced = { contents in replaced.update { $0 = contents } }
      return batch
    }
    let present = try storage().entries(in: [.prefix("")])
    batch.conditions = [.unchangedPrefix("", after: present.revision)]
    let restored = Set(backup.entries.map(\.key))
    for key in present.entries.map(\.key) + present.unreadable.map(\.key) where !restored.contains(key) {
      batch.edit(key, .remove)
      batch.declare(key, nil)
    }
    return batch
  }

  /// The older values of keys and their former names: restored in one commit, none would be the newer one.
  ///
  /// A value that does not fit waits for the key, and so does one that is newer than that of another key with the same
  /// former name.
  private func superseded(in backup: BackupFile) -> Set<KeyName> {
    var values: [KeyName: Entry] = [:]
    for keyed in backup.entries where keyed.entry.value != nil { values[keyed.key] = keyed.entry }
    var (superseded, older, needed): (Set<KeyName>, Set<KeyName>, Set<KeyName>) = ([], [], [])
    for keyed in backup.entries {
      guard let declaration = keyed.entry.declaration, let name = declaration.writtenFormerName,
        let own = values[keyed.key], let former = values[name]
      else { continue }
      if isNewer(own, than: former) { older.insert(name) }
      guard isNewer(former, than: own) else { continue }
      needed.insert(name)
      if former.value.flatMap({ try? declaration.admitted($0, hidden: true) }) != nil { superseded.insert(keyed.key) }
    }
    return superseded.union(older.subtracting(needed))
  }
}
