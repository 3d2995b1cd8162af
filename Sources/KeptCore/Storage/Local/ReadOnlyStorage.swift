// A store that this process can read and not write: in a folder without write permission, on a read-only medium, on a
// disk that was too full for the files that writing needs, or opened only to read.

import KeptEngine
import KeptSchema
import KeptSecrets
import KeptSystem
import KeptValues

/// The storage of a folder with a store in it, which is not written.
///
/// It makes no thread, takes no lock and writes no file. Each read looks whether the files were changed: other
/// processes with the permission may write, and their commits are seen.
final class ReadOnlyStorage: Storage {
  let abilities: StorageAbilities = [
    .sharedBetweenProcesses, .atomicBatch, .revisions, .durable, .pushesChanges, .declarations, .listsKeys,
    .schemaVersion,
  ]
  enum Reason {
    /// There is no write permission.
    case permission
    /// The disk is full; with the error of opening it for writing.
    case full(StoreError)
    /// It was opened only to read.
    case request

    /// Why a write is refused.
    func refusal(in folder: String) -> StoreError {
      switch self {
      case .request: .openOnlyToRead
      case .full(let full):
        StoreError(
          full.code,
          "\(full.message); the store in \(folder) is open read-only until it is closed "
            + "and opened again")
      case .permission:
        StoreError(
          .denied,
          "the store in \(folder) is readable but not writable; check who owns the folder, its "
            + "permissions, and whether its disk is mounted read-only")
      }
    }
  }
  // Odd, because it cannot know whether another process has committed.
  let generation: UInt64 = 1

  fileprivate struct State {
    var watchers = LocalStorage.Watchers()
    // nil once it is closed.
    var engine: ReadOnlyEngine?
  }
  private let state: Monitor<State>
  let secrets: StoreSecrets
  private let refusal: StoreError
  private let path: String

  /// Opens the storage of a folder.
  ///
  /// - Parameters:
  ///   - reason: why it is not written.
  ///   - busyTimeoutMilliseconds: how long a read begins again while other processes replace the files.
  init(
    _ folder: StoreFolder, because reason: Reason = .permission, busyTimeoutMilliseconds: Int = 5000
  ) throws(StoreError) {
    let folder = try folder.resolved()
    path = folder.shown
    refusal = reason.refusal(in: path)
    guard let held = OpenFolder(holding: folder.path) else { throw .system("open the folder", path) }
    let timeout = Int64(BusyTimeout.effective(milliseconds: busyTimeoutMilliseconds))
    // Programs that another user has named are not run.
    secrets = StoreSecrets(mayRunPrograms: try held.status().owner == Trust.user)
    let engine = try ReadOnlyEngine(held, timeoutMilliseconds: timeout, secrets: secrets)
    state = Monitor(State(engine: engine))
    secrets.begin { [weak engine] () throws(StoreError) in
      guard let engine else { throw StoreError(.closed, "the store was closed; open it again") }
      return try engine.holdFolder()
    } sealedKeys: { [weak engine] () throws(StoreError) in
      try engine?.past { _, chain throws(StoreError) in try chain.sealedKeys() } ?? []
    }
    Fork.join(self)
  }

  deinit { Fork.leave(self) }

  private func engine() throws(StoreError) -> ReadOnlyEngine {
    if let engine = state.read(\.engine) { return engine }
    throw StoreError(.closed, "the store was closed; open it again")
  }

  private func read<Result>(_ body: (Chain) throws(StoreError) -> Result) throws(StoreError) -> Result {
    try engine().read(body)
  }

  func entry(for key: KeyName) throws(StoreError) -> Entry? {
    try read { chain throws(StoreError) in try chain.entry(for: key) }
  }

  func keys(prefix: ExactString) throws(StoreError) -> [KeyName] {
    try read { chain throws(StoreError) in try chain.keys(prefix: prefix) }
  }

  func declarations(prefix: ExactString) throws(StoreError) -> [(key: KeyName, declaration: Declaration)] {
    try read { chain throws(StoreError) in try chain.declarations(prefix: prefix) }
  }

  func entries(in scopes: [Scope]) throws(StoreError) -> StoredEntries {
    try read { chain throws(StoreError) in try chain.entries(in: scopes) }
  }

  func revision() throws(StoreError) -> Revision { try read { chain throws(StoreError) in chain.revision } }

  func schemaVersion() throws(StoreError) -> UInt32 { try read { chain throws(StoreError) in chain.schemaVersion } }

  func changes(after revision: Revision) throws(StoreError) -> ChangesAfter {
    try read { chain throws(StoreError) in try chain.delta(after: revision) }
  }

  func salvaged() throws(StoreError) -> SalvageNote? {
    try read { chain throws(StoreError) in chain.salvageNote(in: path) }
  }

  func acknowledgeSalvage() throws(StoreError) {
    if try salvaged() != nil { throw refusal }
  }

  func commit(_ batch: Batch) throws(StoreError) -> Commit {
    try read { chain throws(StoreError) in
      guard batch.isEmpty else { throw refusal }
      for condition in batch.conditions { try chain.check(condition) }
      return Commit(revision: chain.revision, changes: [])
    }
  }

  /// Checks that the store is open; there is nothing to sync.
  func flush() throws(StoreError) { _ = try revision() }

  func wait(after revision: Revision) throws(StoreError) -> Bool {
    while true {
      if try self.revision() > revision { return true }
      // The page is not writable, so writers cannot be asked to wake this process.
      let isOver: Bool? = state.wait(milliseconds: 1000) { $0.watchers.takesInterruption() ? true : nil }
      if isOver != nil { return false }
    }
  }

  func interruptWaiting() { state.update { $0.watchers.interruptions += 1 } }

  func close() {
    // The files are closed when no lock is held.
    let engine = state.update { state in
      defer { state.engine = nil }
      state.watchers.isClosed = true
      return state.engine
    }
    withExtendedLifetime(engine) {}
  }
}

extension ReadOnlyStorage: SecretStorage {
  func replace(_ document: SecretsDocument?, by new: SecretsDocument, _ keys: DataKeys?) throws(StoreError) {
    throw refusal
  }

  func plainCount(_ document: SecretsDocument?) throws(StoreError) -> Int {
    try engine().past { past, chain throws(StoreError) in try past.plainCount(chain, document) }
  }

  func sealAgain() throws(StoreError) { throw refusal }
}

extension ReadOnlyStorage: HistoricalStorage {
  func history(in scope: Scope) throws(StoreError) -> History {
    try engine().past { past, chain throws(StoreError) in try History(past, in: scope, chain) }
  }

  func historyAndEntries(in scope: Scope) throws(StoreError) -> (History, StoredEntries) {
    try engine().past { past, chain throws(StoreError) in
      (try History(past, in: scope, chain), try chain.entries(in: [scope]))
    }
  }

  func historyLimits() throws(StoreError) -> HistoryLimits {
    try read { chain throws(StoreError) in HistoryLimits(stored: chain.limits.isEmpty ? nil : chain.limits) }
  }

  func set(_ limits: HistoryLimits) throws(StoreError) {
    _ = try revision()
    throw refusal
  }
}

extension ReadOnlyStorage: ForkAware {
  func afterForkInChild() { state.update { $0.watchers.interruptions = 0 } }
}

extension StoreError {
  /// Why a store that was opened only to read refuses a write.
  static var openOnlyToRead: StoreError {
    StoreError(.denied, "the store is open read-only; open it without that option to change it")
  }
}
