// The encryption of a store's secrets, as one process has it open: what the file `secrets` says, and the data keys,
// once a provider has given them. docs/decisions/27-secrets-in-stores.md has the reasons.

import KeptEngine
import KeptSchema
import KeptSecrets
import KeptSystem
import KeptValues
import Synchronization

/// Seals and opens the secrets of one open store.
///
/// Thread-safe. Until a secret is read or stored, it reads no file. Only ``unlock()`` asks the providers.
final class StoreSecrets: SecretOpening {
  fileprivate struct State {
    /// Where the store is; nil before it is open.
    var folder: (@Sendable () throws(StoreError) -> OpenFolder)?
    /// The keys of the secrets that are sealed.
    var sealedKeys: (@Sendable () throws(StoreError) -> [KeyName])?
    /// What the file says, and which file that was; nil if there is none.
    var document: SecretsDocument?
    var file: FileMark?
    /// The data keys; nil if no provider has given them.
    var keys: DataKeys?
    /// Those before, which snapshots may need.
    var formerKeys: DataKeys?
    /// How many times the file has changed.
    var changes = 0
    /// Why not, when that was, how long no provider is asked again, and whether one has given a key that the file does
    /// not fit.
    var refusal: (reason: StoreError, time: Int64, pause: Int64, isOfFile: Bool)?
    var isAsking = false
    /// Called with no lock held, once there are keys.
    var whenUnlocked: (@Sendable () -> Void)?
    /// Asks for the passphrase, with no lock held.
    var askPassphrase: (@Sendable () throws(StoreError) -> String?)?
  }
  fileprivate struct FileMark: Equatable {
    let identity: FileIdentity
    let modified: Int64
    let size: Int
  }
  private let state = Monitor(State())
  private let wanted = Atomic<Bool>(false)
  // In milliseconds.
  private let now: @Sendable () -> Int64
  private let mayRunPrograms: Bool

  /// How long a provider that has given no key is not asked again, in milliseconds: twice as long each time.
  private static let shortestPause: Int64 = 2000
  private static let longestPause: Int64 = 60_000

  init(mayRunPrograms: Bool = true, now: @escaping @Sendable () -> Int64 = { MonotonicTime.milliseconds }) {
    (self.mayRunPrograms, self.now) = (mayRunPrograms, now)
    Fork.join(self)
  }

  deinit { Fork.leave(self) }

  /// Whether a secret was asked for that could not be opened or sealed.
  var isWanted: Bool { wanted.load(ordering: .acquiring) }

  /// Begins to use the file of a folder, which is opened when it is needed.
  ///
  /// - Parameter sealedKeys: returns the keys of the secrets that are sealed. It is called with no lock held.
  func begin(
    _ folder: @escaping @Sendable () throws(StoreError) -> OpenFolder,
    sealedKeys: @escaping @Sendable () throws(StoreError) -> [KeyName]
  ) {
    state.updateQuietly { ($0.folder, $0.sealedKeys) = (folder, sealedKeys) }
  }

  /// Sets what is called with no lock held when secrets can be read that could not before.
  func whenUnlocked(_ body: @escaping @Sendable () -> Void) { state.updateQuietly { $0.whenUnlocked = body } }

  /// Sets what is called with no lock held when nothing but the passphrase can give the key.
  func askPassphrase(_ body: @escaping @Sendable () throws(StoreError) -> String?) {
    state.updateQuietly { $0.askPassphrase = body }
  }

  // MARK: - Values

  /// Whether secrets are encrypted now.
  ///
  /// The answer holds as long as the write lock is held.
  func areEncrypted() throws(StoreError) -> Bool {
    try state.updateQuietly { state throws(StoreError) in
      try state.refresh()
      return state.document?.isPlain == false
    }
  }

  /// Whether no one has decided how secrets are stored, so that a new one is refused.
  func areUndecided() throws(StoreError) -> Bool { try document() == nil }

  /// Seals a secret, with the write lock held; nil if secrets are plain.
  ///
  /// It is sealed with the public key if the providers were asked for the data key, and have not given it.
  ///
  /// Throws `unavailable` until they were asked, and if no one has decided how secrets are stored.
  func seal(_ value: Value, of key: KeyName, at revision: Revision) throws(StoreError) -> [UInt8]? {
    let (document, keys): (SecretsDocument, DataKeys?) = try state.updateQuietly { state throws(StoreError) in
      try state.refresh()
      guard let document = state.document else {
        // The reason may be another one.
        wanted.store(true, ordering: .releasing)
        throw Self.notStored(state.refusal?.reason ?? Self.undecided)
      }
      // Without them the public key is used, unless the file was changed.
      let mayDo = document.isPlain || state.refusal?.isOfFile == false && state.formerKeys?.contradict(document) != true
      return (document, mayDo ? state.keys : try dataKeys(state, "cannot be stored"))
    }
    if document.isPlain { return nil }
    var sealed: [UInt8] = []
    try value.withStored { stored throws(StoreError) in
      sealed = try Self.seal(stored) { plain throws(StoreError) in
        if let keys { return try keys.seal(plain, for: key, at: revision) }
        return try document.seal(plain, for: key, at: revision)
      }
    }
    return sealed
  }

  private static func seal(
    _ stored: StoredValue, _ seal: (UnsafeBufferPointer<UInt8>) throws(StoreError) -> [UInt8]
  ) throws(StoreError) -> [UInt8] {
    let plain = try LockedBytes(count: 1 + stored.payload.count) { plain in
      plain[0] = stored.kind
      for (index, byte) in stored.payload.enumerated() { plain[1 + index] = byte }
    }
    return try plain.withBytes(seal)
  }

  func reseal(_ stored: StoredValue, of key: KeyName, at revision: Revision?) throws(StoreError) -> [UInt8]? {
    guard let keys = state.read(\.keys) else { return nil }
    guard stored.isSealed else {
      return try revision.map { revision throws(StoreError) in
        try Self.seal(stored) { plain throws(StoreError) in try keys.seal(plain, for: key, at: revision) }
      }
    }
    let sealed = stored.payload.bindMemory(to: UInt8.self)
    let header = try SealedHeader(sealed)
    guard header.key != keys.current else { return nil }
    let plain = try keys.open(sealed, for: key, at: revision)
    return try plain.withBytes { plain throws(StoreError) in try keys.seal(plain, for: key, at: header.revision) }
  }

  /// Changes with the file: a secret that was sealed at the same count need not be sealed again.
  ///
  /// The answer holds as long as the write lock is held.
  func changeCount() throws(StoreError) -> Int {
    try state.updateQuietly { state throws(StoreError) in
      try state.refresh()
      return state.changes
    }
  }

  func open(_ sealed: [UInt8], of key: KeyName, at revision: Revision) throws(StoreError) -> Value {
    try openAny(sealed, of: key, at: revision)
  }

  /// Opens a value of the history.
  func open(old sealed: [UInt8], of key: KeyName) throws(StoreError) -> Value {
    try openAny(sealed, of: key, at: nil)
  }

  private func openAny(_ sealed: [UInt8], of key: KeyName, at revision: Revision?) throws(StoreError) -> Value {
    let keys = try state.updateQuietly { state throws(StoreError) in try dataKeys(state, "cannot be read") }
    do throws(StoreError) { return try Self.open(sealed, of: key, at: revision, with: keys) } catch {
      // Another process may have rotated the keys.
      if error.code == .unavailable { wanted.store(true, ordering: .releasing) }
      throw error
    }
  }

  static func open(
    _ sealed: [UInt8], of key: KeyName, at revision: Revision?, with keys: DataKeys
  ) throws(StoreError) -> Value {
    let plain = try sealed.withUnsafeBufferPointer { sealed throws(StoreError) in
      try keys.open(sealed, for: key, at: revision)
    }
    let value = try plain.withBytes { plain throws(StoreError) -> Value? in
      guard let kind = plain.first, kind != StoredValue.sealed else { return nil }
      let payload = UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: plain[1...]))
      return try StoredValue(kind: kind, payload: payload).value()
    }
    guard let value else {
      throw StoreError(.corrupt, "its encrypted value is malformed; set the key again, or remove it")
    }
    return value
  }

  /// Seals a value again for another revision; nil if it has that.
  ///
  /// Throws `unavailable` for one that was sealed with the public key.
  func seal(again sealed: [UInt8], of key: KeyName, at revision: Revision) throws(StoreError) -> [UInt8]? {
    let header = try sealed.withUnsafeBufferPointer { sealed throws(StoreError) in try SealedHeader(sealed) }
    if header.revision == revision { return nil }
    if header.isPublic { throw StoreError(.unavailable, "it was sealed without the data key; store it again") }
    return try seal(open(old: sealed, of: key), of: key, at: revision)
  }

  // MARK: - Keys

  /// The data keys for a secret; if they are missing, notes that they are wanted.
  private func dataKeys(_ state: State, _ what: String) throws(StoreError) -> DataKeys {
    if let keys = state.keys { return keys }
    wanted.store(true, ordering: .releasing)
    let reason = state.refusal?.reason.message ?? "no provider of its key was asked yet; try again"
    throw StoreError(.unavailable, "it is an encrypted secret, which \(what): \(reason)")
  }

  /// Asks the providers for the data keys, if a secret was asked for without them, and if it was not done recently.
  ///
  /// It may run programs and take long: do not call it while holding a lock.
  /// - Returns: whether trying again what has failed may have another result.
  func unlock() -> Bool {
    let (document, result): (SecretsDocument?, Bool?) = state.wait { state -> (SecretsDocument?, Bool?)? in
      if state.isAsking { return nil }
      // Another thread may have asked since.
      guard isWanted else { return (nil, state.keys != nil || state.refusal != nil) }
      do throws(StoreError) { try state.refresh() } catch {
        state.refusal = (error, now(), 0, false)
        return (nil, true)
      }
      if state.keys != nil {
        wanted.store(false, ordering: .releasing)
        return (nil, true)
      }
      if let refusal = state.refusal, refusal.time...refusal.time + refusal.pause ~= now() {
        return (nil, true)
      }
      state.isAsking = true
      return (state.document, nil)
    }
    if let result { return result }
    var isOfFile = false
    let keys: Result<DataKeys, StoreError> = Result { () throws(StoreError) in
      guard let document else { throw try loss() ?? Self.undecided }
      var access = try providerAccess(nil)
      if let ask = state.read(\.askPassphrase) {
        access.askPassphrase = { () throws(StoreError) in
          try ask().map { text throws(StoreError) in try LockedBytes(copying: text) }
        }
      }
      return try document.unlock(access) { isOfFile = true }
    }
    let whenUnlocked = state.update { state in
      state.isAsking = false
      wanted.store(false, ordering: .releasing)
      switch keys {
      case .success(let keys): (state.keys, state.refusal) = (keys.adding(state.formerKeys), nil)
      case .failure(let reason):
        let pause =
          document == nil ? 0 : min(max(2 * (state.refusal?.pause ?? 0), Self.shortestPause), Self.longestPause)
        state.refusal = (reason, now(), pause, isOfFile)
      }
      return state.keys == nil ? nil : state.whenUnlocked
    }
    whenUnlocked?()
    return true
  }

  /// What the providers of the store may use.
  func providerAccess(_ passphrase: String?) throws(StoreError) -> ProviderAccess {
    var access = try ProviderAccess(passphrase: passphrase)
    access.mayRunPrograms = mayRunPrograms
    return access
  }

  /// The programs that the user of the store has named.
  func namedPrograms() throws(StoreError) -> Set<[ExactString]> {
    guard mayRunPrograms, let document = try document(), document.mayRunPrograms else { return [] }
    return document.programs
  }

  /// Why no secret can be stored while there is no file.
  ///
  /// Do not call it while holding a lock.
  func undecidedOrLost() throws(StoreError) -> StoreError { Self.notStored(try loss() ?? Self.undecided) }

  private static func notStored(_ reason: StoreError) -> StoreError {
    reason.said { "it is a secret, which cannot be stored: \($0)" }
  }

  // MARK: - Changes of the file

  private static let undecided = StoreError(
    .unavailable,
    "no one has decided how this store keeps secrets; encrypt them with kept secrets STORE init, or keep them as they "
      + "are with kept secrets STORE init --plain")

  /// Why a store without the file `secrets` cannot get another one; nil if it can.
  ///
  /// Do not call it while holding a lock.
  func loss() throws(StoreError) -> StoreError? {
    let keys = try state.read(\.sealedKeys)?() ?? []
    guard let first = keys.first else { return nil }
    let others = keys.count == 1 ? "" : " and \(keys.count - 1) more"
    return StoreError(
      .unavailable,
      "the store has encrypted secrets (\"\(Excerpt.of(first.text))\"\(others)), but the file secrets with their keys "
        + "is missing; bring it back from a backup, or remove these secrets, and set them again")
  }

  /// The data keys, if a backup of the store needs no others.
  func keys(for backup: SecretsDocument?) throws(StoreError) -> DataKeys? {
    guard let backup, try document()?.id == backup.id else { return nil }
    wanted.store(true, ordering: .releasing)
    _ = unlock()
    return state.read(\.keys).flatMap { $0.have(backup.keys) ? $0 : nil }
  }

  var areUnlocked: Bool { state.read(\.keys) != nil }

  /// What the file says now; nil if there is none.
  func document() throws(StoreError) -> SecretsDocument? {
    try state.updateQuietly { state throws(StoreError) in
      try state.refresh()
      return state.document
    }
  }

  /// Uses data keys that were unlocked for the document.
  func use(_ keys: DataKeys) throws(StoreError) {
    let whenUnlocked = try state.update { state throws(StoreError) -> (@Sendable () -> Void)? in
      try state.refresh()
      guard let document = state.document, keys.areKeys(of: document) else { throw Self.changed }
      (state.keys, state.refusal) = (keys.adding(state.formerKeys), nil)
      wanted.store(false, ordering: .releasing)
      return state.whenUnlocked
    }
    whenUnlocked?()
  }

  /// Replaces the document, with the write lock held, and uses its data keys if they are given.
  ///
  /// Throws `busy` if another process has replaced it.
  func replace(
    _ document: SecretsDocument?, by new: SecretsDocument, _ keys: DataKeys? = nil
  ) throws(StoreError) {
    try state.updateQuietly { state throws(StoreError) in
      try state.refresh()
      guard state.document == document, let folder = try state.folder?() else { throw Self.changed }
      try SecretsFile.write(new, in: folder)
      if let keys { state.keys = keys.adding(state.keys) }
      try state.refresh()
    }
  }

  private static let changed = StoreError(
    .busy, "another process has changed the keys of the secrets at the same time; try again")
}

extension StoreSecrets.State {
  /// Reads the file, if it is another one than before.
  fileprivate mutating func refresh() throws(StoreError) {
    guard let folder = try folder?() else { return }
    let found = folder.status(of: SecretsFile.name).map {
      StoreSecrets.FileMark(identity: $0.identity, modified: $0.modified, size: $0.size)
    }
    guard found != file else { return }
    document = found == nil ? nil : try SecretsFile.read(in: folder)
    (file, refusal) = (found, nil)
    changes += 1
    if let document, keys?.areKeys(of: document) == true { return }
    (formerKeys, keys) = (keys ?? formerKeys, nil)
  }

}

extension StoreSecrets: ForkAware {
  /// The thread that asks is the parent's.
  func afterForkInChild() { state.updateQuietly { $0.isAsking = false } }
}
