// The storage of a store that could not be opened: every call throws the reason.

import KeptCore
import KeptSchema
import KeptValues

/// A storage that only has the reason why the actual one could not be opened.
final class UnopenedStorage: Storage {
  private let reason: StoreError

  init(_ reason: StoreError) { self.reason = reason }

  var abilities: StorageAbilities { [] }
  // Commits cannot be detected.
  var generation: UInt64 { 1 }

  func entry(for key: KeyName) throws(StoreError) -> Entry? { throw reason }
  func keys(prefix: ExactString) throws(StoreError) -> [KeyName] { throw reason }
  func entries(in scopes: [Scope]) throws(StoreError) -> StoredEntries { throw reason }
  func declarations(prefix: ExactString) throws(StoreError) -> [(key: KeyName, declaration: Declaration)] {
    throw reason
  }
  func revision() throws(StoreError) -> Revision { throw reason }
  func commit(_ batch: Batch) throws(StoreError) -> Commit { throw reason }
  func changes(after revision: Revision) throws(StoreError) -> ChangesAfter { throw reason }
  func wait(after revision: Revision) throws(StoreError) -> Bool { throw reason }
  func interruptWaiting() {}
  func salvaged() throws(StoreError) -> SalvageNote? { throw reason }
  func acknowledgeSalvage() throws(StoreError) { throw reason }
  func flush() throws(StoreError) { throw reason }
  func close() {}
}
