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
  /// What is to become of each key.
  public private(set) var edits: [KeyName: Edit] = [:]
  /// What must hold, or nothing is applied.
  public var conditions: [Condition] = []
  public var durability: Durability
  /// Who commits it.
  public var author = Author()

  public enum Edit: Sendable, Hashable {
    case set(Value)
    case remove
  }

  public init(durability: Durability = .shared) { self.durability = durability }

  /// Adds an edit; the last one for a key counts.
  public mutating func edit(_ key: KeyName, _ edit: Edit) { edits[key] = edit }

  /// The edits in the order of their keys' bytes.
  var inOrder: [(key: KeyName, edit: Edit)] {
    Array(edits).inOrder { $0.key.exact }.map { ($0.key, $0.value) }
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
}

/// What a commit did.
public struct Commit: Sendable, Hashable {
  /// The store's revision after it.
  public var revision: Revision
  /// The keys it changed, in the order of their bytes; empty when everything was so already.
  public var changes: [Change]

  public init(revision: Revision, changes: [Change]) {
    self.revision = revision
    self.changes = changes
  }
}

/// One key's old and new value in a commit.
public struct Change: Sendable, Hashable {
  public var key: KeyName
  /// nil: the key had no value.
  public var old: Value?
  /// nil: the key was removed.
  public var new: Value?

  public init(key: KeyName, old: Value?, new: Value?) {
    self.key = key
    self.old = old
    self.new = new
  }
}

extension Batch.Edit {
  /// The value after the edit; nil after a removal.
  var value: Value? {
    switch self {
    case .set(let value): value
    case .remove: nil
    }
  }
}
