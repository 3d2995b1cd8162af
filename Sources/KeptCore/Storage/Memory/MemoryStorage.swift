// A storage without a file: for tests, previews and programs that must not leave files behind.

public import KeptSchema
import KeptSystem
public import KeptValues
import Synchronization

/// Keeps everything in this process's memory.
///
/// Its contents are discarded when the last store on it is closed.
public final class MemoryStorage: Storage {
  public let abilities: StorageAbilities = [
    .atomicBatch, .revisions, .pushesChanges, .declarations, .listsKeys, .schemaVersion,
  ]

  fileprivate struct Contents {
    // An entry without a value is a removal, or a declaration. They are few and small here, so none is ever discarded.
    var entries: [KeyName: Entry] = [:]
    // The revision that last changed the entry or its declaration.
    var touched: [KeyName: Revision] = [:]
    var revision: Revision = 0
    var schemaVersion: UInt32 = 0
    var isClosed = false
    var interruptions = 0
  }

  private let contents = Monitor(Contents())
  // Twice the revision: even, and changed by every commit before the commit returns.
  private let published = Atomic<UInt64>(0)

  public init() {}

  public var generation: UInt64 { published.load(ordering: .acquiring) }

  public func entry(for key: KeyName) throws(StoreError) -> Entry? {
    try look { contents in contents.entries[key].flatMap { $0.isThere ? $0 : nil } }
  }

  public func declarations(prefix: ExactString) throws(StoreError) -> [(key: KeyName, declaration: Declaration)] {
    try look { contents in
      contents.entries.compactMap { key, entry in
        guard key.exact.hasPrefix(prefix), let declaration = entry.declaration else { return nil }
        return (key, declaration)
      }.inOrder(of: \.key.exact)
    }
  }

  public func revision() throws(StoreError) -> Revision {
    try look { $0.revision }
  }

  public func schemaVersion() throws(StoreError) -> UInt32 {
    try look { $0.schemaVersion }
  }

  public func keys(prefix: ExactString) throws(StoreError) -> [KeyName] {
    try look { contents in
      contents.entries.filter { $0.value.value != nil && $0.key.exact.hasPrefix(prefix) }.map(\.key)
        .inOrder(of: \.exact)
    }
  }

  public func commit(_ batch: Batch) throws(StoreError) -> Commit {
    try contents.update { contents throws(StoreError) in
      try contents.checkOpen()
      for condition in batch.conditions { try contents.check(condition) }
      let changes = try contents.changes(by: batch)
      if let version = batch.schemaVersion { contents.schemaVersion = version }
      guard !changes.isEmpty else { return Commit(revision: contents.revision, changes: []) }
      contents.revision += 1
      for change in changes { contents.apply(change) }
      published.store(contents.revision * 2, ordering: .releasing)
      return Commit(revision: contents.revision, changes: changes)
    }
  }

  public func entries(in scopes: [Scope]) throws(StoreError) -> StoredEntries {
    try Allowance.ask(forEntries: contents.read { $0.entries.count }, to: "list the stored keys")
    return try look { contents in
      let found = contents.entries.filter { key, entry in
        entry.isThere && scopes.contains { $0.contains(key) }
      }
      return StoredEntries(
        entries: found.map { KeyedEntry(key: $0.key, entry: $0.value) }, revision: contents.revision)
    }
  }

  public func changes(after revision: Revision) throws(StoreError) -> ChangesAfter {
    try look { contents in
      guard revision <= contents.revision else { return .tooOld }
      if revision == contents.revision { return .changed(Delta([], upTo: revision)) }
      let newer = contents.touched.filter { $0.value > revision }
        .compactMap { touched in contents.entries[touched.key].map { (touched.value, touched.key, $0) } }
        .inOrder(of: \.0, then: \.1.exact)
        .map { KeyedEntry(key: $0.1, entry: $0.2) }
      return .changed(Delta(newer, upTo: contents.revision))
    }
  }

  public func wait(after revision: Revision) throws(StoreError) -> Bool {
    contents.wait { contents in
      if contents.isClosed { return false }
      if contents.interruptions > 0 {
        contents.interruptions -= 1
        return false
      }
      return contents.revision > revision ? true : nil
    }
  }

  public func interruptWaiting() {
    contents.update { $0.interruptions += 1 }
  }

  public func flush() throws(StoreError) {
    try look { _ in }
  }

  public func close() {
    contents.update {
      $0.isClosed = true
      ($0.entries, $0.touched) = ([:], [:])
    }
  }

  private func look<Result>(_ body: (Contents) -> Result) throws(StoreError) -> Result {
    try contents.read { contents throws(StoreError) in
      try contents.checkOpen()
      return body(contents)
    }
  }
}

extension MemoryStorage.Contents {
  fileprivate func checkOpen() throws(StoreError) {
    if isClosed { throw StoreError(.closed, "the store was closed; open it again") }
  }

  fileprivate func check(_ condition: Condition) throws(StoreError) {
    switch condition {
    case .revision(let key, let expected):
      let entry = entries[key]
      try Condition.check(key, expected: expected, found: entry?.value == nil ? 0 : entry?.revision ?? 0)
    case .unchanged(let key, let base):
      try Condition.check(key, unchangedAfter: base, found: touched[key] ?? 0)
    case .unchangedPrefix(let prefix, let base):
      let newest = touched.lazy.filter { $0.key.exact.hasPrefix(prefix) }.map(\.value).max() ?? 0
      try Condition.check(prefix, unchangedAfter: base, found: newest)
    case .schemaVersion(let expected):
      try Condition.check(schemaVersion: expected, found: schemaVersion)
    }
  }

  /// The changes of a batch, without edits that leave a key as it was.
  fileprivate func changes(by batch: Batch) throws(StoreError) -> [StoredChange] {
    if entries.count == entries.capacity { try Allowance.ask(forEntries: entries.count, to: "commit the changes") }
    try Allowance.ask(forEntries: 2 * (batch.edits.count + batch.declarations.count), to: "commit the changes")
    var changes: [StoredChange] = []
    for key in batch.keys {
      if let change = try batch.change(of: key, from: entries[key], at: revision + 1) { changes.append(change) }
    }
    return changes
  }

  fileprivate mutating func apply(_ change: StoredChange) {
    touched[change.key] = revision
    entries[change.key] = change.new
  }
}
