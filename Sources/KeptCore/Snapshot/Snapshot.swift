// A snapshot of a store: its entries under a prefix, read under the layers of its handle at that time.

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
/// It holds no lock, and can be read after its store is closed. Taking it does not depend on the number of keys: until
/// it is released, it keeps the files open that the store had, and their disk space. Of a storage without a folder it
/// is a copy in this process's memory.
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
  private let contents: any StoredContents
  /// The values that the history has not kept.
  let lost: [KeyName: PastValue]

  init(
    _ contents: any StoredContents, prefix: ExactString, of identity: StoreIdentity, _ layerState: LayerState,
    lost: [KeyName: PastValue] = [:]
  ) {
    self.contents = contents
    self.lost = lost
    self.prefix = prefix
    self.identity = identity
    self.layerState = layerState
    revision = contents.revision
  }

  /// The layers at the time of the snapshot.
  var layers: Layers { layerState.layers }

  public func entry(for key: KeyName) throws(StoreError) -> Entry? {
    guard key.exact.hasPrefix(prefix) else {
      throw StoreError(
        .invalid, key: key.text,
        "is not in the snapshot, whose keys begin with \"\(prefix)\"; take one with another prefix")
    }
    return try contents.entry(for: key)
  }

  public func lockedEntry(for key: KeyName) throws(StoreError) -> Entry? {
    try contents.entries(below: key.exact).unreadable.first { $0.key == key && $0.reason.code == .unavailable }?.locked
  }

  public func resolved(_ key: KeyName) throws(StoreError) -> Resolved { layers.resolve(key, try entry(for: key)) }

  public func storedKeys(prefix: ExactString) throws(StoreError) -> [KeyName] {
    keys(of: try contents.entries(below: covered(prefix))) { $0.entry.value != nil }
  }

  public func listedKeys(prefix: ExactString) throws(StoreError) -> [KeyName] {
    let prefix = try covered(prefix)
    let found = try contents.entries(below: prefix)
    try Allowance.ask(forEntries: found.entries.count + found.unreadable.count, to: "list the keys")
    let stored = keys(of: found) { _ in true }
    if layers.isEmpty, found.entries.allSatisfy({ $0.entry.declaration == nil }) { return stored }
    let unreadable = Set(found.unreadable.map(\.key))
    var listed: [KeyName] = []
    for key in Array(Set(stored + layers.keys(prefix: prefix))).inOrder(of: \.exact) {
      let counts = unreadable.contains(key) ? true : try contains(key)
      if counts { listed.append(key) }
    }
    return listed
  }

  public func explanation(of key: KeyName) throws(StoreError) -> Explanation {
    let (entry, unread) = try storedEntry(for: key)
    try entry?.declaration?.makeKnown()
    return layerState.explain(key, entry, unread: unread)
  }

  /// The declarations of the keys that begin with a prefix, in byte order.
  public func declarations(prefix: String = "") throws(StoreError) -> DeclarationList {
    let found = try contents.entries(below: covered(ExactString(prefix)))
    var declared = found.entries.compactMap { entry in entry.entry.declaration.map { (key: entry.key, declaration: $0) }
    }
    declared += found.unreadable.compactMap { entry in entry.declaration.map { (key: entry.key, declaration: $0) } }
    return try DeclarationList(checking: declared.inOrder(of: \.key.exact))
  }

  private func keys(of found: StoredEntries, _ isWanted: (KeyedEntry) -> Bool) -> [KeyName] {
    let keys = found.entries.filter(isWanted).map(\.key)
    return found.unreadable.isEmpty ? keys : (keys + found.unreadable.map(\.key)).inOrder(of: \.exact)
  }

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
    let contents = try contents(below: prefix, to: "take a snapshot")
    return Snapshot(contents, prefix: prefix, of: identity, layerState)
  }
}
