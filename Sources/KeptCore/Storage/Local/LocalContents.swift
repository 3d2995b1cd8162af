// The contents of a store in a folder at one revision, which are read from its files when they are needed.

import KeptEngine
import KeptSchema
import KeptSecrets
import KeptSystem
import KeptValues

extension LocalStorage: SnapshotStorage {
  func contents() throws(StoreError) -> any StoredContents {
    LocalContents(snapshot: try engine.snapshot(), maintenance: readers.maintenance, secrets: secrets)
  }
}

/// It keeps the files open, also after the storage is closed.
private struct LocalContents: CopyableContents {
  let snapshot: EngineSnapshot
  // Has the engine until the storage is closed.
  let maintenance: MaintenanceThread
  let secrets: StoreSecrets

  var revision: Revision { snapshot.chain.revision }
  var schemaVersion: UInt32 { snapshot.chain.schemaVersion }

  func entry(for key: KeyName) throws(StoreError) -> Entry? {
    do throws(StoreError) { return try snapshot.chain.entry(for: key) } catch {
      if error.code == .unavailable, secrets.unlock() { return try snapshot.chain.entry(for: key) }
      if error.code == .corrupt { noteDamage() }
      throw error
    }
  }

  func copy(into draft: StoreFile) throws(StoreError) {
    try Backup.write(
      snapshot, to: draft, secrets: secrets.document()?.ofBackup.json ?? "", fits: LocalStorage.fits)
  }

  func keys(below prefix: ExactString) throws(StoreError) -> [KeyName] {
    try list { chain throws(StoreError) in try chain.keys(prefix: prefix) }
  }

  func entries(below prefix: ExactString) throws(StoreError) -> StoredEntries {
    let found = try list { chain throws(StoreError) in try chain.entries(in: [.prefix(prefix)]) }
    guard found.hasLocked, secrets.unlock() else { return found }
    return try list { chain throws(StoreError) in try chain.entries(in: [.prefix(prefix)]) }
  }

  func forEach(
    below prefix: ExactString,
    _ body: (StoredItem, (inout CText) throws(StoreError) -> Void) throws(StoreError) -> Void
  ) throws(StoreError) {
    try list { chain throws(StoreError) in
      func take(_ key: UnsafeRawBufferPointer, _ value: StoredValue) throws(StoreError) -> Bool {
        let item = StoredItem(key: key.bindMemory(to: UInt8.self), declaration: nil, hasValue: true)
        try body(item) { text throws(StoreError) in
          if let string = value.string { text.append(quoted: string) } else { try value.value()?.write(to: &text) }
        }
        return true
      }
      try chain.forEachState(below: prefix, take: take) { key, state throws(StoreError) in
        try key.exact.withBytes { bytes throws(StoreError) in
          switch state {
          case .success(let state):
            guard let entry = Entry(state) else { return }
            let item = StoredItem(key: bytes, declaration: entry.declaration, hasValue: entry.value != nil)
            try body(item) { text in entry.value?.write(to: &text) }
          case .failure(var reason):
            if reason.code == .unavailable, secrets.unlock() {
              do throws(StoreError) {
                let state = try chain.state(of: key)
                guard let entry = Entry(state) else { return }
                let item = StoredItem(key: bytes, declaration: entry.declaration, hasValue: entry.value != nil)
                return try body(item) { text in entry.value?.write(to: &text) }
              } catch { reason = error }
            }
            let unreadable = try chain.unreadable(key, reason)
            let item = StoredItem(key: bytes, declaration: unreadable.declaration, hasValue: false, reason: reason)
            try body(item) { _ in }
          }
        }
      }
    }
  }

  private func list<Result>(_ body: (Chain) throws(StoreError) -> Result) throws(StoreError) -> Result {
    do throws(StoreError) {
      let (result, hasMetDamage) = try snapshot.list(body)
      if hasMetDamage { noteDamage() }
      return result
    } catch {
      if error.code == .corrupt { noteDamage() }
      throw error
    }
  }

  private func noteDamage() { maintenance.state.read(\.engine)?.noteDamage() }
}
