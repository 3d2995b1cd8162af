// A snapshot of a store: a copy of its entries under a prefix, read under the layers of its handle at that time.

public import KeptSchema
public import KeptValues

/// The values of keys at one point in time.
///
/// Later writes do not change it.
///
/// ```swift
/// let before = try settings.snapshot(prefix: "audio.")
/// for key in try before.keys() { print(key, try before.json(forKey: key) ?? "") }
/// ```
///
/// It is a copy in this process's memory. Once taken, it holds no lock and no file, does not keep the log from being
/// checkpointed, and can be read after its store is closed. A snapshot of 100,000 small values takes 70 to 110 ms and
/// 13 MB; writers continue at the same time.
///
/// Layers, registered and declared defaults apply as they were at that time. Reading a key outside the prefix throws
/// `invalid`. A value that could not be read throws `corrupt` when its key is read, and is never absent. Layer values
/// that do not fit are not reported to the error handler, but `explain(_:)` lists them. In C: `kept_snapshot`. In
/// Python: `settings.snapshot(prefix)`.
public final class Snapshot: SettingsReading {
  /// The revision of the store at the time of the snapshot.
  public let revision: Revision
  /// The prefix of all its keys.
  public let prefix: ExactString
  public let identity: StoreIdentity
  private let layerState: LayerState
  // Both are ordered by their keys.
  private let entries: [KeyedEntry]
  private let unreadable: [UnreadableEntry]
  /// Of the unreadable ones those that the history has not kept.
  let lost: [KeyName: PastValue]

  init(
    _ stored: StoredEntries, prefix: ExactString, of identity: StoreIdentity, _ layerState: LayerState,
    lost: [KeyName: PastValue] = [:]
  ) {
    self.lost = lost
    self.prefix = prefix
    self.identity = identity
    self.layerState = layerState
    revision = stored.revision
    entries = stored.entries.inOrder(of: \.key.exact)
    unreadable = stored.unreadable.inOrder(of: \.key.exact)
  }

  /// The layers at the time of the snapshot.
  var layers: Layers { layerState.layers }

  public func entry(for key: KeyName) throws(StoreError) -> Entry? {
    guard key.exact.hasPrefix(prefix) else {
      throw StoreError(
        .invalid, key: key.text,
        "is not in the snapshot, whose keys begin with \"\(prefix)\"; take one with another prefix")
    }
    if let found = entries.found(key, \.key) { return found.entry }
    if let unread = unreadable.found(key, \.key) { throw unread.reason }
    return nil
  }

  public func resolved(_ key: KeyName) throws(StoreError) -> Resolved { layers.resolve(key, try entry(for: key)) }

  public func storedKeys(prefix: ExactString) throws(StoreError) -> [KeyName] {
    try keys(under: prefix) { $0.entry.value != nil }
  }

  public func listedKeys(prefix: ExactString) throws(StoreError) -> [KeyName] {
    let prefix = try covered(prefix)
    try Allowance.ask(forEntries: entries.count + unreadable.count, to: "list the keys")
    let stored = try keys(under: prefix) { _ in true }
    if layers.isEmpty, entries.allSatisfy({ $0.entry.declaration == nil }) { return stored }
    var listed: [KeyName] = []
    for key in Array(Set(stored + layers.keys(prefix: prefix))).inOrder(of: \.exact) {
      let counts = isUnreadable(key) ? true : try contains(key)
      if counts { listed.append(key) }
    }
    return listed
  }

  public func explanation(of key: KeyName) throws(StoreError) -> Explanation {
    let entry = try entry(for: key)
    try entry?.declaration?.makeKnown()
    return layerState.explain(key, entry)
  }

  /// The declarations of the keys that begin with a prefix, in byte order.
  public func declarations(prefix: String = "") throws(StoreError) -> DeclarationList {
    let prefix = try covered(ExactString(prefix))
    var declared = entries.compactMap { entry in entry.entry.declaration.map { (key: entry.key, declaration: $0) } }
    declared += unreadable.compactMap { entry in entry.declaration.map { (key: entry.key, declaration: $0) } }
    return try DeclarationList(checking: declared.filter { $0.key.exact.hasPrefix(prefix) }.inOrder(of: \.key.exact))
  }

  private func keys(
    under prefix: ExactString, _ isWanted: (KeyedEntry) -> Bool
  ) throws(StoreError) -> [KeyName] {
    let prefix = try covered(prefix)
    var keys = entries.filter { $0.key.exact.hasPrefix(prefix) && isWanted($0) }.map(\.key)
    guard !unreadable.isEmpty else { return keys }
    keys += unreadable.map(\.key).filter { $0.exact.hasPrefix(prefix) }
    return keys.inOrder(of: \.exact)
  }

  private func isUnreadable(_ key: KeyName) -> Bool { unreadable.found(key, \.key) != nil }

  /// The prefix as a checked text, if the snapshot covers it.
  private func covered(_ prefix: ExactString) throws(StoreError) -> ExactString {
    if prefix.hasPrefix(self.prefix) { return prefix }
    if prefix.text.isEmpty { return self.prefix }
    throw StoreError(
      .invalid,
      "the snapshot has only keys that begin with \"\(self.prefix)\", not all that begin with \"\(prefix)\"; "
        + "take one with a shorter prefix")
  }
}

extension Store {
  /// Takes a snapshot of the current values.
  ///
  /// Throws `unsupported` if the storage cannot list its keys. In C: `kept_snapshot`. In Python:
  /// `settings.snapshot(prefix)`.
  /// - Parameter prefix: only keys that begin with it; `""` for all.
  public func snapshot(prefix: String = "") throws(StoreError) -> Snapshot {
    let prefix = ExactString(prefix)
    layerStack.watchAgain()
    let layerState = layerStack.layerState((try? undeclaredVariables()) ?? [])
    let stored = try storage().entries(in: [.prefix(prefix)])
    try Allowance.ask(forEntries: stored.entries.count + stored.unreadable.count, to: "take a snapshot")
    return Snapshot(stored, prefix: prefix, of: identity, layerState)
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
