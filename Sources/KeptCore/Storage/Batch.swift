// The request for a commit, and its result.

import KeptEngine
public import KeptSchema
import KeptSystem
public import KeptValues

/// The failures that a commit survives after it has returned.
public enum Durability: Sendable, Hashable {
  /// Every process reads the commit, and it survives `kill -9` of every process.
  case shared
  /// The commit also survives power loss: it is synced before the call returns, even if it changed nothing.
  case durable
}

/// Edits that are applied together or not at all.
public struct Batch: Sendable {
  /// The edits of keys' values.
  public private(set) var edits = KeyTable<Edit>()
  /// The new declarations of keys; nil removes a declaration.
  public private(set) var declarations: [KeyName: Declaration?] = [:]
  /// Keys whose declaration is removed first, so that they may be declared with another type.
  public private(set) var undeclared: Set<KeyName> = []
  /// The new schema version of the store; nil leaves it unchanged.
  ///
  /// Needs `schemaVersion`.
  public var schemaVersion: UInt32?
  /// The conditions that must hold; otherwise nothing is applied.
  public var conditions: [Condition] = []
  /// The keys that the listing of a condition ``Condition/unchangedPrefix(_:after:)`` has found, in byte order.
  ///
  /// A storage may take the condition to hold if the same keys have a value: other conditions have the keys that were
  /// read.
  var listed: [ExactString: [KeyName]] = [:]
  public var durability: Durability
  /// How long the commit waits for other writers before it throws `busy`, in milliseconds; nil for the storage's own
  /// timeout.
  public var busyTimeoutMilliseconds: Int?
  /// The effective timeout.
  var patience: Int? { busyTimeoutMilliseconds.map { BusyTimeout.effective(milliseconds: $0) } }
  /// Whether values are accepted even if they do not fit their declaration, because they were stored like that before.
  package var isAdmittedAsItIs = false
  /// The requests that depend on what is stored at the commit; only for a storage in a folder.
  var completion: Completion?
  /// Whether keys without a declaration in the batch lose theirs.
  var replacesDeclarations = false
  /// The list that the batch declares completely; only for a storage in a folder.
  var list: DeclaredList?
  /// The steps that the patterns of all values may use together; nil if each value has its own limit.
  var patterns: Pattern.Pool?
  /// The author of the commit.
  public var author = Author()

  public enum Edit: Sendable, Hashable {
    case set(Value)
    case remove
  }

  public init(durability: Durability = .shared) { self.durability = durability }

  /// Adds an edit; the last one for a key applies.
  public mutating func edit(_ key: KeyName, _ edit: consuming Edit) { edits.put(key, edit) }

  /// Sets the values of keys, in place of all other edits.
  mutating func set(_ values: KeyTable<Value>) { edits = values.mapValues { .set($0) } }

  /// Reserves room for a number of edits.
  mutating func reserve(_ count: Int) { edits.reserve(count) }

  /// Declares a key, or removes its declaration; the last call for a key applies.
  public mutating func declare(_ key: KeyName, _ declaration: Declaration?) {
    declarations.updateValue(declaration, forKey: key)
    if declaration == nil { undeclared.insert(key) }
  }

  /// The batch's requests for one key.
  struct Part {
    fileprivate let edit: Edit?
    fileprivate let declaration: Declaration??
    fileprivate let isUndeclared: Bool
  }

  func part(of key: KeyName) -> Part {
    Part(edit: edits[key], declaration: declarations[key], isUndeclared: undeclared.contains(key))
  }

  /// Restores the requests for a key, discarding later ones.
  mutating func putBack(_ part: Part, of key: KeyName) {
    if let edit = part.edit {
      edits.put(key, edit)
    } else {
      edits.remove(key)
    }
    if let declaration = part.declaration {
      declarations.updateValue(declaration, forKey: key)
    } else {
      declarations.removeValue(forKey: key)
    }
    if part.isUndeclared { undeclared.insert(key) } else { undeclared.remove(key) }
  }

  /// A batch with the requests for some keys alone.
  func requests(of keys: Set<KeyName>) -> Batch {
    var part = self
    (part.edits, part.declarations, part.undeclared) = (KeyTable(), [:], [])
    for key in keys { part.putBack(self.part(of: key), of: key) }
    return part
  }

  /// Takes over the requests for keys from another batch.
  mutating func takeRequests(of other: Batch) {
    (edits, declarations, undeclared) = (other.edits, other.declarations, other.undeclared)
  }

  /// Whether the batch requests nothing.
  public var isEmpty: Bool { edits.isEmpty && declarations.isEmpty && schemaVersion == nil && completion == nil }

  /// Whether it requests nothing but edits, which declarations must admit.
  var hasOnlyEdits: Bool {
    declarations.isEmpty && list == nil && schemaVersion == nil && completion == nil && !replacesDeclarations
      && !isAdmittedAsItIs
  }

  /// The affected keys, in byte order, with their edits.
  var requests: [(key: KeyName, edit: Edit?)] {
    var requests = edits.map { (key: $0.key, edit: Optional($0.value)) }
    for key in declarations.keys where edits[key] == nil { requests.append((key, nil)) }
    return requests.inOrder(of: \.key.exact)
  }

  /// The affected keys, in byte order.
  var keys: [KeyName] { requests.map(\.key) }
}

/// What a batch requests for keys that it may not name.
struct Completion: Sendable {
  /// The prefix of these keys.
  let scope: ExactString
  /// The keys that have changed since this revision are completed; nil for all keys that are stored.
  let base: Revision?
  /// Adds the requests for a key to a batch.
  let add: @Sendable (KeyName, _ stored: Stored, inout Batch) throws(StoreError) -> Void
  /// The entry of a key before the commit, and whether it has a value, which may be one that cannot be read.
  typealias Stored = () throws(StoreError) -> (entry: Entry?, hasValue: Bool)
  /// Receives the contents before the commit.
  var noteReplaced: (@Sendable (any StoredContents) -> Void)?
}

/// The author of a commit, as notices report it to observers.
public struct Author: Sendable, Hashable {
  /// The tag of the writer, also for other processes.
  public var tag: String?
  /// The handle, within this process.
  package var handle: ObjectIdentifier?

  public init(tag: String? = nil) { self.tag = tag }
}

/// A condition that a commit depends on.
public enum Condition: Sendable, Hashable {
  /// The key has a value with exactly this revision; 0 if it has no value.
  case revision(KeyName, Revision)
  /// The key has not changed after the revision.
  case unchanged(KeyName, after: Revision)
  /// No key with the prefix has changed after the revision.
  case unchangedPrefix(ExactString, after: Revision)
  /// The store has exactly this schema version; 0 for none.
  case schemaVersion(UInt32)
}

/// The result of a commit.
public struct Commit: Sendable, Hashable {
  /// The store's revision after it.
  public var revision: Revision
  /// When it was made, by the wall clock; nil to tell observers when it was noticed.
  public var time: Timestamp?
  private var listed: [StoredChange]
  private var later: (any LaterChanges)?

  public init(revision: Revision, changes: [StoredChange], time: Timestamp? = nil) {
    (self.revision, listed, self.time) = (revision, changes, time)
  }

  init(revision: Revision, changes: any LaterChanges, time: Timestamp?) {
    (self.revision, listed, later, self.time) = (revision, [], changes, time)
  }

  /// The changed keys, in byte order; empty when the commit changed nothing.
  public var changes: [StoredChange] {
    get { later?.list() ?? listed }
    set { (listed, later) = (newValue, nil) }
  }

  /// How many keys it has changed.
  public var count: Int { later?.count ?? listed.count }
  public var isEmpty: Bool { count == 0 }

  /// Whether one of them may have a declaration.
  var hasDeclarations: Bool { later?.hasDeclarations ?? true }

  public static func == (a: Commit, b: Commit) -> Bool {
    a.revision == b.revision && a.time == b.time && a.changes == b.changes
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(revision) }
}

/// The changes of many keys, whose list takes longer than the commit.
protocol LaterChanges: AnyObject, Sendable {
  var count: Int { get }
  /// Whether one of the keys may have a declaration.
  var hasDeclarations: Bool { get }
  /// The list, which is made by the first call.
  func list() -> [StoredChange]
}

/// The change that a commit made to one key.
public struct StoredChange: Sendable, Hashable {
  public var key: KeyName
  /// The storage's entry for the key before; nil if there was none.
  public var old: Entry?
  /// The storage's entry for the key now.
  public var new: Entry

  public init(key: KeyName, old: Entry?, new: Entry) {
    self.key = key
    self.old = old
    self.new = new
  }

  /// Whether the value changed, and not only the declaration.
  var isOfValue: Bool { new.revision != old?.revision ?? 0 }
}

extension Batch.Edit {
  /// The value after the edit; nil after a removal.
  package var value: Value? {
    switch self {
    case .set(let value): value
    case .remove: nil
    }
  }
}
