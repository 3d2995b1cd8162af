// A range of etcd keys: one key, or all keys with a prefix.

package import struct FoundationEssentials.Data

package struct KeyRange: Sendable, Hashable {
  let first: Data
  /// The first key after the range; empty for one key.
  let end: Data

  package static func key(_ key: String) -> KeyRange { KeyRange(first: Data(key.utf8), end: Data()) }

  package static func prefix(_ prefix: String) -> KeyRange {
    var end = Array(prefix.utf8)
    while let last = end.popLast() {
      if last < 0xFF { return KeyRange(first: Data(prefix.utf8), end: Data(end + [last + 1])) }
    }
    // All keys.
    return KeyRange(first: Data([0]), end: Data([0]))
  }

  /// Returns the rest of the range after one of its keys.
  func after(_ key: Data) -> KeyRange { KeyRange(first: key + [0], end: end) }
}

/// A key with its value, as of the revision of a read.
package struct Item: Sendable, Hashable {
  package let key: String
  package let value: Data
  /// Whether the value was left out because it is too large for an answer.
  package let isTooLarge: Bool
  /// The revision of the last change.
  package let revision: Int64
  /// The revision that created the key, which stays the same until the key is deleted.
  package let created: Int64
  /// The number of changes since the key was created.
  package let version: Int64

  package init(key: String, value: Data, revision: Int64) {
    (self.key, self.value, self.revision) = (key, value, revision)
    (created, version, isTooLarge) = (0, 0, false)
  }

  /// Returns nil for a key that is not UTF-8, which Kept does not use.
  init?(_ stored: Etcdserverpb_KeyValue, isTooLarge: Bool = false) {
    guard let key = String(validating: stored.key, as: UTF8.self) else { return nil }
    (self.key, value, self.isTooLarge) = (key, stored.value, isTooLarge)
    (revision, created, version) = (stored.modRevision, stored.createRevision, stored.version)
  }
}

/// The state of a key at an earlier revision.
package enum Past: Sendable, Hashable {
  case item(Item)
  case absent
  /// etcd no longer has that revision.
  case compacted

  /// Whether a change that was seen at a revision is missing there, because etcd was restored from a backup.
  package func lacksChange(at revision: Int64) -> Bool {
    switch self {
    case .item(let item): item.revision != revision
    case .absent: true
    case .compacted: false
    }
  }
}

/// A change of a key.
package struct Event: Sendable, Hashable {
  package let key: String
  /// Nil if the key was deleted.
  package let value: Data?
  /// The revision of the change, which all events of one transaction share.
  package let revision: Int64
  package let version: Int64

  init?(_ event: Etcdserverpb_Event) {
    guard let item = Item(event.kv) else { return nil }
    key = item.key
    value = event.type == .delete ? nil : item.value
    (revision, version) = (item.revision, item.version)
  }
}

/// The result of a read at one revision.
package struct Reading: Sendable {
  package let cluster: UInt64
  /// The revision of etcd as a whole at the time of the read.
  package var revision: Int64
  package let items: [Item]
  /// The first of the keys that are not UTF-8, as text for messages.
  package let strange: [String]
  /// The number of keys in the ranges at that revision, including those that were not requested or are not UTF-8.
  package let count: Int

  package subscript(key: String) -> Item? { items.first { $0.key.utf8.elementsEqual(key.utf8) } }
}
