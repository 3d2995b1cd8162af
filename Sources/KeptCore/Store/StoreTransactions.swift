// Transactions and atomic updates of a store: run, commit, and begin again when somebody else was faster.

extension Store {
  /// Runs `body` as one commit: everything in it is seen together, or not at all.
  ///
  /// It reads its own writes. When somebody else changes what it read before it commits, it is run again from the
  /// start, so the closure must have no effect outside it. It is rolled back when the closure throws.
  ///
  /// Throws what the closure throws, and `conflict` if it was overtaken for as long as the busy time-out. The C twins
  /// are `kept_begin`, `kept_commit` and `kept_rollback`.
  /// - Parameter tag: what the writer calls itself, in place of the store's own ``StoreOptions/tag``.
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

  /// Changes a value as one step: nobody else writes it between the reading and the writing.
  ///
  /// `body` receives the value, nil if the key is absent, and may be run several times; setting it to nil removes the
  /// key. The layers above the store are not asked: what they say is not what is to be stored.
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
  /// The C twin is `kept_begin`.
  package func begin(durability: Durability? = nil, tag: String? = nil) throws(StoreError) -> Transaction {
    _ = try currentRevision()
    return Transaction(of: self, durability: durability, tag: tag)
  }
}

extension Transaction {
  /// What a key reads as for who wants to change it: the layers above the store are not asked.
  package func resolvedToChange(_ key: KeyName) throws(StoreError) -> Resolved {
    layerStack.resolve(key, try entry(for: key), from: .user)
  }
}
