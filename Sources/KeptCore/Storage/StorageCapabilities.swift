// The capabilities of a storage beyond the contract of Storage. Callers query it with `as?`, and have a general way for
// storages without it.

import KeptEngine
import KeptSecrets
import KeptValues

/// A storage that can copy its files, which is faster than entry by entry.
protocol CopyableStorage: Storage {
  /// Copies one consistent state into an existing empty file, which becomes a store of its own.
  ///
  /// - Returns: the revision of the copy.
  func copy(into draft: StoreFile) throws(StoreError) -> Revision
}

/// A storage whose files can be checked without reading what they hold.
protocol VerifiableStorage: Storage {
  /// Returns damage of its files, which is `corrupt`; nil if there is none.
  func damage() throws(StoreError) -> StoreError?
}

/// A storage with a folder of its own: migrating and restoring lock the file `migration` in it, and put copies there.
protocol FolderStorage: CopyableStorage {
  /// The folder; it never changes.
  var folder: StoreFolder { get throws(StoreError) }

  /// Looks whether the folder is in place; if it is not, the next call fails, and ``Storage/wait(after:)`` at once.
  func checkPlace()
}

/// A storage that keeps the values that its commits have replaced.
protocol HistoricalStorage: Storage {
  /// Returns the past changes in a scope, with those of every commit from before the call.
  func history(in scope: Scope) throws(StoreError) -> History

  /// Returns the same, and the entries that the last of these changes have led to.
  func historyAndEntries(in scope: Scope) throws(StoreError) -> (History, StoredEntries)

  /// The limits of the history.
  func historyLimits() throws(StoreError) -> HistoryLimits

  /// Sets the limits of the history, for all programs.
  func set(_ limits: HistoryLimits) throws(StoreError)
}

/// A storage that may encrypt secrets.
protocol SecretStorage: Storage {
  var secrets: StoreSecrets { get }

  /// Replaces what the file `secrets` says, unless another process has.
  ///
  /// - Parameter keys: the data keys of the new document; nil to keep those that are known.
  func replace(_ document: SecretsDocument?, by new: SecretsDocument, _ keys: DataKeys?) throws(StoreError)

  /// How many secrets and old secrets are plain, or sealed with a data key that is not the current one.
  func plainCount(_ document: SecretsDocument?) throws(StoreError) -> Int

  /// Seals these secrets again, and forgets the data keys that no secret needs.
  ///
  /// The process may be killed at any point: every secret can be read, and the next call goes on.
  func sealAgain() throws(StoreError)
}

/// A storage that marks the lists of declarations that it has.
protocol MarkingStorage: Storage {
  /// Whether the store has declared the keys that a text lists, and its values fit.
  func hasDeclared(_ list: UnsafeRawBufferPointer) throws(StoreError) -> Bool

  /// What the store marks the text of a list with, once it has declared the keys.
  func mark(of list: String) throws(StoreError) -> DeclaredList

  /// Whether there are keys, as far as that is known without a list of them.
  func surelyHasKeys() throws(StoreError) -> Bool
}
