// A snapshot for those who ask for one again and again, and the reading of one key together with whether it may be
// shown.

import CPlatform

/// What a key reads as, and whether that may be shown to people.
package struct Reading: Sendable {
  package let resolved: Resolved
  /// Whether the value must not be written to a log or a screen.
  package let isSecret: Bool

  init(_ resolved: Resolved, _ entry: Entry?) {
    self.resolved = resolved
    isSecret = entry?.declaration?.isSecret == true
  }
}

extension Store {
  /// What a key reads as now.
  package func reading(_ key: KeyName) throws(StoreError) -> Reading {
    let entry = try entry(for: key)
    return Reading(layerStack.resolve(key, entry), entry)
  }
}

extension Snapshot {
  /// What a key read as then.
  package func reading(_ key: KeyName) throws(StoreError) -> Reading { Reading(try resolved(key), try entry(for: key)) }
}

/// The last snapshot of a store: it stands until something changes.
package final class LastSnapshot: Sendable {
  private let store: Store
  // The generation is even, and was the same before and after the reading: nothing that it does not show is older.
  private let last = Monitor<(snapshot: Snapshot, generation: UInt64)?>(nil)

  package init(of store: Store) { self.store = store }

  /// What all keys read as now; needs a storage that lists its keys.
  package func current() throws(StoreError) -> Snapshot {
    let generation = store.generationAddress
    let before = kept_load64(generation)
    guard before % 2 == 0 else { return try store.snapshot() }
    store.layerStack.watchAgain()
    let layers = store.layerStack.layers
    if let last = last.read(\.self), last.generation == before, last.snapshot.layers === layers {
      return last.snapshot
    }
    let snapshot = try store.snapshot()
    if kept_load64(generation) == before { last.update { $0 = (snapshot, before) } }
    return snapshot
  }
}
