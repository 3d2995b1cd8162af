// The writing calls that a store and a transaction share.

public import KeptSchema
public import KeptValues

/// A readable and writable set of keys and values: a ``Store`` or a ``Transaction``.
///
/// Only Kept's own types conform. The protocol is public so that you can write functions that take either.
public protocol SettingsAccess: SettingsReading {
  /// The store that is read and written, directly or by this transaction.
  var store: Store { get }

  /// Writes a value that was prepared by ``Value/checkedForStore()``.
  ///
  /// - Parameter expected: if not nil, the revision that the key must have; 0 if it must be absent.
  /// - Returns: the key's revision afterwards, 0 inside a transaction.
  func put(_ value: Value, for key: KeyName, ifRevision expected: Revision?) throws(StoreError) -> Revision

  /// Removes a key; returns false if there was nothing to remove, and then nothing has changed.
  func delete(_ key: KeyName) throws(StoreError) -> Bool

  /// Declares keys, and removes the declarations of keys with nil.
  ///
  /// The parameters have the same number of elements.
  ///
  /// - Returns: the keys whose declaration changed, with the stored value and whether it was stored as a secret.
  func declare(
    _ keys: [KeyName], _ declarations: [Declaration?]
  ) throws(StoreError) -> [(key: KeyName, entry: Entry, wasSecret: Bool)]
}

extension SettingsAccess {
  /// Writes a value; `null` removes the key.
  ///
  /// In C: `kept_set_json`.
  ///
  /// Throws `invalid` for an invalid key or a value that nests too deep, `tooLarge` for a value over the limits,
  /// `locked` for a key that an administrator has locked, and `wrongType` or `invalid` for a value that violates a
  /// declaration.
  /// - Returns: the layer that hides the stored value; nil if none does.
  @discardableResult
  public func set(_ value: Value, forKey key: String) throws(StoreError) -> Layer? {
    let key = try KeyName(key)
    if value == .null {
      try clear(key)
    } else {
      _ = try put(try value.checked(for: key), for: key, ifRevision: nil)
    }
    return layerHiding(key)
  }

  /// Writes a value if the key still has the revision that you read; 0 expects that it is absent.
  ///
  /// In C: `kept_set_json_if`. Throws `conflict`, with nothing written, if the key has another revision; in a
  /// transaction the commit may be the call that throws it.
  /// - Returns: the key's revision afterwards, 0 inside a transaction.
  @discardableResult
  public func set(_ value: Value, forKey key: String, ifRevision expected: Revision) throws(StoreError) -> Revision {
    let key = try KeyName(key)
    return try put(try value.checked(for: key), for: key, ifRevision: expected)
  }

  /// Writes a value given as JSON; the text `null` removes the key.
  ///
  /// In C: `kept_set_json`.
  ///
  /// Throws `invalid` with the offset of the byte that is wrong, and what ``set(_:forKey:)-(Value,_)`` throws.
  /// - Returns: the layer that hides the stored value; nil if none does.
  @discardableResult
  public func setJSON(_ json: String, forKey key: String) throws(StoreError) -> Layer? {
    do { return try set(Value(json: json), forKey: key) } catch { throw error.about(key) }
  }

  /// Removes a key; returns false if there was nothing to remove.
  ///
  /// In C: `kept_remove`.
  @discardableResult
  public func remove(_ key: String) throws(StoreError) -> Bool { try delete(KeyName(key)) }

  public func listedKeys(prefix: ExactString) throws(StoreError) -> [KeyName] {
    let (stored, declared) = (try storedKeys(prefix: prefix), try declaredKeys(prefix: prefix))
    return try store.listed(stored, declared, prefix: prefix) { key throws(StoreError) in try contains(key) }
  }

  private func declaredKeys(prefix: ExactString) throws(StoreError) -> Set<KeyName> {
    let declared = Set(try store.storage().declarations(prefix: prefix).map(\.key))
    return (self as? Transaction).map { declared.union($0.newlyDeclared) } ?? declared
  }

  public func explanation(of key: KeyName) throws(StoreError) -> Explanation {
    let (entry, unread) = try storedEntry(for: key)
    return try store.explanation(of: key, entry, unread)
  }

  /// The layer that hides the stored value of a key, if one does.
  package func layerHiding(_ key: KeyName) -> Layer? {
    guard layerStack.hasText else { return nil }
    let layers = layerStack.layers
    let mayHide = layers.mayHide(key) || (try? store.declaration(of: key))?.formerName.map(layers.mayHide) == true
    guard mayHide, let layer = (try? resolved(key))?.layer else { return nil }
    return layer > .user ? layer : nil
  }

  public var identity: StoreIdentity { store.identity }

  /// The layer stack of the handle.
  var layerStack: LayerStack { store.layerStack }
}

extension Store {
  /// The explanation of an entry under the layers now.
  @inline(never)
  fileprivate func explanation(
    of key: KeyName, _ entry: Entry?, _ unread: StoreError?
  ) throws(StoreError) -> Explanation {
    try entry?.declaration?.makeKnown()
    layerStack.watchAgain()
    // Unreadable variables are reported where they are read.
    return layerStack.layerState((try? undeclaredVariables()) ?? []).explain(key, entry, unread: unread)
  }

  /// The keys under a prefix that are stored, or that a layer has, and for which `contains` is true.
  fileprivate func listed(
    _ stored: [KeyName], _ declared: Set<KeyName>, prefix: ExactString,
    contains: (KeyName) throws(StoreError) -> Bool
  ) throws(StoreError) -> [KeyName] {
    layerStack.watchAgain()
    let layers = layerStack.layers
    if layers.isEmpty, declared.isEmpty { return stored }
    let isStored = Set(stored)
    // A layer may have a declared key under its former name.
    let others = layers.isEmpty ? [] : declared.union(layers.keys(prefix: prefix))
    let keys = Array(isStored.union(others)).inOrder(of: \.exact)
    // A key that is stored, not locked and not declared is listed without reading it; all others are read.
    let mustRead = keys.map { !isStored.contains($0) || declared.contains($0) || layers.managed.locks($0) }
    var listed: [KeyName] = []
    var group: [KeyName] = []
    for (place, key) in keys.enumerated() {
      // Reading some keys together costs little more than reading one. All at once would need much memory.
      if place % 64 == 0 {
        group.removeAll()
        for next in place..<min(place + 64, keys.count) where mustRead[next] { group.append(keys[next]) }
        fast?.load(group)
      }
      let counts = mustRead[place] ? try contains(key) : true
      if counts { listed.append(key) }
    }
    return listed
  }
}

extension Value {
  /// The value in stored form; errors name the key.
  package func checked(for key: KeyName) throws(StoreError) -> Value {
    do { return try checkedForStore() } catch { throw error.about(key.text) }
  }
}

extension StoreError {
  /// The warning for a write that a layer hides.
  package static func shadowed(_ key: KeyName, by layer: Layer) -> StoreError {
    StoreError(
      .shadowed, key: key.text,
      "is hidden: the \(layer) layer overrides the store")
  }
}
