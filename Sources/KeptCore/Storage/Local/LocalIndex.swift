// The index that readers use: the keys that have changed since the checkpoint, above the image of the checkpoint. A key
// that is only in the image takes no other memory.

import CPlatform
import KeptEngine
import KeptSchema
import KeptSystem
import KeptValues

/// The index of one open store, and the views of its handles.
///
/// Invariants:
/// - While the gate is open for a position and there is an image, each key that has changed since its checkpoint is in
///   the table, with its state at that position, or with a mark that the storage must be asked. Without an image,
///   readers ask the storage for each key that is not in the table.
/// - The table and the image change while the gate is closed, both at once. So a block that a reader adds to the image,
///   which it does inside the gate, belongs to the checkpoint that the image has.
final class LocalIndex: EngineFollower {
  fileprivate struct State {
    // The views of handles with layers: each has the keys that were read through it.
    var views: [(view: IndexView, reading: any EntryReading)] = []
  }
  private let state = Monitor(State())
  private let own = IndexView()
  /// The checkpoint beneath the index, which is changed and read as it is; nil if more keys have changed since
  /// than the table has room for.
  // The compiler cannot check that.
  nonisolated(unsafe) private(set) var values: ValuesReader?
  let maintenance = MaintenanceThread()

  var index: Index { own.index }

  func follow(_ chain: Chain, changed keys: [KeyName]?) {
    maintenance.note(chain)
    state.updateQuietly { state in
      guard let keys else { return begin(chain, state) }
      // Before readers are kept out.
      let entries = keys.map { ($0, entry(of: $0, chain)) }
      change(chain) { table in for (key, entry) in entries { table.put(key, found: entry) } }
      for (view, reading) in state.views {
        view.index.change(current: chain.position, applied: chain.revision) { table in
          for (key, entry) in entries where view.index.knows(key) { table.put(key, found: entry, reading) }
        }
      }
    }
  }

  func follow(_ chain: Chain, edits: [KeyEdit]) {
    maintenance.note(chain)
    state.updateQuietly { state in
      // An iterator would copy each edit as a whole, twice.
      change(chain) { table in
        for index in edits.indices { put(edits[index].key, edits[index].value, chain, in: table) }
      }
      for (view, reading) in state.views {
        view.index.change(current: chain.position, applied: chain.revision) { table in
          for edit in edits where view.index.knows(edit.key) { put(edit.key, edit.value, chain, in: table, reading) }
        }
      }
    }
  }

  @inline(never)
  private func put(
    _ key: KeyName, _ value: Value?, _ chain: Chain, in table: EntryTable, _ reading: (any EntryReading)? = nil
  ) {
    if table.put(value, ofKnown: key, chain.revision, reading) { return }
    // The key may have a declaration.
    table.put(key, found: entry(of: key, chain), reading)
  }

  /// Changes the table; if it becomes too large, it is empty, and there is no image until the next checkpoint.
  private func change(_ chain: Chain, _ body: (EntryTable) -> Void) {
    // Readers may be inside until the gate is closed.
    var before: ValuesReader?
    index.change(current: chain.position, applied: chain.revision) { table in
      body(table)
      if index.mustBeEmptied { (before, values) = (values, nil) }
    }
    withExtendedLifetime(before) {}
  }

  /// Begins with another image.
  ///
  /// Later changes are read when they are needed.
  private func begin(_ chain: Chain, _ state: State) {
    let changed = chain.hasBulk ? nil : try? chain.changedKeys()
    // Readers may be inside until the gate is closed.
    let before = values
    defer { withExtendedLifetime(before) {} }
    let records = changed.map { _ in UnsafeRawPointer(chain.values.image.words) }
    index.change(current: chain.position, applied: chain.revision, records) { table in
      values = changed.map { _ in chain.values }
      for key in changed ?? [] { table.putElsewhere(key) }
    }
    for (view, _) in state.views {
      view.index.change(current: chain.position, applied: chain.revision) { $0.removeAll() }
    }
  }

  /// The entry of a key, if the index has it as it is now; the outer nil if it must be read.
  ///
  /// Only with the lock of the engine held.
  func known(_ key: KeyName, _ chain: Chain) -> Entry?? {
    guard index.generation == chain.position, let known = index.entry(for: key), !known.isElsewhere else {
      return nil
    }
    return .some(known.entry)
  }

  /// The entry of a key that has changed; the outer nil if something must be read for it.
  private func entry(of key: KeyName, _ chain: Chain) -> Entry?? {
    (try? chain.loadedState(of: key)).map { Entry($0) }
  }

  /// Adds a key that was read, unless readers find its value in the image, or it is a secret that was sealed.
  func add(_ key: KeyName, _ state: KeyState, _ chain: Chain, in view: ReadView?) {
    if state.isSealed { return }
    let entry = Entry(state)
    self.state.updateQuietly { state in
      // The engine's lock is held, so both are as of the same time, and the image does not change.
      let hasChanged = values == nil || mayHaveChanged(key, chain)
      let isKept = key.exact.withBytes { chain.values.loadedRecord(of: UnsafeRawBufferPointer($0)) } != nil
      if hasChanged || isKept && key.withPrepared({ chain.values.entry(of: $0, under: index) }) == nil {
        change(chain) { $0.put(key, entry, hidesRecord: hasChanged) }
      }
      if let (view, reading) = state.views.first(where: { $0.view === view }) {
        view.index.change(current: chain.position, applied: chain.revision) { $0.put(key, entry, reading) }
      }
    }
  }

  private func mayHaveChanged(_ key: KeyName, _ chain: Chain) -> Bool {
    do throws(StoreError) { return try chain.change(of: key) != nil } catch { return true }
  }

  // MARK: - Views

  func show(_ reading: any EntryReading, in view: ReadView?) -> ReadView {
    state.updateQuietly { state in
      let view = state.takeView(view) ?? IndexView()
      state.views.append((view, reading))
      view.index.change(current: index.generation, applied: index.applied) { $0.removeAll() }
      return view
    }
  }

  func remove(_ view: ReadView) { state.updateQuietly { $0.takeView(view)?.index.distrust() } }

  func leave() {
    state.updateQuietly { state in
      for (view, _) in state.views { view.index.distrust() }
      index.distrust()
    }
  }

  /// Makes every reader call.
  func close() {
    state.updateQuietly { state in
      for (view, _) in state.views { view.index.distrust() }
      index.clear()
    }
  }
}

extension LocalIndex.State {
  fileprivate mutating func takeView(_ view: ReadView?) -> IndexView? {
    views.firstIndex { $0.view === view }.map { views.remove(at: $0).view }
  }
}

extension EntryTable {
  /// Puts a key; nil leaves it to the storage.
  fileprivate func put(_ key: KeyName, found entry: Entry??, _ reading: (any EntryReading)? = nil) {
    if let entry { put(key, entry, reading) } else { putElsewhere(key) }
  }
}

extension ValuesReader {
  /// Reads the entry of a key, also from the file; nil if the engine must be asked.
  ///
  /// So it is for what takes long to read, which the index has from then on, if the image has it. Only for readers
  /// inside the gate.
  func entry(of key: PreparedBytes, under index: Index) -> Entry?? {
    let window = BlockWindow(self)
    defer { withExtendedLifetime(window) {} }
    guard !isFull, let found = try? record(of: UnsafeRawBufferPointer(key.bytes), in: window) as Record?? else {
      return nil
    }
    let isKept = !window.isUsed
    guard let record = found, !record.flags.contains(.removal) else {
      return isKept && index.hasRoom(for: nil) ? nil : .some(nil)
    }
    guard record.readsAsStored, !isKept || record.value.isShort || !index.hasRoom(for: record.value),
      let state = try? KeyState(record)
    else { return nil }
    // Only now, because its value is one.
    if isKept { remember(record, of: key) }
    return .some(Entry(state))
  }
}

extension Record {
  /// Whether no declaration decides what it reads as, and it is not a secret that was sealed.
  fileprivate var readsAsStored: Bool {
    !value.isSealed && !flags.contains(.misfit) && (value.kind != 0 || !flags.contains(.declared))
  }
}

extension Entry {
  /// The entry of a key in the engine; nil if it has neither a value nor a declaration.
  init?(_ state: KeyState) {
    guard state.isThere else { return nil }
    self.init(value: state.value, revision: state.revision, declaration: state.declaration.map { .stored($0) })
  }
}
