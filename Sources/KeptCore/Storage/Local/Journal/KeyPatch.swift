// The changes of a key by frames that are not in the database yet.

import KeptSchema
import KeptValues

/// The last changes of one key in some frames, without what they left as it was.
struct KeyPatch {
  /// The new value and its revision, or nil if the value was not changed.
  var value: (new: PatchedValue, revision: Revision)?
  /// The revision of the first change of the value.
  var first: Revision = 0
  /// Whether changes of it were folded that leave parts of their commits.
  var isTorn = false
  /// The new declaration, or nil if it was not changed; the inner nil removes it.
  var declaration: Declaration??
  /// The revision of the last change of any kind.
  var revision: Revision = 0

  /// Returns the entry of the key after these changes.
  ///
  /// - Parameter staged: returns the value of a body in the database, which a revision gave to the key.
  func applied(
    to old: Entry?, _ staged: (StagedBody, Revision) throws(StoreError) -> Value?
  ) throws(StoreError) -> Entry {
    var entry = old ?? Entry(value: nil, revision: 0)
    if let value {
      entry.revision = value.revision
      switch value.new {
      case .removed: entry.value = nil
      case .inline(let new): entry.value = new
      case .staged(let body): entry.value = try staged(body, value.revision)
      }
    }
    if let declaration { entry.declaration = declaration }
    return entry
  }
}

/// A value in a frame.
enum PatchedValue {
  case removed
  case inline(Value)
  case staged(StagedBody)
}

/// The id of a row of the table `body`, which never changes.
typealias StagedBody = UInt64

/// The changes of a sequence of frames.
struct JournalPatches {
  private(set) var keys = KeyTable<KeyPatch>()
  private(set) var schemaVersion: UInt32?
  /// The bodies of values that were replaced before they were settled.
  private(set) var superseded: [StagedBody] = []
  /// Changes of many keys, with their revision; they come after all others.
  private(set) var bulk: (id: StagedBody, revision: Revision)?
  private var allowance = Allowance()

  subscript(key: KeyName) -> KeyPatch? { keys[key] }

  subscript(key: PreparedBytes) -> KeyPatch? { keys[key] }

  func filter(_ isIncluded: ((key: KeyName, value: KeyPatch)) -> Bool) -> [KeyName: KeyPatch] {
    Dictionary(uniqueKeysWithValues: keys.lazy.filter(isIncluded).map { ($0.key, $0.value) })
  }

  mutating func removeAll() {
    self = JournalPatches()
  }

  /// Adds later changes of a key.
  mutating func add(_ later: KeyPatch, _ key: KeyName) {
    var patch = keys[key] ?? KeyPatch()
    if let value = later.value {
      if patch.value == nil { patch.first = later.first }
      patch.value = value
    }
    if let declaration = later.declaration { patch.declaration = declaration }
    patch.revision = later.revision
    keys.put(key, patch)
  }

  mutating func remove(_ key: KeyName) { keys.remove(key) }

  /// Adds what a frame has changed.
  ///
  /// - Parameter isTorn: whether keys that were changed before are marked.
  mutating func add(_ frame: FrameReader, isTorn: Bool = false) throws(StoreError) {
    let revision = frame.head.revision
    try frame.forEachChange { change throws(StoreError) in
      try allowance.take(change.key.count + change.payload.count, to: "read the changes")
      switch change.effect {
      case .schemaVersion: schemaVersion = try change.schemaVersion()
      case .bulk: bulk = (try change.body(), revision)
      default:
        try keys.update(PreparedBytes(change.key)) { () throws(StoreError) in
          (try change.keyName(), KeyPatch())
        } _: { patch throws(StoreError) in
          if case .staged(let old)? = patch.value?.new, change.changesValue { superseded.append(old) }
          if isTorn, patch.value != nil, change.changesValue { patch.isTorn = true }
          try patch.add(change, at: revision)
        }
      }
    }
  }
}

extension FrameReader.Change {
  var changesValue: Bool { effect == .removed || effect == .value || effect == .staged }
}

extension KeyPatch {
  /// Adds one change of a frame.
  mutating func add(_ change: FrameReader.Change, at revision: Revision) throws(StoreError) {
    self.revision = revision
    if value == nil, change.changesValue { first = revision }
    switch change.effect {
    case .removed: value = (.removed, revision)
    case .value: value = (.inline(try change.value()), revision)
    case .staged: value = (.staged(try change.body()), revision)
    case .declared: declaration = .some(.stored(try change.declaration()))
    case .undeclared: declaration = .some(nil)
    case .schemaVersion, .bulk: break
    }
  }
}
