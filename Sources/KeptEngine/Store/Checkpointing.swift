// How the journals become a new checkpoint.

import CPlatform
import KeptSystem
package import KeptValues

extension Engine {
  /// Makes a checkpoint of everything that is published now; does nothing if another process is making one.
  ///
  /// The process may be killed at any point: the next one repeats the work.
  /// - Parameters:
  ///   - reseals: whether secrets are sealed again, in the history too.
  ///   - isDue: called when no other thread or process can make one; false ends it.
  /// - Returns: false if another process is making one.
  @discardableResult
  package func checkpoint(
    reseals: Bool = false, if isDue: () throws(StoreError) -> Bool = { () throws(StoreError) in true }
  ) throws(StoreError) -> Bool {
    work.wait { work -> Void? in
      if work.isCheckpoint { return nil }
      work.isCheckpoint = true
      return ()
    }
    defer { work.update { $0.isCheckpoint = false } }
    // So that a fork waits for the next pause.
    Fork.gate.enter()
    defer { Fork.gate.leave() }
    guard !state.read(\.isClosed), try isDue() else { return true }
    guard pulse.takeCheckpointing() else { return false }
    defer { pulse.releaseCheckpointing() }
    // Another one may have been made until now.
    guard try isDue() else { return true }
    try finishInterrupted()
    do throws(StoreError) { try fold(until: rotate(), reseals: reseals) } catch {
      if error.code == .corrupt { Salvage.mark(folder) }
      // On a full disk, the drafts take the room of others.
      try? finishInterrupted()
      throw error
    }
    return true
  }

  /// Syncs a file, lets a fork happen, and ends a checkpoint when the store is closed.
  ///
  /// - Parameter open: the open files that only this thread uses.
  private func pause(_ open: [StoreFile], syncing file: StoreFile? = nil) throws(StoreError) {
    try outsideGate(open) { () throws(StoreError) in try file?.sync() }
    if state.read(\.isClosed) { throw StoreError(.closed, "the store was closed; open it again") }
  }

  /// Removes the files that the maker of the checkpoint named `values` may have left.
  private func finishInterrupted() throws(StoreError) {
    guard let file = try folder.openFile(Chain.valuesName) else { throw missing }
    let header = try ValuesReader(file).header
    try Recovery.removeRemains(folder, header)
    pulse.words.raise(checkpoint: header.number)
    pulse.words.endDoubt(by: header.number)
  }

  /// Ends the journal with a seal, unless the checkpoint lacks a sealed one already.
  ///
  /// - Returns: the number of the last journal.
  private func rotate() throws(StoreError) -> UInt64 {
    let (last, first) = try read { chain throws(StoreError) in
      (chain.last.header, chain.values.header.number)
    }
    guard last.number == first else { return last.number }
    let next = try Recovery.makeJournal(last.number + 1, of: last.store, folder)
    try write(until: MonotonicTime.milliseconds + 5000, needsRoom: false) { state throws(StoreError) in
      guard state.chain.last.header == last,
        let journal = try folder.journal(
          next.number, of: next.store, begin: state.chain.place.position + Self.sealBytes),
        journal.header == next
      else { throw StoreError(.busy, "the journals of the store changed while a checkpoint was made; try again") }
      state.writer.begin(at: state.chain.place)
      try state.writer.seal(next: next.journal)
      try publish(&state)
      state.chain.enter(journal)
    }
    return next.number
  }

  private static let sealBytes = Position(FrameFormat.sealBytes)

  /// Writes the checkpoint and the sealed journals into a newer checkpoint, and removes them.
  ///
  /// - Parameters:
  ///   - number: the journal that follows the new checkpoint.
  ///   - reseals: whether secrets are sealed again.
  private func fold(until number: UInt64, reseals: Bool) throws(StoreError) {
    // A separate chain, because this takes long and commits go on at the same time.
    guard let chain = try Chain(folder) else { throw missing }
    let (before, published) = (chain.values.header, pulse.words.published)
    guard before.number < number else { return }
    var history = HistoryScan(completeAfter: before.revision, limits: before.limits)
    while chain.last.header.number < number {
      let last = chain.last.header.number
      let progress = try chain.catchUpOne(published, folder) { frame throws(StoreError) in
        try history.add(frame, chain.values, chain.overlay.bulk(of: frame))
      }
      guard progress == .done, chain.last.header.number > last else { throw missing }
      history.endGroups()
    }
    history.finish(at: chain.revision)
    try pause(chain.files)
    let end = chain.place
    var header = ValuesHeader(store: before.store, number: number, position: end.position, previous: end.previous)
    let overlay = chain.overlay
    (header.revision, header.schemaVersion) = (overlay.revision, overlay.schemaVersion)
    (header.note, header.limits, header.lists) = (overlay.note, overlay.limits, overlay.lists)
    header.floor = before.floor
    if header.revision > Self.keptRemovals { header.floor = max(header.floor, header.revision - Self.keptRemovals) }

    let sealer = reseals ? secrets : nil
    try HistoryFile.add(history, of: chain, to: &header, folder, sealer)
    let draft = Recovery.draftPrefix + Chain.valuesName
    try pause(chain.files)
    let file = try folder.makeFile(draft)
    let writer = ValuesWriter(file, header) { [self] unsynced throws(StoreError) in
      try pause(chain.files + [file], syncing: unsynced)
    }
    try Fold(chain: chain, floor: header.floor, fits: fits, sealer: sealer).write(to: writer)
    _ = try writer.finish()
    try folder.rename(draft, to: Chain.valuesName)
    try folder.syncNames()
    pulse.words.raise(checkpoint: number)
    pulse.words.raise(synced: end.position)
    pulse.words.endDoubt(by: number)
    try Recovery.removeRemains(folder, header)
  }

  /// For how many commits the revision of a removal is kept.
  private static let keptRemovals: Revision = 1 << 18

  private var missing: StoreError {
    StoreError(
      .unavailable, "the files of the store in \(shown: folder.path) were removed; close it, and open it again"
    )
  }
}

/// Writes the states of all keys into a newer checkpoint.
struct Fold {
  let chain: Chain
  let floor: Revision
  let fits: (Value, String) -> Bool
  /// What seals secrets again; nil to leave them as they are.
  var sealer: (any SecretOpening)?

  func write(to writer: ValuesWriter) throws(StoreError) {
    try chain.forEachKey(below: "") { record, change, key throws(StoreError) in
      if let change {
        if let key = change.key, let only = change.onlyValue(), record?.flags.contains(.declared) != true,
          sealer == nil || !only.value.isSealed
        {
          try writer.add(key, only.value, only.revision)
        } else {
          try add(key(), record, change.change(), to: writer)
        }
      } else if let record, !isForgotten(record.flags, record.changed) {
        if sealer != nil, record.value.isSealed || record.flags.contains(.declared) {
          try add(key(), record, nil, to: writer)
        } else {
          try writer.add(record)
        }
      }
    }
  }

  private func isForgotten(_ flags: RecordFlags, _ changed: Revision) -> Bool {
    flags.contains(.removal) && changed <= floor
  }

  private func add(
    _ key: KeyName, _ record: Record?, _ change: KeyChange?, to writer: ValuesWriter
  ) throws(StoreError) {
    var state = try KeyState(record, change)
    if let sealer { try state.reseal(key, by: sealer) }
    guard state.isThere || state.changed > floor else { return }
    try writer.add(key, state, fits: fits)
  }
}

extension ValuesWriter {
  /// Adds a key that has no declaration, and is after all before.
  fileprivate func add(
    _ key: UnsafeRawBufferPointer, _ value: StoredValue, _ revision: Revision
  ) throws(StoreError) {
    let none = UnsafeRawBufferPointer(start: nil, count: 0)
    try add(Record(key: key, value: value, declaration: none, flags: [], revision: revision, changed: revision))
  }

  /// Adds the state of a key that is after all before.
  func add(_ key: KeyName, _ state: KeyState, fits: (Value, String) -> Bool) throws(StoreError) {
    var flags: RecordFlags = state.isThere ? [] : .removal
    if let declaration = state.declaration {
      flags.insert(.declared)
      if let value = state.value, !state.isSealed, !fits(value, declaration) { flags.insert(.misfit) }
    }
    try key.exact.withBytes { key throws(StoreError) in
      try ExactString(state.declaration ?? "").withBytes { declaration throws(StoreError) in
        try state.withStored { value throws(StoreError) in
          try add(
            Record(
              key: UnsafeRawBufferPointer(key), value: value, declaration: UnsafeRawBufferPointer(declaration),
              flags: flags, revision: state.revision, changed: state.changed))
        }
      }
    }
  }
}
