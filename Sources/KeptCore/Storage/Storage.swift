// One contract with many twins: what a backend must do so that a store can stand on it.
// The conformance suite (Tests/KeptCoreTests/Storage/) runs for every storage; what it tests is the contract.

/// The store's count of commits: 1 for the first.
///
/// Every key remembers the revision that last changed it. 0 is "never".
public typealias Revision = UInt64

/// A backend: it keeps keys with their values and revisions, and commits many at once.
///
/// A storage may be called from any thread at any time. What it cannot do (see ``abilities``) it answers with
/// `unsupported`; after ``close()`` everything answers `closed`.
public protocol Storage: AnyObject, Sendable {
  /// What this storage can do; it never changes.
  var abilities: StorageAbilities { get }

  /// What is stored under a key now, and what it is declared as; nil if it is neither stored nor declared.
  func entry(for key: KeyName) throws(StoreError) -> Entry?

  /// The keys that begin with a text, as they are at one moment, in the order of their bytes. Needs `listsKeys`.
  func keys(prefix: ExactString) throws(StoreError) -> [KeyName]

  /// What is stored and declared in some scopes, and the store's revision at that moment; in no order, and without
  /// removals.
  ///
  /// What cannot be read is named with the reason; of a scope of one key a storage may throw it.
  func entries(in scopes: [Scope]) throws(StoreError) -> StoredEntries

  /// The keys that begin with a text and are declared, in the order of their bytes. Needs `declarations`.
  func declarations(prefix: ExactString) throws(StoreError) -> [(key: KeyName, declaration: Declaration)]

  /// The store's revision now.
  func revision() throws(StoreError) -> Revision

  /// The number that programs have given to the shape of what is stored; 0: none. Needs `schemaVersion`.
  func schemaVersion() throws(StoreError) -> UInt32

  /// Applies a batch, all of it or nothing, if its conditions hold; otherwise throws `conflict`.
  ///
  /// What becomes of each key, and what is refused, says ``Batch/change(of:from:at:)``. Edits that leave a key as it
  /// was are no change; a batch without a change makes no revision. A durable batch is synced also then.
  func commit(_ batch: Batch) throws(StoreError) -> Commit

  /// What changed since a revision, or "too old": read everything again.
  func changes(after revision: Revision) throws(StoreError) -> ChangesAfter

  /// Even and unchanged: nothing was committed since it was last asked. Odd: ask the storage itself.
  ///
  /// It is cheap enough to ask on every read. A storage that cannot know answers 1 at all times.
  var generation: UInt64 { get }

  /// Blocks until there is a commit newer than `revision`, and returns true; or until ``interruptWaiting()`` is called
  /// or the storage is closed, and returns false. Needs `pushesChanges`. It may return true when the generation has
  /// moved without a commit: ``changes(after:)`` says what there is.
  func wait(after revision: Revision) throws(StoreError) -> Bool

  /// Makes one ``wait(after:)`` return false: one that runs now, or else the next.
  func interruptWaiting()

  /// Whether what is stored was found damaged, and nobody has acknowledged yet that values may be missing.
  func salvaged() throws(StoreError) -> SalvageNote?

  /// Says that a person or a program has seen to what was lost.
  func acknowledgeSalvage() throws(StoreError)

  /// Syncs every commit that has returned to the disk.
  func flush() throws(StoreError)

  /// Ends the use of this object; what was committed stays. Closing twice is fine.
  func close()
}

extension Storage {
  /// For storages that keep no declarations: none.
  public func declarations(prefix: ExactString) throws(StoreError) -> [(key: KeyName, declaration: Declaration)] { [] }

  /// For storages that keep none.
  public func schemaVersion() throws(StoreError) -> UInt32 {
    throw StoreError(.unsupported, "this storage keeps no schema version; use a store in a folder for migrations")
  }

  /// For storages that salvage nothing: nil.
  public func salvaged() throws(StoreError) -> SalvageNote? { nil }

  /// For storages that salvage nothing: there is nothing to do.
  public func acknowledgeSalvage() throws(StoreError) {}
}

/// What a storage can do beyond keeping values.
public struct StorageAbilities: OptionSet, Sendable {
  public let rawValue: Int
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Other processes that open the same location see the same values.
  public static let sharedBetweenProcesses = StorageAbilities(rawValue: 1 << 0)
  /// A batch of several keys is applied all or nothing.
  public static let atomicBatch = StorageAbilities(rawValue: 1 << 1)
  /// Keys have revisions, and a batch can expect them.
  public static let revisions = StorageAbilities(rawValue: 1 << 2)
  /// A durable commit survives power loss.
  public static let durable = StorageAbilities(rawValue: 1 << 3)
  /// ``Storage/wait(after:)`` works.
  public static let pushesChanges = StorageAbilities(rawValue: 1 << 4)
  /// Keys can be declared, and a commit is checked against the declarations.
  public static let declarations = StorageAbilities(rawValue: 1 << 5)
  /// Keys can be listed, and be read by prefix.
  public static let listsKeys = StorageAbilities(rawValue: 1 << 6)
  /// The store keeps a schema version, which a batch can expect and change.
  public static let schemaVersion = StorageAbilities(rawValue: 1 << 7)
}

/// What a storage holds of a key.
public struct Entry: Sendable, Hashable {
  /// The value; nil where the key was removed, or is only declared.
  public var value: Value?
  /// The revision that last changed the value; 0 where there never was one.
  public var revision: Revision
  /// What the key is declared as; nil: it may hold anything.
  public var declaration: Declaration?

  public init(value: Value?, revision: Revision, declaration: Declaration? = nil) {
    self.value = value
    self.revision = revision
    self.declaration = declaration
  }
}

/// What a storage holds in some scopes at one moment.
public struct StoredEntries: Sendable {
  /// What can be read.
  public var entries: [KeyedEntry]
  /// What is stored and cannot be read: none of these keys is among the entries, and none is absent.
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
  /// Why; it names the key.
  public var reason: StoreError
  /// The revision that last changed the value; 0 where that is not known.
  public var revision: Revision
  /// What the key is declared as; nil: it may hold anything.
  public var declaration: Declaration?

  public init(key: KeyName, reason: StoreError, revision: Revision = 0, declaration: Declaration? = nil) {
    self.key = key
    self.reason = reason
    self.revision = revision
    self.declaration = declaration
  }
}

/// What came after a revision.
public enum ChangesAfter: Sendable, Hashable {
  case changed(Delta)
  /// Changes of that age are forgotten, or the revision is none of this store's: take everything as changed and read
  /// again.
  case tooOld
}

/// Changes that lead from one revision to another.
public struct Delta: Sendable, Hashable {
  /// The keys that changed, each as it is at revision `upTo`, ordered by revision and then by key.
  public var entries: [KeyedEntry]
  public var upTo: Revision
  /// What the writers of all these commits call themselves; nil where they do not agree.
  public var tag: String?

  public init(_ entries: [KeyedEntry], upTo: Revision, tag: String? = nil) {
    self.entries = entries
    self.upTo = upTo
    self.tag = tag
  }
}

/// A key and what is known of it.
public struct KeyedEntry: Sendable, Hashable {
  public var key: KeyName
  public var entry: Entry

  public init(key: KeyName, entry: Entry) {
    self.key = key
    self.entry = entry
  }
}
