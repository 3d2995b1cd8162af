// Transactions and atomic updates of a store: run, commit, and retry after a conflict.

import KeptSystem
public import KeptValues

extension Store {
  /// Runs `body` as one commit: other readers see all of its changes or none.
  ///
  /// A transaction reads its own writes. When another writer changes what it read before it commits, it is run again
  /// from the start, so the closure must have no effect outside it. It is rolled back when the closure throws.
  ///
  /// Throws what the closure throws, and `conflict` if every attempt within the busy timeout conflicts. In C:
  /// `kept_begin`, `kept_commit` and `kept_rollback`.
  /// - Parameter tag: the tag of this commit, in place of the store's own ``StoreOptions/tag``.
  @discardableResult
  public func transaction<Result>(
    durability: Durability? = nil, tag: String? = nil, _ body: (Transaction) throws -> Result
  ) throws -> Result {
    let deadline = MonotonicTime.milliseconds + Int64(options.patience)
    var attempt = 0
    while true {
      let transaction = try begin(durability: durability, tag: tag)
      do {
        let result = try body(transaction)
        _ = try transaction.commit()
        return result
      } catch StoreError.Code.conflict where MonotonicTime.milliseconds < deadline && !transaction.wasRefused {
        transaction.rollBack()
        MonotonicTime.backOff(attempt: attempt)
        attempt += 1
      } catch {
        transaction.rollBack()
        throw error
      }
    }
  }

  /// Changes a value atomically: no other write happens between the read and the write.
  ///
  /// `body` receives the value, nil if the key is absent, and may be run several times; setting it to nil removes the
  /// key. The layers above the store are disregarded, because their values are not to be stored.
  /// - Returns: the value afterwards.
  @discardableResult
  public func updateValue(_ key: String, _ body: (inout Value?) throws -> Void) throws -> Value? {
    let key = try KeyName(key)
    return try transaction { transaction in
      var value = try transaction.resolvedToChange(key).value
      try body(&value)
      if let value, value != .null {
        _ = try transaction.put(try value.checked(for: key), for: key, ifRevision: nil)
      } else {
        _ = try transaction.delete(key)
      }
      return value
    }
  }

  /// Begins a transaction that the caller ends.
  ///
  /// In C: `kept_begin`.
  package func begin(durability: Durability? = nil, tag: String? = nil) throws(StoreError) -> Transaction {
    _ = try currentRevision()
    try Limits.checkTag(tag?.utf8.count ?? 0)
    return Transaction(of: self, durability: durability, tag: tag)
  }
}

extension Transaction {
  /// The value of a key for a caller that changes it, disregarding the layers above the store.
  package func resolvedToChange(_ key: KeyName) throws(StoreError) -> Resolved {
    layerStack.resolve(key, try entry(for: key), from: .user)
  }
}
