// The history of a store, and commits that restore the values that an earlier one has replaced.

import KeptSchema
public import KeptValues

extension Store {
  /// Returns the past changes of one key, newest first.
  ///
  /// In C: `kept_history_json`. In Python: `settings.history(key)`.
  ///
  /// The store keeps a limited number, see ``historyLimits()``. Every commit that has returned is in it.
  ///
  /// Throws `unsupported` for a storage without a folder, such as `memory:`.
  public func history(of key: String) throws(StoreError) -> History { try history(in: .key(KeyName(key))) }

  /// Returns the past changes of all keys that begin with a prefix, newest first, as ``history(of:)`` does for one.
  public func history(prefix: String = "") throws(StoreError) -> History {
    try history(in: .prefix(ExactString(prefix)))
  }

  private func history(in scope: Scope) throws(StoreError) -> History {
    try historicalStorage().history(in: scope).shown
  }

  /// Restores the values that the commit with a revision has replaced, as one new commit, which can be undone, too.
  ///
  /// Nothing else is changed. Declarations stay as they are, and a value under the former name of a key that has one is
  /// not restored. In C: `kept_undo`. In Python: `settings.undo(revision)`.
  ///
  /// Throws, with nothing changed: `absent` if the history does not have the whole commit, or has it as a part of a
  /// later one; `conflict`, with a list, if one of its keys has changed since; `unsupported` if an old value was not
  /// kept, as that of a secret that was not encrypted; and `locked` or `invalid` if an old value is not admitted any
  /// more.
  /// - Parameters:
  ///   - durability: that of the commit; nil for the store's own.
  ///   - tag: the tag of the commit; nil for the store's own ``StoreOptions/tag``.
  ///   - isDryRun: whether nothing is changed, and it throws as if something were.
  /// - Returns: the keys, in byte order.
  @discardableResult
  public func undo(
    revision: Revision, durability: Durability? = nil, tag: String? = nil, isDryRun: Bool = false
  ) throws(StoreError) -> [String] {
    var keys: [String] = []
    func restore(in transaction: Transaction) throws(StoreError) {
      // Every attempt reads the history again.
      let changes = try self.changes(of: revision, transaction)
      keys = changes.map(\.key.text)
      for change in changes { try transaction.restore(change) }
      // Under a former name, a value that is put back would be newer than the key's own.
      let removed = Set(changes.lazy.filter { $0.new == .absent }.map(\.key))
      for (key, declaration) in removed.isEmpty ? [] : try storage().declarations(prefix: "") {
        guard let name = declaration.writtenFormerName, removed.contains(name),
          try transaction.hasValue(underAny: [key])
        else { continue }
        _ = try transaction.delete(name)
      }
    }
    if isDryRun {
      let transaction = try begin()
      defer { transaction.rollBack() }
      try restore(in: transaction)
    } else {
      try together([], durability, tag: tag) { transaction throws(StoreError) in try restore(in: transaction) }
    }
    return keys
  }

  /// The changes of a commit, if all of them can be restored.
  private func changes(of revision: Revision, _ transaction: Transaction) throws(StoreError) -> [PastChange] {
    // Also the changes that have had no effect: they are changes since.
    let history = try historicalStorage().history(in: .prefix(""))
    let changes = history.changes.filter { $0.revision == revision && $0.hasEffect }
    let isWhole = !history.changes.contains { $0.isTorn && $0.first <= revision && revision <= $0.revision }
    guard !changes.isEmpty, isWhole, revision > history.completeAfter else {
      throw StoreError(.absent, "revision \(revision) cannot be undone: \(history.lack(of: revision))")
    }
    let later = Set(history.changes.lazy.filter { $0.revision > revision }.map(\.key))
    let changed = changes.filter { later.contains($0.key) }
    guard changed.isEmpty else {
      transaction.refuse()
      throw StoreError(
        .conflict, key: changed.first?.key.text,
        "revision \(revision) cannot be undone: these keys have changed since: "
          + "\(changed.map(\.key.text).joined(separator: ", ")); undo the later changes first, or set the keys yourself"
      )
    }
    return changes
  }

  /// The limits of the history, which apply to all programs.
  ///
  /// In C: `kept_history_limits_json`. In Python: `settings.history_limits`.
  ///
  /// Throws `unsupported` for a storage without a folder.
  public func historyLimits() throws(StoreError) -> HistoryLimits { try historicalStorage().historyLimits() }

  /// Sets the limits of the history, for all programs; ``HistoryLimits/off`` forgets it and keeps none.
  ///
  /// In C: `kept_set_history_limits`. In Python: `settings.history_limits = {…}`.
  ///
  /// Throws `unsupported` for a storage without a folder, and `denied` for a store that may only be read.
  public func setHistoryLimits(_ limits: HistoryLimits) throws(StoreError) { try historicalStorage().set(limits) }

  func historicalStorage() throws(StoreError) -> any HistoricalStorage {
    if let storage = try storage() as? any HistoricalStorage { return storage }
    throw StoreError(.unsupported, "this storage keeps no history; use a store in a folder")
  }
}

extension Store {
  /// The old value of a change, which is an encrypted secret.
  func openSecret(of change: PastChange) throws(StoreError) -> Value {
    try unlocking { () throws(StoreError) in
      guard let sealed = change.sealed, let secrets = shared.secrets else {
        throw StoreError(.unsupported, key: change.key.text, "the history keeps no secrets; set the key yourself")
      }
      do throws(StoreError) { return try secrets.open(old: sealed, of: change.key) } catch {
        throw error.about(change.key.text)
      }
    }
  }
}

extension History {
  /// The reason why the history does not have a revision.
  fileprivate func lack(of revision: Revision) -> String {
    let folds = changes.lazy.filter { $0.first < $0.revision && $0.first <= revision && revision <= $0.revision }
    if revision > completeAfter, let fold = folds.first(where: \.isTorn) {
      return
        "it is in the history only as part of the combined changes of revisions \(fold.first) to "
        + "\(fold.revision); set the keys yourself"
    }
    if revision > completeAfter, let fold = folds.first {
      return "the history has revisions \(fold.first) to \(fold.revision) as one change; undo \(fold.revision)"
    }
    let range = changes.first.map { "has revisions \(completeAfter + 1) to \($0.revision)" }
    return "the history \(range ?? "is empty"); this revision is not in it or changed no value"
  }
}

extension Transaction {
  /// Sets a key to what it had before a change, which must be its last.
  fileprivate func restore(_ change: PastChange) throws(StoreError) {
    let key = change.key
    let present = try entry(for: key)
    let isAbsent = present?.value == nil
    guard isAbsent ? change.new == .absent : present?.revision == change.revision else {
      // Changed after the history was read; the next attempt says so.
      throw StoreError(.conflict, key: key.text, "its value has changed since revision \(change.revision)")
    }
    switch change.old {
    case .value(let value): _ = try put(value, for: key, ifRevision: nil)
    case .absent: _ = try delete(key)
    case .secret where change.sealed != nil && present?.declaration?.isSecret == true:
      _ = try put(store.openSecret(of: change), for: key, ifRevision: nil)
    case .secret:
      throw StoreError(
        .unsupported, key: key.text,
        "revision \(change.revision) cannot be undone: the history keeps no secrets; set the key yourself")
    case .notKept:
      throw StoreError(
        .unsupported, key: key.text,
        "revision \(change.revision) cannot be undone: the old value was too large to be kept; set the key yourself")
    case .unknown:
      throw StoreError(
        .unsupported, key: key.text,
        "revision \(change.revision) cannot be undone: the history no longer has the previous value; set the key "
          + "yourself")
    }
  }
}
