// The shortest path of a commit: new values of keys that are in the index, while nothing of this process observes the
// store. Groups take five to ten times the instructions, most of them to count references.
//
// Every step answers nil where it would have to do more, or has failed, with nothing published; then the values take
// the path of groups, where all errors are.

import KeptSchema
import KeptSystem
import KeptValues

extension LocalStorage {
  func put(_ value: Value, for key: PreparedBytes, tag: String?) -> Revision? {
    noting { commitPath.writer.put(value, for: key, tag: tag) }
  }

  func put(_ batch: Batch) -> Revision? { noting { commitPath.writer.put(batch) } }

  @inline(__always)
  private func noting(_ commit: () -> Revision?) -> Revision? {
    // The group finds that the store is not in place, and has the error.
    guard (try? checkInPlace(isDurable: false)) != nil, let revision = commit() else { return nil }
    noteCommit()
    return revision
  }
}

extension GroupWriter {
  // Threads that wait for a group are a group soon, so neither waits for the writer.

  fileprivate func put(_ value: Value, for key: PreparedBytes, tag: String?) -> Revision? {
    writer.tryUpdateQuietly { $0.writer?.put(value, for: key, tag: tag) }
  }

  fileprivate func put(_ batch: Batch) -> Revision? { writer.tryUpdateQuietly { $0.writer?.put(batch) } }
}

extension JournalWriter {
  fileprivate func put(_ value: Value, for key: PreparedBytes, tag: String?) -> Revision? {
    // Before it is compared with a declaration, which may take as long as the value is.
    guard value.bytes <= Self.mostInline else { return nil }
    return alone { frames in
      loader.atEnd { state, start in
        guard let known = loader.index.table.known(key) else { return nil }
        if known.isUndeclared { return put(value, for: known, tag, frames, from: start, &state) }
        guard let value = known.admitted(value), value.bytes <= Self.mostInline else { return nil }
        return put(value, for: known, tag, frames, from: start, &state)
      }
    }
  }

  private func put(
    _ value: Value, for known: EntryTable.Known, _ tag: String?, _ frames: FrameGroup, from start: JournalCursor,
    _ state: inout IndexLoader.State
  ) -> Revision? {
    if known.stores(value) { return start.revision }
    return publish(frames, tag, from: start, &state) { frame throws(StoreError) in
      try frame.add(value, known.key)
    } apply: { table, reading, revision in
      table.put(value, for: known, at: revision, reading)
    }
  }

  fileprivate func put(_ batch: Batch) -> Revision? {
    guard batch.declarations.isEmpty, batch.schemaVersion == nil, batch.patterns == nil, !batch.isAdmittedAsItIs,
      (try? Allowance.ask(forEntries: batch.edits.count, to: Self.purpose)) != nil
    else { return nil }
    return alone { frames in
      loader.atEnd { state, start in
        guard batch.conditions.allSatisfy(loader.index.meets), let changes = loader.index.changes(by: batch)
        else { return nil }
        if changes.isEmpty { return start.revision }
        return publish(frames, batch.author.tag, from: start, &state) { frame throws(StoreError) in
          for change in changes { try frame.add(batch.edits.value(at: change.index), change.known.key) }
        } apply: { table, reading, revision in
          for change in changes {
            table.put(batch.edits.value(at: change.index).value, for: change.known, at: revision, reading)
          }
        }
      }
    }
  }

  /// Runs `body` with the write lock held, if nothing observes the store.
  @inline(__always)
  private func alone(_ body: (FrameGroup) -> Revision?) -> Revision? {
    guard let frames, journal.tryLockForWriting(frames.file) else { return nil }
    defer { journal.unlockForWriting() }
    var revision: Revision?
    whileSilent { revision = body(frames) }
    return revision
  }

  /// Returns what calls its argument if nothing observes the store, and does nothing otherwise.
  // A closure, because counting references to an observer that is also referred to weakly takes 200 instructions.
  static func whileSilent(_ commitObserver: (any CommitObserver)?) -> (() -> Void) -> Void {
    guard let commitObserver else { return { $0() } }
    return { commitObserver.whileSilent($0) }
  }

  /// Publishes one commit, and applies it.
  @inline(never)
  private func publish(
    _ frames: FrameGroup, _ tag: String?, from start: JournalCursor, _ state: inout IndexLoader.State,
    add: (FrameWriter) throws(StoreError) -> Void, apply: (EntryTable, (any EntryReading)?, Revision) -> Void
  ) -> Revision? {
    let revision = start.revision + 1
    frames.begin(at: start.place)
    frames.begin(journal.head(revision, tag))
    do throws(StoreError) {
      try add(frames.frame)
      try frames.end()
      try journal.publish(frames)
    } catch { return nil }
    state.skip(from: start.place, to: frames.next, revision)
    let end = frames.next.position
    let wasEmptied = state.changeAll(loader.index, current: end, applied: revision) { _, table, reading in
      apply(table, reading, revision)
    }
    if wasEmptied { loader.forget(&state) }
    return revision
  }
}

extension IndexLoader {
  /// Runs `body` if the index is at the end of the journal; the write lock is held.
  @inline(__always)
  fileprivate func atEnd(_ body: (inout State, JournalCursor) -> Revision?) -> Revision? {
    guard !journal.mayHaveMoved else { return nil }
    return state.updateQuietly { state in
      guard let start = state.cursor, start.place.position == journal.published,
        start.place.journal == journal.words.journal
      else { return nil }
      return body(&state, start)
    }
  }
}

extension Index {
  /// Whether the entries show that a condition holds.
  fileprivate func meets(_ condition: Condition) -> Bool {
    switch condition {
    case .revision(let key, let expected):
      entry(for: key).map { ($0.stored == nil ? 0 : $0.revision) == expected } == true
    case .unchanged(let key, let base): entry(for: key).map { $0.changed <= base } == true
    case .unchangedPrefix, .schemaVersion: false
    }
  }

  /// The changes that edits make; nil if a key is not known, or a value needs a group.
  fileprivate func changes(by batch: Batch) -> [KnownChange]? {
    let (edits, hints) = (batch.edits, batch.hints)
    var changes: [KnownChange] = []
    changes.reserveCapacity(edits.count)
    for index in edits.indices {
      let found = index < hints.count ? table.known(at: hints[index], hash: edits.hash(at: index)) : nil
      guard let known = found ?? edits.key(at: index).withPrepared({ table.known($0) }),
        let isChange = known.isChange(edits.value(at: index))
      else { return nil }
      if isChange { changes.append(KnownChange(known: known, index: index)) }
    }
    return changes
  }
}

/// A change of a key by the edit at an index.
private struct KnownChange {
  let known: EntryTable.Known
  let index: Int
}

extension EntryTable.Known {
  fileprivate var isUndeclared: Bool { entry._withUnsafeGuaranteedRef { $0.declaration == nil } }

  /// Whether this is the stored value.
  fileprivate func stores(_ value: Value) -> Bool {
    entry._withUnsafeGuaranteedRef { entry in entry.stored.map { $0 == value } == true }
  }

  /// Whether an edit changes the key; nil if it needs a group.
  fileprivate func isChange(_ edit: Batch.Edit) -> Bool? {
    switch edit {
    case .set(let value):
      guard value.bytes <= JournalWriter.mostInline, isUndeclared || admitted(value) == value else { return nil }
      return !stores(value)
    case .remove:
      return entry._withUnsafeGuaranteedRef { $0.declaration?.isSecret == true ? nil : $0.stored != nil }
    }
  }

  /// The value as the declaration admits it; nil if it needs a group.
  fileprivate func admitted(_ value: Value) -> Value? {
    // Values that do not fit are refused where all errors are.
    guard let declaration = entry._withUnsafeGuaranteedRef({ $0.declaration }), !declaration.isSecret,
      let admitted = try? declaration.admitted(value), declaration.deprecation(of: admitted) == nil
    else { return nil }
    return admitted
  }
}
