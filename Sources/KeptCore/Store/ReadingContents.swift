// The contents of a store for a snapshot or an export.

import KeptValues

extension Store {
  /// The present contents of the storage, a copy of those below a prefix if it cannot be read later.
  func contents(below prefix: ExactString, to purpose: String) throws(StoreError) -> any StoredContents {
    let storage = try storage()
    if let storage = storage as? any SnapshotStorage { return try storage.contents() }
    while true {
      let version = try knownSchemaVersion()
      let stored = try unlocking(\.self) { () throws(StoreError) in try storage.entries(in: [.prefix(prefix)]) }
      guard try knownSchemaVersion() == version else { continue }
      try Allowance.ask(forEntries: stored.entries.count + stored.unreadable.count, to: purpose)
      return CopiedContents(stored, schemaVersion: version)
    }
  }

  /// The schema version; 0 also if the storage keeps none.
  func knownSchemaVersion() throws(StoreError) -> UInt32 {
    let storage = try storage()
    return storage.abilities.contains(.schemaVersion) ? try storage.schemaVersion() : 0
  }
}
