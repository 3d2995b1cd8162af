// The changes of commits since a checkpoint.

import KeptSystem
package import KeptValues

/// What opens the secrets of a store that were sealed.
package protocol SecretOpening: AnyObject, Sendable {
  /// Returns the value of a secret.
  ///
  /// Called with locks held. Throws `unavailable` if its key is missing, and `corrupt` if the bytes were damaged, or
  /// sealed for another key or revision.
  func open(_ sealed: [UInt8], of key: KeyName, at revision: Revision) throws(StoreError) -> Value

  /// Returns the sealed bytes that replace the stored value of a secret; nil if it stays as it is.
  ///
  /// Throws as ``open(_:of:at:)`` does.
  /// - Parameter revision: the revision that set the value; nil for an old value, which was sealed.
  func reseal(_ value: StoredValue, of key: KeyName, at revision: Revision?) throws(StoreError) -> [UInt8]?
}

/// The state of a key.
package struct KeyState: Sendable, Equatable {
  package var value: Value?
  /// Whether the value is stored sealed.
  package private(set) var isSealed = false
  package var declaration: String?
  /// The revision of the last change of the value, including its removal; 0 if no change is remembered.
  package var revision: Revision
  /// The revision of the last remembered change of any kind.
  package var changed: Revision

  package init(value: Value?, declaration: String?, revision: Revision, changed: Revision) {
    (self.value, self.declaration, self.revision, self.changed) = (value, declaration, revision, changed)
  }

  package var isThere: Bool { value != nil || declaration != nil }
  /// Whether it has a value that is secret, or was when it was sealed.
  package var isSecret: Bool { isSealed || value != nil && declaration?.declaresSecret == true }
}

/// The changes of a sequence of frames.
///
/// Invariant: of a key in `keys`, that is the whole change. Of another key, those in `bulk` are, the oldest first.
struct Overlay {
  private var keys: [KeyName: KeyChange] = [:]
  private var bulk: [BulkChanges] = []
  /// The heads of the frames, in their order.
  private(set) var heads: [FrameHead] = []
  /// Whether a frame makes a checkpoint due, because the files have bytes that were secret.
  private(set) var erases = false
  var revision: Revision
  var schemaVersion: UInt32
  var note: String
  var limits: String
  private(set) var lists: [DeclaredList]
  private var allowance = Allowance()
  // The keys that have changed since ``takeChanged()``; nil without a follower, and after a frame with many.
  private var changedKeys: [KeyName]?

  init(after checkpoint: ValuesHeader) {
    (revision, schemaVersion) = (checkpoint.revision, checkpoint.schemaVersion)
    (note, limits, lists) = (checkpoint.note, checkpoint.limits, checkpoint.lists)
  }

  /// A search looks into each of them.
  private static let mostBulk = 8

  /// Returns the keys that have changed since the last call, some of them several times; nil at the first one, and if
  /// they are many.
  mutating func takeChanged() -> [KeyName]? {
    defer { changedKeys = [] }
    return changedKeys
  }

  /// Adds the changes of a frame.
  ///
  /// Throws `corrupt`, with a part of it added, if it is malformed.
  mutating func add(_ frame: CommitFrame, at position: Position, in journal: Journal) throws(StoreError) {
    if frame.mostChanges >= BulkChanges.least, bulk.count < Self.mostBulk {
      try addBulk(frame, position, journal)
    } else {
      try addEach(frame, position, journal)
    }
    add(frame.head)
  }

  /// Adds the changes of a commit of this process.
  ///
  /// ``takeChanged()`` does not return their keys.
  mutating func add(_ edits: [KeyEdit], of frames: FrameWriter) throws(StoreError) {
    let revision = frames.head.revision
    for index in edits.indices {
      // An iterator would copy each edit as a whole, twice.
      let (key, value) = (edits[index].key, edits[index].value)
      try allowance.take(key.text.utf8.count + (value?.bytes ?? 0), to: "read the changes")
      try prepare(key)
      keys[key, default: KeyChange()].put(value, at: revision)
    }
    add(frames.head)
  }

  private mutating func add(_ head: consuming FrameHead) {
    revision = head.revision
    if head.erases { erases = true }
    heads.append(head)
  }

  private mutating func addEach(
    _ frame: CommitFrame, _ position: Position, _ journal: Journal
  ) throws(StoreError) {
    try frame.forEachChange { change throws(StoreError) in
      guard change.effect.hasKey else { return try addOther(change) }
      let bytes = min(change.stored.payload.count, StoredValue.mostInMemory)
      try allowance.take(change.key.count + bytes, to: "read the changes")
      let (key, place) = (try change.keyName(), PlacedValue(change, at: position, in: journal))
      try prepare(key)
      try keys[key, default: KeyChange()].apply(change, at: frame.head.revision, place)
      changedKeys?.append(key)
    }
  }

  private mutating func addOther(_ change: FrameChange) throws(StoreError) {
    switch change.effect {
    case .schemaVersion: schemaVersion = try change.schemaVersion()
    case .historyLimits: limits = try change.json()
    case .lists: lists = DeclaredList.all(in: change.stored.payload)
    default: note = ""
    }
  }

  private mutating func addBulk(
    _ frame: CommitFrame, _ position: Position, _ journal: Journal
  ) throws(StoreError) {
    let changes = try BulkChanges(frame, at: position, in: journal) { change throws(StoreError) in
      try addOther(change)
    }
    for key in Array(keys.keys) {
      try changes.forEach(of: key) { change throws(StoreError) in
        try changes.apply(change, to: &keys[key, default: KeyChange()])
      }
    }
    bulk.append(changes)
    changedKeys = nil
  }

  /// Moves the changes of a key out of those in bulk.
  private mutating func prepare(_ key: KeyName) throws(StoreError) {
    if !bulk.isEmpty, keys[key] == nil { keys[key] = try inBulk(key) }
  }

  private func inBulk(_ key: KeyName) throws(StoreError) -> KeyChange? {
    var found: KeyChange?
    for changes in bulk {
      try changes.forEach(of: key) { change throws(StoreError) in
        var known = found ?? KeyChange()
        try changes.apply(change, to: &known)
        found = known
      }
    }
    return found
  }
}

// MARK: - What has changed

extension Overlay {
  /// The change of a key; nil if there is none.
  func change(of key: KeyName) throws(StoreError) -> KeyChange? {
    if let known = keys[key] { return known }
    return bulk.isEmpty ? nil : try inBulk(key)
  }

  /// How many keys a listing copies.
  var knownCount: Int { keys.count }

  /// How many keys have changed, some of them counted several times.
  var count: Int { bulk.reduce(keys.count) { $0 + $1.count } }

  /// Whether a commit since the checkpoint has changed many keys at once.
  var hasBulk: Bool { !bulk.isEmpty }

  /// Whether a commit after a revision has changed many keys at once.
  func hasBulk(after revision: Revision) -> Bool { bulk.contains { $0.revision > revision } }

  /// The changes of a frame, if they are known in bulk and all that the history records of it.
  func bulk(of frame: CommitFrame) -> BulkChanges? {
    bulk.first { $0.revision == frame.head.revision && $0.frameCount == frame.count && !$0.changesLimits }
  }

  /// Adds the keys that have changed, those with a last change after a revision.
  func addKeys(to found: inout Set<KeyName>, changedAfter revision: Revision? = nil) throws(StoreError) {
    func isMeant(_ changed: Revision) -> Bool { revision.map { changed > $0 } ?? true }
    for (key, change) in keys where isMeant(change.changed) { found.insert(key) }
    for changes in bulk where isMeant(changes.revision) {
      for index in 0..<changes.count { found.insert(try changes.change(index).keyName()) }
    }
  }

  /// The revision of the last change of a key that begins with a text; 0 if there is none.
  func lastChange(below prefix: ExactString) -> Revision {
    var last: Revision = 0
    for (key, change) in keys where key.exact.hasPrefix(prefix) { last = max(last, change.changed) }
    prefix.withBytes { prefix in
      for changes in bulk where !changes.range(below: UnsafeRawBufferPointer(prefix)).isEmpty {
        last = max(last, changes.revision)
      }
    }
    return last
  }

  /// The changes of the keys that begin with a text, in the order of the keys.
  func changedKeys(below prefix: ExactString) throws(StoreError) -> ChangedKeys {
    try ChangedKeys(Array(keys.filter { $0.key.exact.hasPrefix(prefix) }).inOrder(of: \.key.exact), bulk, prefix)
  }
}

extension KeyState {
  /// The state of a key: its record in a checkpoint with the changes since.
  ///
  /// Throws `corrupt` if the record is malformed.
  /// - Parameter ignoresValue: whether the value is left out.
  package init(
    _ record: Record?, _ change: KeyChange? = nil, floor: Revision = 0, ignoresValue: Bool = false
  ) throws(StoreError) {
    (value, declaration, revision, changed) = (nil, nil, record?.revision ?? 0, record?.changed ?? floor)
    if let change {
      if let new = change.value {
        (value, revision) = (ignoresValue ? nil : try new.read(), change.revision)
        isSealed = !ignoresValue && new.isSealed
      }
      if let new = change.declaration { declaration = new }
      changed = change.changed
    }
    guard let record else { return }
    if !ignoresValue, change?.value == nil, record.value.kind != StoredValue.none {
      guard let stored = try record.value.value() else {
        throw StoreError(.corrupt, "its stored value is malformed; set the key again, or remove it")
      }
      (value, isSealed) = (stored, record.value.isSealed)
    }
    if change?.declaration == nil, record.flags.contains(.declared) {
      guard let text = record.declaration.text else {
        throw StoreError(.corrupt, "its declaration is malformed; declare the key again")
      }
      declaration = text
    }
  }
}

extension KeyState {
  /// The state with the value of a secret that was sealed; others are as they are.
  package func opened(_ key: KeyName, by secrets: (any SecretOpening)?) throws(StoreError) -> KeyState {
    guard isSealed, case .bytes(let sealed) = value else { return self }
    guard let secrets else {
      throw StoreError(
        .unavailable, key: key.text, "the value is an encrypted secret, which can be read only in its store; open that")
    }
    var state = self
    do throws(StoreError) { state.value = try secrets.open(sealed, of: key, at: revision) } catch {
      throw error.about(key.text)
    }
    return state
  }

  /// Seals the value of a secret again, if it can be read and needs it.
  mutating func reseal(_ key: KeyName, by secrets: any SecretOpening) throws(StoreError) {
    guard isSecret else { return }
    var sealed: [UInt8]?
    do throws(StoreError) {
      try withStored { stored throws(StoreError) in sealed = try secrets.reseal(stored, of: key, at: revision) }
    } catch {
      guard error.isOfValue else { throw error }
    }
    if let sealed { (value, isSealed) = (.bytes(sealed), true) }
  }

  /// Passes the stored form of the value to `body`, before it was opened; its bytes are valid during the call.
  package func withStored(_ body: (StoredValue) throws(StoreError) -> Void) throws(StoreError) {
    try (value ?? .null).withStored { stored throws(StoreError) in
      try body(isSealed ? StoredValue(kind: StoredValue.sealed, payload: stored.payload) : stored)
    }
  }
}
