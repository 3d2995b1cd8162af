// The keys of etcd, as far as readings and the watch have shown.

internal import Etcd
internal import FoundationEssentials
internal import Kept

/// The values under one prefix of etcd.
struct Mirror: Sendable {
  private(set) var items: [ExactString: Item] = [:]
  /// The revisions at which keys were deleted, as far as the watch has reported.
  private var deletions: [ExactString: Int64] = [:]
  /// The record of the last writer; nil if it was deleted, and then perhaps all keys were.
  private(set) var writer: Item?
  /// The revision up to which everything is known.
  ///
  /// Later changes of this machine may be known, too.
  private(set) var revision: Int64 = 0
  let cluster: UInt64
  /// How many keys are not UTF-8.
  let unreadable: Int
  /// Some of them, for a message.
  let strange: [String]
  private let place: SyncPlace
  /// The last change of this machine that may be later than `revision`.
  private var ownRevision: Int64 = 0

  init(_ reading: Reading, _ place: SyncPlace) {
    self.place = place
    (revision, cluster, strange) = (reading.revision, reading.cluster, reading.strange)
    unreadable = reading.count - reading.items.count
    for item in reading.items { put(item) }
  }

  /// The last change of a key, or its deletion; 0 if it is not known to have ever existed.
  func revision(of name: ExactString) -> Int64 { items[name]?.revision ?? deletions[name] ?? 0 }

  /// The revision for a compare of etcd: 0 for a key that does not exist.
  func comparedRevision(of name: ExactString) -> Int64 { items[name]?.revision ?? 0 }

  /// Whether all of these changes are known already, as those of this machine are.
  func knows(_ events: [Event]) -> Bool {
    events.allSatisfy { event in
      guard let name = name(event.key) else { return true }
      return event.revision <= (name.text.isEmpty ? ownRevision : revision(of: name))
    }
  }

  /// Notes that everything up to a revision is known.
  mutating func advance(to revision: Int64) { self.revision = max(self.revision, revision) }

  /// Takes the changes up to a later revision.
  ///
  /// - Returns: the names, and whether nothing has been missed.
  mutating func take(_ changed: Reading, _ events: [Event]) -> (names: Set<ExactString>, isComplete: Bool) {
    var names: Set<ExactString> = []
    for item in changed.items {
      guard let name = name(item.key) else { continue }
      if name.text.isEmpty {
        put(item)
      } else if item.revision > self.revision(of: name) {
        put(item)
        names.insert(name)
      }
    }
    for event in events where event.value == nil && event.revision <= changed.revision {
      guard let name = name(event.key) else { continue }
      if name.text.isEmpty, event.revision > writer?.revision ?? 0 { writer = nil }
      guard !name.text.isEmpty, event.revision > self.revision(of: name) else { continue }
      delete(name, event.revision)
      names.insert(name)
    }
    advance(to: changed.revision)
    let expected = items.count + unreadable + (writer == nil ? 0 : 1)
    return (names, ownRevision > changed.revision || expected == changed.count)
  }

  /// Takes a change of this machine.
  mutating func takeOwn(_ changes: [(name: ExactString, value: Data?)], _ own: Int64) {
    for (name, value) in changes {
      if let value { put(Item(key: place.key(name.text), value: value, revision: own)) } else { delete(name, own) }
    }
    ownRevision = own
  }

  /// The keys that have another revision in a later mirror, or are in one of both only.
  func differences(_ later: Mirror) -> Set<ExactString> {
    Set(items.keys).union(later.items.keys).filter { items[$0]?.revision != later.items[$0]?.revision }
  }

  /// Whether a reading has changes that are not known here.
  func lacks(_ reading: Mirror) -> Bool {
    reading.items.contains { $0.value.revision > revision(of: $0.key) }
      || items.contains { $0.value.revision <= reading.revision && reading.items[$0.key] == nil }
  }

  private mutating func put(_ item: Item) {
    guard let name = name(item.key) else { return }
    guard !name.text.isEmpty else { return writer = item }
    items[name] = item
    deletions[name] = nil
  }

  private mutating func delete(_ name: ExactString, _ at: Int64) {
    items[name] = nil
    deletions[name] = at
  }

  private func name(_ key: String) -> ExactString? {
    let prefix = place.values.utf8
    guard key.utf8.starts(with: prefix) else { return nil }
    return String(validating: key.utf8.dropFirst(prefix.count), as: UTF8.self).map { ExactString($0) }
  }
}
