// What migrations do with keys, in a transaction or by itself.

extension SettingsAccess {
  /// Moves what is stored under a key, and what it is declared as, to another key; in one commit.
  ///
  /// The C twin is `kept_rename`. In Python: `settings.rename(key, to)`.
  ///
  /// Throws `absent` where the key is neither stored nor declared, `invalid` where the other one is, and `locked`.
  /// - Returns: the layer that hides what is stored; nil: nothing hides it.
  @discardableResult
  public func rename(_ key: String, to other: String) throws(StoreError) -> Layer? {
    let (key, other) = (try KeyName(key), try KeyName(other))
    try together { settings throws(StoreError) in try settings.move(key, to: other) }
    return layerHiding(other)
  }

  /// Removes what is stored under a key, and what it is declared as; false: there was neither.
  @discardableResult
  public func drop(_ key: String) throws(StoreError) -> Bool {
    var isDropped = false
    try together { settings throws(StoreError) in
      let isRemoved = try settings.remove(key)
      let isUndeclared = try settings.undeclare(key)
      isDropped = isRemoved || isUndeclared
    }
    return isDropped
  }

  fileprivate func move(_ key: KeyName, to other: KeyName) throws(StoreError) {
    guard let entry = try entry(for: key), entry.isThere else {
      throw StoreError(.absent, key: key.text, "is neither stored nor declared, and cannot be renamed")
    }
    guard key != other else { return }
    if let there = try self.entry(for: other), there.isThere {
      throw StoreError(
        .invalid, key: key.text, "cannot be renamed to \"\(other.text)\", which is there already; remove that first")
    }
    if let declaration = entry.declaration { _ = try declare([key, other], [nil, declaration]) }
    guard let value = entry.value else { return }
    _ = try delete(key)
    _ = try put(value, for: other, ifRevision: nil)
  }

  /// Does several things as one commit: in this transaction, or in one of its own.
  func together(_ body: (Transaction) throws(StoreError) -> Void) throws(StoreError) {
    if let transaction = self as? Transaction { return try body(transaction) }
    do { try store.transaction { transaction in try body(transaction) } } catch let error as StoreError {
      throw error
    } catch {
      throw StoreError(.failed, "\(error)")
    }
  }
}
