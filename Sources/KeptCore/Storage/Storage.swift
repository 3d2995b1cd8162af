// The contract of a storage backend. The conformance suite (Tests/unit/KeptCoreTests/Storage/) runs for every
// storage; what it tests is the contract.

public import KeptSchema
public import KeptValues

/// A backend: it stores keys with their values and revisions, and commits several at once.
///
/// A storage may be called from any thread at any time. A call that it does not support (see ``abilities``) throws
/// `unsupported`; after ``close()`` every call throws `closed`.
public protocol Storage: AnyObject, Sendable {
  /// The optional features of this storage; they never change.
  var abilities: StorageAbilities { get }

  /// The stored value and the declaration of a key now; nil if it is neither stored nor declared.
  func entry(for key: KeyName) throws(StoreError) -> Entry?

  /// The keys that begin with a text, all at one revision, in byte order.
  ///
  /// Needs `listsKeys`.
  func keys(prefix: ExactString) throws(StoreError) -> [KeyName]

  /// The stored and declared entries in some scopes, and the store's revision at that time.
  ///
  /// The entries are in no order, and exclude removals. Entries that cannot be read are listed with the reason; for a
  /// scope of one key a storage may throw it instead.
  func entries(in scopes: [Scope]) throws(StoreError) -> StoredEntries

  /// The declared keys that begin with a text, in byte order.
  ///
  /// Needs `declarations`.
  func declarations(prefix: ExactString) throws(StoreError) -> [(key: KeyName, declaration: Declaration)]

  /// The store's revision now.
  func revision() throws(StoreError) -> Revision

  /// The schema version, which programs assign to the shape of the stored data; 0 for none.
  ///
  /// Needs `schemaVersion`.
  func schemaVersion() throws(StoreError) -> UInt32

  /// Applies a batch, all of it or nothing, if its conditions hold; otherwise throws `conflict`.
  ///
  /// ``Batch/change(of:from:at:)`` determines the effect on each key, and the refusals. Edits that leave a key as it
  /// was are not changes. A batch without a change creates no revision; a durable batch is synced even then.
  func commit(_ batch: Batch) throws(StoreError) -> Commit

  /// The changes after a revision, or `tooOld` if everything must be read again.
  func changes(after revision: Revision) throws(StoreError) -> ChangesAfter

  /// A number for detecting commits: while it is even and unchanged, nothing was committed; if it is odd, read the
  /// storage.
  ///
  /// It is cheap enough to check on every read. A storage that cannot determine it always returns 1.
  var generation: UInt64 { get }

  /// Blocks until there is a commit newer than `revision`, and returns true.
  ///
  /// Returns false once ``interruptWaiting()`` is called or the storage is closed. Needs `pushesChanges`. It may return
  /// true when the generation has changed without a commit: ``changes(after:)`` returns the actual changes.
  func wait(after revision: Revision) throws(StoreError) -> Bool

  /// Makes one ``wait(after:)`` return false: a running one, or else the next.
  func interruptWaiting()

  /// A note if the stored data was found damaged and this has not been acknowledged yet; values may be missing.
  func salvaged() throws(StoreError) -> SalvageNote?

  /// Records that a person or a program has dealt with the loss.
  func acknowledgeSalvage() throws(StoreError)

  /// Syncs every commit that has returned to the disk.
  func flush() throws(StoreError)

  /// Ends the use of this object; commits stay stored. Closing twice has no further effect.
  func close()
}

extension Storage {
  /// The default implementation for storages without declarations: an empty list.
  public func declarations(prefix: ExactString) throws(StoreError) -> [(key: KeyName, declaration: Declaration)] { [] }

  /// The default implementation for storages without a schema version.
  public func schemaVersion() throws(StoreError) -> UInt32 {
    throw StoreError(
      .unsupported, "this storage does not support schema versions; use a store in a folder for migrations")
  }

  /// The default implementation for storages that recover nothing: nil.
  public func salvaged() throws(StoreError) -> SalvageNote? { nil }

  /// The default implementation for storages that recover nothing: no effect.
  public func acknowledgeSalvage() throws(StoreError) {}

  /// Whether there are neither values nor declarations.
  func holdsNothing() throws(StoreError) -> Bool {
    if try (self as? any MarkingStorage)?.surelyHasKeys() == true { return false }
    guard try keys(prefix: "").isEmpty else { return false }
    return try declarations(prefix: "").isEmpty
  }
}

/// The optional features of a storage.
public struct StorageAbilities: OptionSet, Sendable {
  public let rawValue: Int
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Other processes that open the same location see the same values.
  public static let sharedBetweenProcesses = StorageAbilities(rawValue: 1 << 0)
  /// A batch of several keys is applied atomically.
  public static let atomicBatch = StorageAbilities(rawValue: 1 << 1)
  /// Keys have revisions, and a batch can have conditions on them.
  public static let revisions = StorageAbilities(rawValue: 1 << 2)
  /// A durable commit survives power loss.
  public static let durable = StorageAbilities(rawValue: 1 << 3)
  /// ``Storage/wait(after:)`` works.
  public static let pushesChanges = StorageAbilities(rawValue: 1 << 4)
  /// Keys can be declared, and a commit is checked against the declarations.
  public static let declarations = StorageAbilities(rawValue: 1 << 5)
  /// Keys can be listed, and read by prefix.
  public static let listsKeys = StorageAbilities(rawValue: 1 << 6)
  /// The store keeps a schema version, which a batch can change and have conditions on.
  public static let schemaVersion = StorageAbilities(rawValue: 1 << 7)
}

/// A storage's entry for a key.
public struct Entry: Sendable, Hashable {
  /// The value; nil if the key was removed, or is only declared.
  public var value: Value?
  /// The revision that last changed the value; 0 if there never was one.
  public var revision: Revision
  /// The declaration of the key; nil if it may hold any value.
  public var declaration: Declaration?

  public init(value: Value?, revision: Revision, declaration: Declaration? = nil) {
    self.value = value
    self.revision = revision
    self.declaration = declaration
  }
}

/// The entries of a storage in some scopes at one revision.
public struct StoredEntries: Sendable {
  /// The entries that can be read.
  public var entries: [KeyedEntry]
  /// The stored entries that cannot be read: none of these keys is in `entries`, and none is absent.
  public var unreadable: [UnreadableEntry]
  public var revision: Revision

  public init(entries: [KeyedEntry], unreadable: [UnreadableEntry] = [], revision: Revision) {
    self.entries = entries
    self.unreadable = unreadable
    self.revision = revision
  }
}

/// A key whose value cannot be read.
public struct UnreadableEntry: Sendable {
  public var key: KeyName
  /// The reason; it names the key.
  public var reason: StoreError
  /// The revision that last changed the value; 0 if it is unknown.
  public var revision: Revision
  /// The declaration of the key; nil if it may hold any value.
  public var declaration: Declaration?

  public init(key: KeyName, reason: StoreError, revision: Revision = 0, declaration: Declaration? = nil) {
    self.key = key
    self.reason = reason
    self.revision = revision
    self.declaration = declaration
  }
}

/// The changes after a revision.
public enum ChangesAfter: Sendable, Hashable {
  case changed(Delta)
  /// The changes are no longer available, or the revision is not from this store: treat everything as changed and read
  /// it again.
  case tooOld
}

/// Changes that lead from one revision to another.
public struct Delta: Sendable, Hashable {
  /// The changed keys, each with its entry at revision `upTo`, ordered by revision and then by key.
  public var entries: [KeyedEntry]
  public var upTo: Revision
  /// The tag that the writers of all these commits set; nil if they differ.
  public var tag: String?
  /// When the last of these commits was made, by the wall clock; nil to tell observers when it was noticed.
  public var time: Timestamp?
  /// Whether the storage no longer knows each commit, so that changes of a key may have been merged.
  public var mayHaveMissed = false

  public init(_ entries: [KeyedEntry], upTo: Revision, tag: String? = nil, time: Timestamp? = nil) {
    self.entries = entries
    self.upTo = upTo
    self.tag = tag
    self.time = time
  }
}

/// A key and its entry.
public struct KeyedEntry: Sendable, Hashable {
  public var key: KeyName
  public var entry: Entry

  public init(key: KeyName, entry: Entry) {
    self.key = key
    self.entry = entry
  }
}
