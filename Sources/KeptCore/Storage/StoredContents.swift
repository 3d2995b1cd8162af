// The contents of a storage at one revision, from which snapshots and exports are read.

import KeptEngine
import KeptSchema
import KeptValues

/// A storage that can be read as it is now at any later time, without a copy.
protocol SnapshotStorage: Storage {
  /// Returns the present contents.
  func contents() throws(StoreError) -> any StoredContents
}

/// The contents of a storage at one revision, which later commits do not change.
protocol StoredContents: Sendable {
  var revision: Revision { get }
  /// The schema version; 0 also if the storage keeps none.
  var schemaVersion: UInt32 { get }

  /// The entry of a key; nil if it has neither a value nor a declaration.
  ///
  /// Throws the reason for an entry that cannot be read.
  func entry(for key: KeyName) throws(StoreError) -> Entry?

  /// The keys with a value that begin with a text, in byte order.
  func keys(below prefix: ExactString) throws(StoreError) -> [KeyName]

  /// The entries of the keys that begin with a text, in the order of the keys.
  func entries(below prefix: ExactString) throws(StoreError) -> StoredEntries

  /// Calls `body` with the same, and with a function that writes the value as JSON, in the order of the keys.
  func forEach(
    below prefix: ExactString,
    _ body: (StoredItem, (inout CText) throws(StoreError) -> Void) throws(StoreError) -> Void
  ) throws(StoreError)
}

/// Contents that are copied with their secrets as they are.
protocol CopyableContents: StoredContents {
  /// Copies them into an empty file, as a backup without the history.
  func copy(into draft: StoreFile) throws(StoreError)
}

/// An entry whose value is read only if it is needed.
struct StoredItem {
  /// The bytes of the key, valid during the call.
  let key: UnsafeBufferPointer<UInt8>
  let declaration: Declaration?
  let hasValue: Bool
  /// Why the entry cannot be read; nil if it can.
  var reason: StoreError?
}

/// A copy of contents.
struct CopiedContents: StoredContents {
  let schemaVersion: UInt32
  // In the order of their keys.
  private let stored: StoredEntries

  init(_ stored: StoredEntries, schemaVersion: UInt32 = 0) {
    self.schemaVersion = schemaVersion
    self.stored = StoredEntries(
      entries: stored.entries.inOrder(of: \.key.exact), unreadable: stored.unreadable.inOrder(of: \.key.exact),
      revision: stored.revision)
  }

  var revision: Revision { stored.revision }

  func entry(for key: KeyName) throws(StoreError) -> Entry? {
    if let found = stored.entries.found(key, \.key) { return found.entry }
    if let unread = stored.unreadable.found(key, \.key) { throw unread.reason }
    return nil
  }

  func keys(below prefix: ExactString) throws(StoreError) -> [KeyName] {
    let found = try entries(below: prefix)
    let keys = found.entries.filter { $0.entry.value != nil }.map(\.key) + found.unreadable.map(\.key)
    return keys.inOrder(of: \.exact)
  }

  func entries(below prefix: ExactString) throws(StoreError) -> StoredEntries {
    if prefix.text.isEmpty { return stored }
    return StoredEntries(
      entries: stored.entries.filter { $0.key.exact.hasPrefix(prefix) },
      unreadable: stored.unreadable.filter { $0.key.exact.hasPrefix(prefix) }, revision: revision)
  }

  func forEach(
    below prefix: ExactString,
    _ body: (StoredItem, (inout CText) throws(StoreError) -> Void) throws(StoreError) -> Void
  ) throws(StoreError) {
    let found = try entries(below: prefix)
    var unreadable = found.unreadable[...]
    func passUnreadable(before key: KeyName?) throws(StoreError) {
      while let first = unreadable.first, key.map({ first.key < $0 }) ?? true {
        unreadable.removeFirst()
        try first.key.exact.withBytes { bytes throws(StoreError) in
          let item = StoredItem(key: bytes, declaration: first.declaration, hasValue: false, reason: first.reason)
          try body(item) { _ in }
        }
      }
    }
    for keyed in found.entries {
      try passUnreadable(before: keyed.key)
      try keyed.key.exact.withBytes { bytes throws(StoreError) in
        let value = keyed.entry.value
        try body(StoredItem(key: bytes, declaration: keyed.entry.declaration, hasValue: value != nil)) { text in
          value?.write(to: &text)
        }
      }
    }
    try passUnreadable(before: nil)
  }
}

extension Array {
  /// The element with a key, in an array that is ordered by keys.
  fileprivate func found(_ key: KeyName, _ keyOf: (Element) -> KeyName) -> Element? {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = low + (high - low) / 2
      if keyOf(self[middle]) < key { low = middle + 1 } else { high = middle }
    }
    return low < endIndex && keyOf(self[low]) == key ? self[low] : nil
  }
}
