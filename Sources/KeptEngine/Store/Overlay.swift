// The changes of commits since a checkpoint.

import KeptSystem
package import KeptValues

/// The value that a key has since a commit.
package enum ChangedValue: Sendable {
  case removed
  case value(Value)
  /// One that is read when it is needed.
  case inJournal(PlacedValue)

  /// How many bytes ``read()`` adds to the memory.
  var bytesToRead: Int { if case .inJournal(let place) = self { place.bytes } else { 0 } }

  /// The value; nil if there is none.
  package func read() throws(StoreError) -> Value? {
    switch self {
    case .removed: nil
    case .value(let value): value
    case .inJournal(let place): try place.read()
    }
  }
}

/// Where a journal has a long value.
package struct PlacedValue: Sendable {
  fileprivate let journal: Journal
  fileprivate let position: Position
  fileprivate let bytes: Int
  fileprivate let kind: UInt8
  fileprivate let checksum: UInt32

  /// A value of more bytes is not kept in memory.
  package static let least = 4096

  func read() throws(StoreError) -> Value {
    let buffer = ByteBuffer(to: "read a value")
    buffer.truncate(to: try journal.read(try buffer.add(bytes), at: position))
    guard buffer.count == bytes, buffer.bytes.checksum == checksum,
      let value = try StoredValue(kind: kind, payload: buffer.bytes).value()
    else {
      throw StoreError(
        .corrupt,
        "its value in \(shown: journal.file.path) is damaged; close the store everywhere, and the next program that "
          + "opens it salvages the readable data")
    }
    return value
  }
}

/// The changes of one key since a checkpoint; unchanged parts are nil.
package struct KeyChange: Sendable {
  /// The new value; nil if it was not changed.
  package var value: ChangedValue?
  package var revision: Revision = 0
  /// The new declaration, as JSON.
  package var declaration: String??
  /// The revision of the last change of any kind.
  package var changed: Revision = 0
}

extension KeyChange {
  fileprivate mutating func put(_ new: Value, at revision: Revision) {
    (value, self.revision, changed) = (.value(new), revision, revision)
  }
}

/// The state of a key.
package struct KeyState: Sendable, Equatable {
  package var value: Value?
  package var declaration: String?
  /// The revision of the last change of the value, including its removal; 0 if no change is remembered.
  package var revision: Revision
  /// The revision of the last remembered change of any kind.
  package var changed: Revision

  package init(value: Value?, declaration: String?, revision: Revision, changed: Revision) {
    (self.value, self.declaration, self.revision, self.changed) = (value, declaration, revision, changed)
  }

  package var isThere: Bool { value != nil || declaration != nil }
}

/// The changes of a sequence of frames.
struct Overlay {
  private(set) var keys: [KeyName: KeyChange] = [:]
  /// The heads of the frames, in their order.
  private(set) var heads: [FrameHead] = []
  /// Whether a frame makes a checkpoint due, because the files have bytes that were secret.
  private(set) var erases = false
  var revision: Revision
  var schemaVersion: UInt32
  var note: String
  var limits: String
  private var allowance = Allowance()
  // The keys that have changed since ``takeChanged()``; nil without a follower.
  private var changedKeys: [KeyName]?

  init(after checkpoint: ValuesHeader) {
    (revision, schemaVersion) = (checkpoint.revision, checkpoint.schemaVersion)
    (note, limits) = (checkpoint.note, checkpoint.limits)
  }

  /// Returns the keys that have changed since the last call, some of them several times; nil at the first one.
  mutating func takeChanged() -> [KeyName]? {
    defer { changedKeys = [] }
    return changedKeys
  }

  /// Adds the changes of a frame.
  ///
  /// Throws `corrupt`, with a part of it added, if it is malformed.
  mutating func add(_ frame: CommitFrame, at position: Position, in journal: Journal) throws(StoreError) {
    revision = frame.head.revision
    if frame.head.erases { erases = true }
    heads.append(frame.head)
    try frame.forEachChange { change throws(StoreError) in
      try allowance.take(change.key.count + min(change.stored.payload.count, PlacedValue.least), to: "read the changes")
      switch change.effect {
      case .schemaVersion: schemaVersion = try change.schemaVersion()
      case .historyLimits: limits = try change.json()
      case .acknowledged: note = ""
      default:
        let key = try change.keyName()
        let place = (position + UInt64(change.offset), journal)
        try Self.apply(change, at: revision, place, to: &keys[key, default: KeyChange()])
        changedKeys?.append(key)
      }
    }
  }

  /// Adds a new value of a key, in its stored form.
  mutating func put(_ value: Value, for key: KeyName, _ head: FrameHead) throws(StoreError) {
    try allowance.take(key.text.utf8.count + value.bytes, to: "read the changes")
    revision = head.revision
    heads.append(head)
    keys[key, default: KeyChange()].put(value, at: head.revision)
  }

  private static func apply(
    _ change: FrameChange, at revision: Revision, _ place: (position: Position, journal: Journal),
    to key: inout KeyChange
  ) throws(StoreError) {
    key.changed = revision
    switch change.effect {
    case .value where change.stored.payload.count > PlacedValue.least:
      let bytes = change.stored.payload
      let value = PlacedValue(
        journal: place.journal, position: place.position, bytes: bytes.count, kind: change.stored.kind,
        checksum: bytes.checksum)
      (key.value, key.revision) = (.inJournal(value), revision)
    case .value: (key.value, key.revision) = (.value(try change.value()), revision)
    case .removed: (key.value, key.revision) = (.removed, revision)
    case .declared: key.declaration = try change.json()
    case .undeclared: key.declaration = .some(nil)
    case .schemaVersion, .historyLimits, .acknowledged: break
    }
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
      if let new = change.value { (value, revision) = (ignoresValue ? nil : try new.read(), change.revision) }
      if let new = change.declaration { declaration = new }
      changed = change.changed
    }
    guard let record else { return }
    if !ignoresValue, change?.value == nil, record.value.kind != StoredValue.none {
      guard let stored = try record.value.value() else {
        throw StoreError(.corrupt, "its stored value is malformed; set the key again, or remove it")
      }
      value = stored
    }
    if change?.declaration == nil, record.flags.contains(.declared) {
      guard let text = record.declaration.text else {
        throw StoreError(.corrupt, "its declaration is malformed; declare the key again")
      }
      declaration = text
    }
  }
}
