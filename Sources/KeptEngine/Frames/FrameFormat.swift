// A frame: one commit, with everything that it changes, or the seal that ends a journal
// (docs/internals/file-format.md describes its bytes).

package import KeptValues

/// Where a frame is, which its checksum covers: a frame that was moved, or that follows another frame than when it was
/// written, does not verify.
package struct FramePlace: Equatable, Sendable {
  /// The journal, by its random id.
  package var journal: UInt64
  package var position: Position
  /// The checksum of the frame before, also of one in the journal before.
  ///
  /// A writer may be killed after it has written two frames and published none. If the next writer's frame happens to
  /// be as long as the first of them, the second would follow it, and verify.
  package var previous: UInt32

  package init(journal: UInt64, position: Position, previous: UInt32) {
    (self.journal, self.position, self.previous) = (journal, position, previous)
  }
}

/// The head of a frame, before its changes.
package struct FrameHead: Equatable, Sendable {
  package var writer: UInt64
  package var revision: Revision
  /// Nanoseconds since 1970.
  ///
  /// A clock may be set back, so this need not grow from frame to frame.
  package var time: Int64
  package var tag: String? { hasTag ? text : nil }
  // Apart, because copying an optional String calls four functions.
  private var text: String
  private var hasTag: Bool
  /// Whether a secret was replaced or removed, or a key was declared one: a checkpoint is due, after which no file has
  /// the bytes of before.
  package var erases: Bool

  package init(writer: UInt64, revision: Revision, time: Int64, tag: String? = nil, erases: Bool = false) {
    (self.writer, self.revision, self.time, self.erases) = (writer, revision, time, erases)
    (text, hasTag) = (tag ?? "", tag != nil)
  }
}

/// The effect of a change.
package enum FrameEffect: UInt8, Sendable {
  /// The key has no value; there is no payload.
  case removed = 0
  /// The payload is the value.
  case value = 1
  /// The payload is the new declaration, as JSON.
  case declared = 2
  /// The key has no declaration; there is no payload.
  case undeclared = 3
  /// The payload is the new schema version of the store, in 32 bits; the key is empty.
  case schemaVersion = 4
  /// The payload is the new limits of the history, as JSON; the key is empty.
  case historyLimits = 5
  /// The note of a salvage was acknowledged; key and payload are empty.
  case acknowledged = 6
  /// The payload has the marks of the lists whose declarations the store has, ``DeclaredList/bytes`` each; the key is
  /// empty.
  case lists = 7

  /// Whether it is about a key.
  var hasKey: Bool { rawValue <= FrameEffect.undeclared.rawValue }
}

enum FrameFormat {
  static let headBytes = 40
  static let sealBytes = 16
  static let changeBytes = 8
  static let noTag: UInt16 = 0xFFFF
  static let sealBit: UInt32 = 1
  static let erases: UInt16 = 1
}
