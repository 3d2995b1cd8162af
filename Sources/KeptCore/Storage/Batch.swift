// What a commit is asked to do, and what it did.

/// What a commit survives when it has returned.
public enum Durability: Sendable, Hashable {
  /// Every process reads it, and it survives `kill -9` of every process.
  case shared
  /// It survives power loss too: it is synced before the call returns, also when it changed nothing.
  case durable
}

/// Edits that are applied together or not at all.
public struct Batch: Sendable {
  /// What is to become of the values of keys.
  public private(set) var edits = Edits()
  /// What keys are to be declared as; nil takes a declaration away.
  public private(set) var declarations: [KeyName: Declaration?] = [:]
  /// Whose declaration is taken away first: those may be declared with another type.
  public private(set) var undeclared: Set<KeyName> = []
  /// The schema version that the store is to have; nil: the one that it has.
  ///
  /// Needs `schemaVersion`.
  public var schemaVersion: UInt32?
  /// What must hold, or nothing is applied.
  public var conditions: [Condition] = []
  public var durability: Durability
  /// How long it waits for other writers before it throws `busy`, in milliseconds; nil: as long as the storage was
  /// opened with.
  public var busyTimeoutMilliseconds: Int?
  /// That time-out as it counts.
  var patience: Int? { busyTimeoutMilliseconds.map { StoreOptions.patience(milliseconds: $0) } }
  /// Its values are kept also where they do not fit what is declared: they were stored like that before.
  package var isAdmittedAsItIs = false
  /// What the patterns of all values may take; nil: as much for each of them.
  var patterns: Pattern.Pool?
  /// Who commits it.
  public var author = Author()

  public enum Edit: Sendable, Hashable {
    case set(Value)
    case remove
  }

  public init(durability: Durability = .shared) { self.durability = durability }

  /// Adds an edit; the last one for a key counts.
  public mutating func edit(_ key: KeyName, _ edit: Edit) { edits.put(key, edit) }

  /// Makes room for so many edits.
  mutating func reserve(_ count: Int) { edits.reserve(count) }

  /// Declares a key, or takes its declaration away; the last one for a key counts.
  public mutating func declare(_ key: KeyName, _ declaration: Declaration?) {
    declarations.updateValue(declaration, forKey: key)
    if declaration == nil { undeclared.insert(key) }
  }

  /// What it asks for about one key.
  struct Part {
    fileprivate let edit: Edit?
    fileprivate let declaration: Declaration??
    fileprivate let isUndeclared: Bool
  }

  func part(of key: KeyName) -> Part {
    Part(edit: edits[key], declaration: declarations[key], isUndeclared: undeclared.contains(key))
  }

  /// Asks for that again, and for nothing else about the key.
  mutating func putBack(_ part: Part, of key: KeyName) {
    if let edit = part.edit { edits.put(key, edit) } else { edits.remove(key) }
    if let declaration = part.declaration {
      declarations.updateValue(declaration, forKey: key)
    } else {
      declarations.removeValue(forKey: key)
    }
    if !part.isUndeclared { undeclared.remove(key) }
  }

  /// Whether it asks for nothing.
  public var isEmpty: Bool { edits.isEmpty && declarations.isEmpty && schemaVersion == nil }

  /// The keys that it concerns, in the order of their bytes.
  var keys: [KeyName] {
    var keys = edits.map(\.key)
    if !declarations.isEmpty { keys += declarations.keys.filter { edits[$0] == nil } }
    return keys.inOrder(of: \.exact)
  }
}

/// Who commits: notices tell observers.
public struct Author: Sendable, Hashable {
  /// What the writer calls itself, for other processes too.
  public var tag: String?
  /// The handle, within this process.
  package var handle: ObjectIdentifier?

  public init(tag: String? = nil) { self.tag = tag }
}

/// What a commit relies on.
public enum Condition: Sendable, Hashable {
  /// The key has a value with exactly this revision; 0: it has no value.
  case revision(KeyName, Revision)
  /// Nothing happened to the key after the revision.
  case unchanged(KeyName, after: Revision)
  /// Nothing happened to any key with the prefix after the revision.
  case unchangedPrefix(ExactString, after: Revision)
  /// The store has exactly this schema version; 0: none.
  case schemaVersion(UInt32)
}

/// What a commit did.
public struct Commit: Sendable, Hashable {
  /// The store's revision after it.
  public var revision: Revision
  /// The keys it changed, in the order of their bytes; empty when everything was so already.
  public var changes: [StoredChange]

  public init(revision: Revision, changes: [StoredChange]) {
    self.revision = revision
    self.changes = changes
  }
}

/// What a commit did to one key.
public struct StoredChange: Sendable, Hashable {
  public var key: KeyName
  /// What the storage held of it before; nil: nothing.
  public var old: Entry?
  /// What it holds of it now.
  public var new: Entry

  public init(key: KeyName, old: Entry?, new: Entry) {
    self.key = key
    self.old = old
    self.new = new
  }

  /// Whether the value is another, and not only what the key is declared as.
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
