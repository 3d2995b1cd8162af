// A snapshot of the past: the stored values, with the older ones from the history put back.

import KeptSchema
public import KeptValues

extension Store {
  /// Takes a snapshot of the values that were stored at a revision, as far as the history has them.
  ///
  /// Declarations, layers and registered defaults are the current ones. Reading a key whose value the history has not
  /// kept throws `unsupported`; it keeps no secrets, unless they are encrypted. A value that is older than the history
  /// has the revision that the history begins with. In C: `kept_snapshot_at`. In Python: `settings.snapshot(prefix,
  /// at=revision)`.
  ///
  /// Throws `absent` for a revision that is later than the store's or earlier than the history, and for one that the
  /// history has only as a part of a change, see ``History/missing``. Throws `unsupported` for a storage without a
  /// history.
  /// - Parameter prefix: only keys that begin with it; `""` for all.
  public func snapshot(prefix: String = "", at revision: Revision) throws(StoreError) -> Snapshot {
    let prefix = ExactString(prefix)
    layerStack.watchAgain()
    let layerState = layerStack.layerState((try? undeclaredVariables()) ?? [])
    let storage = try historicalStorage()
    let (history, stored) = try unlocking({ $0.1 }) { () throws(StoreError) in
      try storage.historyAndEntries(in: .prefix(prefix))
    }
    try history.shown.check(revision, upTo: stored.revision)
    try Allowance.ask(
      forEntries: stored.entries.count + stored.unreadable.count + history.changes.count, to: "take a snapshot")
    let (past, lost) = history.entries(at: revision, from: stored, opening: openSecret)
    return Snapshot(CopiedContents(past), prefix: prefix, of: identity, layerState, lost: lost)
  }
}

extension History {
  /// Throws unless the history has a revision.
  fileprivate func check(_ revision: Revision, upTo last: Revision) throws(StoreError) {
    guard revision <= last else {
      throw StoreError(.absent, "the store is at revision \(last); revision \(revision) does not exist yet")
    }
    guard revision >= completeAfter else {
      throw StoreError(
        .absent, "the history does not have revision \(revision); use \(completeAfter) or a later revision")
    }
    guard let range = missing.first(where: { $0.contains(revision) }) else { return }
    let (before, after) = (range.lowerBound - 1, range.upperBound + 1)
    throw StoreError(
      .absent,
      "the history does not have revision \(revision): revisions \(range.lowerBound) to \(after) are one change, "
        + "because they were committed within about a second; use \(before) or \(after)")
  }

  /// Why the history does not have the value of a key.
  private static func lack(of value: PastValue, at revision: Revision) -> String {
    switch value {
    case .secret: "had a secret value at revision \(revision), and the history keeps no secrets"
    case .notKept: "had a value at revision \(revision), but it was too large for the history"
    default: "may have had a value at revision \(revision): the history no longer has the first changes of the key"
    }
  }

  /// Returns the entries as of a revision, and those that it has not kept.
  fileprivate func entries(
    at revision: Revision, from stored: StoredEntries, opening open: (PastChange) throws(StoreError) -> Value
  ) -> (entries: StoredEntries, lost: [KeyName: PastValue]) {
    var lost: [KeyName: PastValue] = [:]
    var (old, since) = ([KeyName: PastChange](), [KeyName: Revision]())
    for change in changes {
      let key = change.key
      if change.revision > revision { old[key] = change } else if since[key] == nil { since[key] = change.revision }
    }
    var past = StoredEntries(entries: [], revision: revision)
    func add(_ key: KeyName, _ declaration: Declaration?, _ change: PastChange) {
      let (value, set) = (change.old, since[key] ?? completeAfter)
      switch value {
      case .secret where change.sealed != nil && declaration?.isSecret == true:
        do throws(StoreError) {
          let entry = Entry(value: try open(change), revision: set, declaration: declaration)
          past.entries.append(KeyedEntry(key: key, entry: entry))
        } catch {
          past.unreadable.append(UnreadableEntry(key: key, reason: error, revision: set, declaration: declaration))
        }
      case .absent:
        let entry = Entry(value: nil, revision: 0, declaration: declaration)
        if declaration != nil { past.entries.append(KeyedEntry(key: key, entry: entry)) }
      case .value(let value):
        let entry = Entry(value: value, revision: set, declaration: declaration)
        past.entries.append(KeyedEntry(key: key, entry: entry))
      case .secret, .notKept, .unknown:
        let reason = StoreError(.unsupported, key: key.text, Self.lack(of: value, at: revision))
        lost[key] = value
        past.unreadable.append(UnreadableEntry(key: key, reason: reason, revision: set, declaration: declaration))
      }
    }
    for keyed in stored.entries {
      if let change = old.removeValue(forKey: keyed.key) {
        add(keyed.key, keyed.entry.declaration, change)
      } else {
        past.entries.append(keyed)
      }
    }
    for entry in stored.unreadable {
      if let change = old.removeValue(forKey: entry.key) {
        add(entry.key, entry.declaration, change)
      } else {
        past.unreadable.append(entry)
      }
    }
    for (key, change) in old { add(key, nil, change) }
    return (past, lost)
  }
}
