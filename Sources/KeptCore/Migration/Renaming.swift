// Key operations of migrations, in a transaction or on their own.

import KeptSchema
public import KeptValues

extension SettingsAccess {
  /// Moves the stored value and the declaration of a key to another key, in one commit.
  ///
  /// In C: `kept_rename`. In Python: `settings.rename(key, to)`.
  ///
  /// Throws `invalid` if the other key exists already, and `locked`.
  /// - Returns: false if the key is neither stored nor declared.
  @discardableResult
  public func rename(_ key: String, to other: String) throws(StoreError) -> Bool {
    let (key, other) = (try KeyName(key), try KeyName(other))
    var isMoved = false
    try together([key, other]) { settings throws(StoreError) in isMoved = try settings.move(key, to: other) }
    return isMoved
  }

  /// Removes the stored value and the declaration of a key; returns false if there was neither.
  @discardableResult
  public func drop(_ key: String) throws(StoreError) -> Bool {
    var isDropped = false
    try together([try KeyName(key)]) { settings throws(StoreError) in
      let isRemoved = try settings.remove(key)
      let isUndeclared = try settings.undeclare(key)
      isDropped = isRemoved || isUndeclared
    }
    return isDropped
  }

  private func move(_ key: KeyName, to other: KeyName) throws(StoreError) -> Bool {
    guard let entry = try entry(for: key), entry.isThere else { return false }
    guard key != other else { return true }
    if let there = try self.entry(for: other), there.isThere {
      throw StoreError(
        .invalid, key: key.text, "cannot be renamed to \"\(other.text)\", which already exists; remove that key first")
    }
    // Locks do not cover a declaration alone, but its default would be read under the other name.
    store.layerStack.watchAgain()
    for name in [key, other] { try store.checkUnlocked(name) }
    if let declaration = entry.declaration {
      let renamed = declaration.formerName == other ? try declaration.changing("renamedFrom", to: nil) : declaration
      let others = try store.declarations(losing: renamed.isSecret ? [other] : [], in: self)
      _ = try declare([key, other] + others.map(\.key), [nil, renamed] + others.map { $0.declaration })
    }
    guard let value = entry.value else { return true }
    _ = try delete(key)
    _ = try put(value, for: other, ifRevision: nil)
    return true
  }

  /// Makes several changes as one commit: in this transaction, or in one of its own.
  /// - Parameters:
  ///   - keys: the keys whose edits in this transaction are all undone if one is refused.
  ///   - durability: that of a commit of its own.
  ///   - tag: the tag of a commit of its own.
  func together(
    _ keys: [KeyName] = [], _ durability: Durability? = nil, tag: String? = nil,
    _ body: (Transaction) throws(StoreError) -> Void
  ) throws(StoreError) {
    if let transaction = self as? Transaction {
      return try transaction.allOrNone(of: keys) { () throws(StoreError) in try body(transaction) }
    }
    do { try store.transaction(durability: durability, tag: tag) { transaction in try body(transaction) } } catch let
      error as StoreError
    {
      throw error
    } catch {
      throw StoreError(.failed, "\(error)")
    }
  }
}
