// What a store and a transaction have in common: the same calls write both.

/// Something with keys and values to be read and written: a ``Store`` or a ``Transaction``.
///
/// Kept's own types alone conform; it is public so that you can write functions that take either.
public protocol SettingsAccess: SettingsReading {
  /// The store that is read and written, by itself or by this transaction.
  var store: Store { get }

  /// Writes a value that was made ready by ``Value/checkedForStore()``.
  ///
  /// - Parameter expected: if not nil, the revision that the key must have; 0: it must be absent.
  /// - Returns: the key's revision afterwards, 0 inside a transaction.
  func put(_ value: Value, for key: KeyName, ifRevision expected: Revision?) throws(StoreError) -> Revision

  /// Removes a key; false if there was nothing to remove, and then nothing changed.
  func delete(_ key: KeyName) throws(StoreError) -> Bool

  /// Declares keys, or takes declarations away where there is nil; as many of the one as of the other.
  ///
  /// - Returns: those that are declared otherwise now, with what is stored and whether it was stored as a secret.
  func declare(
    _ keys: [KeyName], _ declarations: [Declaration?]
  ) throws(StoreError) -> [(key: KeyName, entry: Entry, wasSecret: Bool)]
}

extension SettingsAccess {
  /// Writes a value; `null` removes the key.
  ///
  /// The C twin is `kept_set_json`.
  ///
  /// Throws `invalid` for a key that is none or a value that nests too deep, `tooLarge` for one over the limits,
  /// `locked` for a key that an administrator has locked, and `wrongType` or `invalid` for what breaks a declaration.
  /// - Returns: the layer that hides what is stored; nil: nothing hides it.
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
  /// The C twin is `kept_set_json_if`. Throws `conflict`, with nothing written, if the key has another revision; in a
  /// transaction the commit may be the one that throws it.
  /// - Returns: the key's revision afterwards, 0 inside a transaction.
  @discardableResult
  public func set(_ value: Value, forKey key: String, ifRevision expected: Revision) throws(StoreError) -> Revision {
    let key = try KeyName(key)
    return try put(try value.checked(for: key), for: key, ifRevision: expected)
  }

  /// Writes a value given as JSON; the text `null` removes the key.
  ///
  /// The C twin is `kept_set_json`.
  ///
  /// Throws `invalid` with the offset of the byte that is wrong, and what ``set(_:forKey:)-(Value,_)`` throws.
  /// - Returns: the layer that hides what is stored; nil: nothing hides it.
  @discardableResult
  public func setJSON(_ json: String, forKey key: String) throws(StoreError) -> Layer? {
    do { return try set(Value(json: json), forKey: key) } catch { throw error.about(key) }
  }

  /// Removes a key; false if there was nothing to remove.
  ///
  /// The C twin is `kept_remove`.
  @discardableResult
  public func remove(_ key: String) throws(StoreError) -> Bool { try delete(KeyName(key)) }

  public func listedKeys(prefix: ExactString) throws(StoreError) -> [KeyName] {
    let stored = try storedKeys(prefix: prefix)
    layerStack.watchAgain()
    let layers = layerStack.layers
    let declared = try declaredKeys(prefix: prefix)
    if layers.isEmpty, declared.isEmpty { return stored }
    // What is stored, free and may hold anything counts at once; all else is read.
    let isStored = Set(stored)
    var keys: [KeyName] = []
    for key in Array(isStored.union(layers.keys(prefix: prefix))).inOrder(of: \.exact) {
      let isPlain = isStored.contains(key) && !declared.contains(key) && !layers.managed.locks(key)
      let counts = isPlain ? true : try contains(key)
      if counts { keys.append(key) }
    }
    return keys
  }

  private func declaredKeys(prefix: ExactString) throws(StoreError) -> Set<KeyName> {
    let declared = Set(try store.storage().declarations(prefix: prefix).map(\.key))
    return (self as? Transaction).map { declared.union($0.newlyDeclared) } ?? declared
  }

  public func explanation(of key: KeyName) throws(StoreError) -> Explanation {
    let entry = try entry(for: key)
    try entry?.declaration?.makeKnown()
    layerStack.watchAgain()
    return layerStack.moment.explain(key, entry)
  }

  /// The layer that hides what is stored under a key, if one does.
  package func layerHiding(_ key: KeyName) -> Layer? {
    guard layerStack.hasText, layerStack.layers.mayHide(key), let layer = (try? resolved(key))?.layer else {
      return nil
    }
    return layer > .user ? layer : nil
  }

  public var identity: StoreIdentity { store.identity }

  /// How the handle reads.
  var layerStack: LayerStack { store.layerStack }
}

extension Value {
  /// The value as a store keeps it; errors name the key.
  package func checked(for key: KeyName) throws(StoreError) -> Value {
    do { return try checkedForStore() } catch { throw error.about(key.text) }
  }
}

extension StoreError {
  /// What to say of a write that a layer hides.
  package static func shadowed(_ key: KeyName, by layer: Layer) -> StoreError {
    StoreError(
      .shadowed, key: key.text,
      "is hidden: the store was written, but the \(layer) layer comes before it and decides what is read")
  }
}
