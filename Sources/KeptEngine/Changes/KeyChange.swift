// The changes of one key since a checkpoint.

import CPlatform
import KeptSystem
package import KeptValues

/// The value that a key has since a commit.
package enum ChangedValue: Sendable {
  case removed
  case value(Value)
  /// A secret that was sealed, with its sealed bytes as the value.
  case sealed(Value)
  /// One that is read when it is needed.
  case inJournal(PlacedValue)

  /// How many bytes ``read()`` adds to the memory.
  var bytesToRead: Int { if case .inJournal(let place) = self { place.bytes } else { 0 } }

  /// The value; nil if there is none.
  package func read() throws(StoreError) -> Value? {
    switch self {
    case .removed: nil
    case .value(let value), .sealed(let value): value
    case .inJournal(let place): try place.read()
    }
  }

  var isSealed: Bool {
    switch self {
    case .removed, .value: false
    case .sealed: true
    case .inJournal(let place): place.isSealed
    }
  }
}

/// Where a journal has a long value.
package struct PlacedValue: Sendable {
  private let journal: Journal
  private let position: Position
  let bytes: Int
  private let kind: UInt8
  var isSealed: Bool { kind == StoredValue.sealed }
  private let checksum: UInt32

  /// The place of the value of a change; nil if it is short.
  ///
  /// - Parameter position: that of the frame.
  init?(_ change: FrameChange, at position: Position, in journal: Journal) {
    let bytes = change.stored.payload
    guard bytes.count > StoredValue.mostInMemory else { return nil }
    (self.journal, self.position) = (journal, position + UInt64(change.offset))
    (self.bytes, kind, checksum) = (bytes.count, change.stored.kind, bytes.checksum)
  }

  func read() throws(StoreError) -> Value {
    var value: Value?
    try withStored { stored throws(StoreError) in value = try stored.value() }
    guard let value else { throw damaged }
    return value
  }

  /// Whether it is the same value; where bytes of it are damaged, it is not.
  package func isSame(as value: Value) throws(StoreError) -> Bool {
    let buffer = ByteBuffer(to: "compare a value")
    let piece = try buffer.add(StoredValue.mostInMemory)
    var isSame = true
    try value.withStored { stored throws(StoreError) in
      isSame = stored.kind == kind && stored.payload.count == bytes
      // Other values differ early.
      for at in stride(from: 0, to: bytes, by: piece.count) where isSame {
        let part = UnsafeMutableRawBufferPointer(rebasing: piece[..<min(piece.count, bytes - at)])
        isSame =
          try journal.read(part, at: position + UInt64(at)) == part.count
          && kept_same_bytes(part.baseAddress, stored.payload.baseAddress?.advanced(by: at), part.count)
      }
    }
    return isSame
  }

  /// Passes the stored form to `body`; its bytes are valid during the call.
  func withStored(_ body: (StoredValue) throws(StoreError) -> Void) throws(StoreError) {
    let buffer = ByteBuffer(to: "read a value")
    buffer.truncate(to: try journal.read(try buffer.add(bytes), at: position))
    guard buffer.count == bytes, buffer.bytes.checksum == checksum else { throw damaged }
    try body(StoredValue(kind: kind, payload: buffer.bytes))
  }

  private var damaged: StoreError {
    StoreError(
      .corrupt,
      "its value in \(shown: journal.file.path) is damaged; close the store everywhere, and the next program that "
        + "opens it salvages the readable data")
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
  /// Adds a change at a revision.
  ///
  /// Throws `corrupt` if it is malformed.
  /// - Parameter place: where its value is; nil for a value in memory.
  mutating func apply(
    _ change: FrameChange, at revision: Revision, _ place: PlacedValue?
  ) throws(StoreError) {
    changed = revision
    switch change.effect {
    case .value:
      value =
        if let place { .inJournal(place) } else if change.stored.isSealed { .sealed(try change.value()) } else {
          .value(try change.value())
        }
      self.revision = revision
    case .removed: (value, self.revision) = (.removed, revision)
    case .declared: declaration = try change.json()
    case .undeclared: declaration = .some(nil)
    case .schemaVersion, .historyLimits, .acknowledged, .lists: break
    }
  }

  mutating func put(_ new: Value?, at revision: Revision) {
    (value, self.revision, changed) = (new.map { .value($0) } ?? .removed, revision, revision)
  }
}
