// A cached snapshot for repeated reads, and the reading of one key together with whether it may be shown.

import CPlatform
import KeptSchema
import KeptSystem
package import KeptValues

/// The value of a key, and whether it may be shown to people.
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
  /// The value of a key now.
  package func reading(_ key: KeyName) throws(StoreError) -> Reading {
    let entry = try entry(for: key)
    return Reading(layerStack.resolve(key, entry), entry)
  }
}

extension Snapshot {
  /// The value of a key at the time of the snapshot.
  package func reading(_ key: KeyName) throws(StoreError) -> Reading { Reading(try resolved(key), try entry(for: key)) }
}

/// The last snapshot of a store, valid until something changes.
package final class LastSnapshot: Sendable {
  private let store: Store
  // The generation is even, and was the same before and after the reading, so the snapshot includes everything older.
  private let last = Monitor<(snapshot: Snapshot, generation: UInt64)?>(nil)

  package init(of store: Store) { self.store = store }

  /// Returns a snapshot of all keys now.
  ///
  /// The storage must be able to list its keys.
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
