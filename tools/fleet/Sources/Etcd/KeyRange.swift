// Keys of etcd: one, or all that begin with a prefix.

package import struct FoundationEssentials.Data

package struct KeyRange: Sendable, Hashable {
  let first: Data
  /// The first key behind the range; empty for one key.
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

  /// What is left of the range behind a key of it.
  func after(_ key: Data) -> KeyRange { KeyRange(first: key + [0], end: end) }
}

/// A key with its value, at the revision of a read.
package struct Item: Sendable, Hashable {
  package let key: String
  package let value: Data
  /// The revision of the last change.
  package let revision: Int64
  /// The revision at which the key was created, which it has until it is deleted.
  package let created: Int64
  /// The number of changes since the key was created.
  package let version: Int64

  package init(key: String, value: Data, revision: Int64) {
    (self.key, self.value, self.revision) = (key, value, revision)
    (created, version) = (0, 0)
  }

  /// Returns nil for a key that is not UTF-8, which Kept does not use.
  init?(_ stored: Etcdserverpb_KeyValue) {
    guard let key = String(validating: stored.key, as: UTF8.self) else { return nil }
    (self.key, value) = (key, stored.value)
    (revision, created, version) = (stored.modRevision, stored.createRevision, stored.version)
  }
}

/// What a key was changed to.
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

/// What was read at one revision.
package struct Reading: Sendable {
  package let cluster: UInt64
  /// The revision of the whole of etcd at the time of the read.
  package var revision: Int64
  package let items: [Item]
  /// The keys among them that are not UTF-8, as text for messages; the first ones, if they are many.
  package let strange: [String]
  /// The number of keys in the ranges at that revision, with those that were not asked for or are not UTF-8.
  package let count: Int

  package subscript(key: String) -> Item? { items.first { $0.key.utf8.elementsEqual(key.utf8) } }
}
