// A snapshot of the past: what is stored now, with what the history has of it put back.

extension Store {
  /// Takes a snapshot of the values that were stored at a revision, as far as the history has them.
  ///
  /// Declarations, layers and registered defaults are the current ones. Reading a key whose value the history has not
  /// kept throws `unsupported`; it keeps no secrets. The revision of a value that is older than the history is the one
  /// with which the history begins. In C: `kept_snapshot_at`. In Python: `settings.snapshot(prefix, at=revision)`.
  ///
  /// Throws `absent` for a revision that is later than the store's or earlier than the history, and for one that the
  /// history has only as a part of a change, see ``History/missing``. Throws `unsupported` for a storage without a
  /// history.
  /// - Parameter prefix: only keys that begin with it; `""` for all.
  public func snapshot(prefix: String = "", at revision: Revision) throws(StoreError) -> Snapshot {
    let prefix = ExactString(prefix)
    layerStack.watchAgain()
    let moment = layerStack.moment((try? undeclaredVariables()) ?? [])
    let (history, stored) = try historicalStorage().historyAndEntries(in: .prefix(prefix))
    try history.shown.check(revision, upTo: stored.revision)
    try Allowance.ask(
      forEntries: stored.entries.count + stored.unreadable.count + history.changes.count, to: "take a snapshot")
    return Snapshot(history.entries(at: revision, from: stored), prefix: prefix, of: identity, moment)
  }
}

extension History {
  /// Throws unless the history has a revision.
  fileprivate func check(_ revision: Revision, upTo last: Revision) throws(StoreError) {
    guard revision <= last else {
      throw StoreError(.absent, "the store is at revision \(last), and \(revision) is later")
    }
    guard revision >= completeAfter else {
      throw StoreError(.absent, "the history of the store begins after revision \(completeAfter)")
    }
    guard let range = missing.first(where: { $0.contains(revision) }) else { return }
    let (before, after) = (range.lowerBound - 1, range.upperBound + 1)
    throw StoreError(
      .absent,
      "the history does not have revision \(revision): the revisions \(range.lowerBound) to \(after) are one change, "
        + "because they followed one another within about a second; use \(before) or \(after)")
  }

  /// Why the history does not have the value of a key.
  private static func lack(of value: PastValue, at revision: Revision) -> String {
    switch value {
    case .secret: "had a value at revision \(revision) that is secret, and the history keeps no secrets"
    case .notKept: "had a value at revision \(revision) that was too large for the history"
    default: "may have had a value at revision \(revision): the history no longer has the first changes of the key"
    }
  }

  /// Returns what was stored at a revision.
  fileprivate func entries(at revision: Revision, from stored: StoredEntries) -> StoredEntries {
    var (old, since) = ([KeyName: PastValue](), [KeyName: Revision]())
    for change in changes {
      let key = change.key
      if change.revision > revision { old[key] = change.old } else if since[key] == nil { since[key] = change.revision }
    }
    var past = StoredEntries(entries: [], revision: revision)
    func add(_ key: KeyName, _ declaration: Declaration?, _ value: PastValue) {
      let set = since[key] ?? completeAfter
      switch value {
      case .absent:
        let entry = Entry(value: nil, revision: 0, declaration: declaration)
        if declaration != nil { past.entries.append(KeyedEntry(key: key, entry: entry)) }
      case .value(let value):
        let entry = Entry(value: value, revision: set, declaration: declaration)
        past.entries.append(KeyedEntry(key: key, entry: entry))
      case .secret, .notKept, .unknown:
        let reason = StoreError(.unsupported, key: key.text, Self.lack(of: value, at: revision))
        past.unreadable.append(UnreadableEntry(key: key, reason: reason, revision: set, declaration: declaration))
      }
    }
    for keyed in stored.entries {
      if let value = old.removeValue(forKey: keyed.key) {
        add(keyed.key, keyed.entry.declaration, value)
      } else {
        past.entries.append(keyed)
      }
    }
    for lost in stored.unreadable {
      if let value = old.removeValue(forKey: lost.key) {
        add(lost.key, lost.declaration, value)
      } else {
        past.unreadable.append(lost)
      }
    }
    for (key, value) in old { add(key, nil, value) }
    return past
  }
}
