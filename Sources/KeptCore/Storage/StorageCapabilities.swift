// What a storage may offer beyond the contract of Storage. Callers query it with `as?`, and have a general way for
// storages without it.

/// A storage that keeps an index in memory, from which handles read, also through views of their own.
protocol IndexedStorage: Storage {
  /// The index of what is stored; it is the same one until the storage is deinitialized.
  var currentIndex: CurrentIndex { get }

  /// The address of the generation, for caches that make no calls while it stands still.
  var generationAddress: UnsafePointer<UInt64> { get }

  /// Reads a key as ``Storage/entry(for:)`` does, and puts it into the index and a view.
  func entry(for key: KeyName, view: IndexView?) throws(StoreError) -> Entry?

  /// Puts keys into the index; those that this fails for are read when they are asked for.
  func load(_ keys: [KeyName])

  /// Sets how a view reads from now on, empties it, and keeps it up to date.
  func show(_ reading: any EntryReading, in view: IndexView)

  /// Removes a view; nothing in it is current afterwards.
  func remove(_ view: IndexView)
}

/// A storage that can keep other writers out while a batch is made.
protocol ExclusiveStorage: Storage {
  /// Commits what `make` returns, which nobody can have overtaken.
  ///
  /// `make` may read the storage; it must not call a program, and must not write.
  func commit(
    waiting milliseconds: Int, making make: () throws(StoreError) -> Batch
  ) throws(StoreError) -> Commit
}

/// A storage that can copy its database, which is faster than entry by entry.
protocol CopyableStorage: Storage {
  /// Copies one consistent state of the database into an existing empty file.
  func copy(into draft: String) throws(StoreError)
}

/// A storage whose files can be checked without reading what they hold.
protocol VerifiableStorage: Storage {
  /// Returns damage of its files, which is `corrupt`; nil if there is none.
  func damage() throws(StoreError) -> StoreError?

  /// The other processes that read the database at this moment, as far as is known.
  func readers() -> [Int32]
}

/// A storage with a folder of its own: migrating and restoring lock the file `migration` in it, and put copies there.
protocol FolderStorage: CopyableStorage {
  /// The folder; it never changes.
  var folder: StoreFolder { get }

  /// Looks whether the folder is in place; if it is not, the next call fails, and ``Storage/wait(after:)`` at once.
  func checkPlace()
}

/// A storage that keeps what its commits have replaced.
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
