// Resetting keys to their defaults: one key, or all under a prefix.

public import KeptValues

extension SettingsAccess {
  /// Resets a key to its default by removing the stored value, if there is one.
  ///
  /// In C: `kept_reset`. In Python: `settings.reset(key)`. Throws `locked`.
  /// - Returns: the layer that decides in its place, the command line or the environment; nil if neither has a value.
  @discardableResult
  public func reset(_ key: String) throws(StoreError) -> Layer? { try reset(KeyName(key)) }

  package func reset(_ key: KeyName) throws(StoreError) -> Layer? {
    try clear(key)
    return layerHiding(key)
  }

  /// Removes the stored value, if there is one.
  ///
  /// A transaction does not depend on what that value was.
  package func clear(_ key: KeyName) throws(StoreError) {
    if let transaction = self as? Transaction {
      try transaction.removeUnseen([key])
    } else {
      _ = try delete(key)
    }
  }

  /// Removes the stored values of all keys that begin with a prefix, in one commit.
  ///
  /// Declarations stay.
  ///
  /// Values that cannot be read are removed too. In C: `kept_remove_all`. In Python: `settings.remove_all(prefix)`.
  ///
  /// Throws `locked`, with nothing removed, if one of the keys is locked; `busy` if others keep writing under the
  /// prefix; and `unsupported` for several keys in a storage that changes one at a time.
  /// - Parameter prefix: `""` for every key. It has no default value because the removal cannot be undone.
  /// - Returns: how many keys were removed.
  @discardableResult
  public func removeAll(prefix: String) throws(StoreError) -> Int {
    if let store = self as? Store, try store.storage() is any FolderStorage {
      return try store.removeAllAtOnce(prefix: ExactString(prefix))
    }
    var count: Int?
    do throws(StoreError) {
      try together { transaction throws(StoreError) in
        let keys = try transaction.storedKeys(prefix: ExactString(prefix))
        count = keys.count
        try transaction.removeUnseen(keys)
      }
    } catch {
      if error.code == .unsupported, let count, count > 1, !(self is Transaction) {
        throw StoreError(
          .unsupported,
          "nothing was removed, because this storage changes one key at a time, and \(count) keys begin with "
            + "\"\(prefix)\"; remove each by its name")
      }
      guard error.code == .conflict, self is Store else { throw error }
      throw StoreError(
        .busy,
        "nothing was removed, because other writers kept changing keys that begin with \"\(prefix)\"; try again when "
          + "they have finished")
    }
    return count ?? 0
  }
}

extension Store {
  /// Removes the stored values of all keys with a prefix, also of those that others add until the commit.
  fileprivate func removeAllAtOnce(prefix: ExactString) throws(StoreError) -> Int {
    layerStack.watchAgain()
    var batch = newBatch()
    batch.completion = Completion(scope: prefix, base: nil) { [layerStack] key, stored, batch throws(StoreError) in
      let (entry, hasValue) = try stored()
      guard hasValue else { return }
      try layerStack.checkUnlocked(key, entry?.declaration)
      batch.edit(key, .remove)
    }
    return try commit(batch).count
  }
}

extension Transaction {
  /// Removes keys without reading them, including values that cannot be read.
  ///
  /// Removes none if one is locked.
  fileprivate func removeUnseen(_ keys: [KeyName]) throws(StoreError) {
    try checkOpen()
    store.layerStack.watchAgain()
    for key in keys { try store.checkUnlocked(key) }
    try edit { batch in for key in keys { batch.edit(key, .remove) } }
  }
}
