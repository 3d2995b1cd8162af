// Reading and storing secrets that are encrypted: the providers of their keys are asked here, where no lock is held.

public import KeptValues

extension Store {
  /// Runs `body` again if it has failed for want of the keys of secrets, and providers have been asked for them since.
  ///
  /// Call it while holding no lock.
  func unlocking<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
    do throws(StoreError) { return try body() } catch {
      guard error.code == .unavailable, let secrets = shared.secrets, secrets.unlock() else { throw error }
      return try body()
    }
  }

  /// Reads entries again if some are secrets that are locked, and providers have been asked for the keys since.
  ///
  /// Call it while holding no lock.
  func unlocking<Result>(
    _ entries: (Result) -> StoredEntries, _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    let found = try body()
    guard entries(found).hasLocked, let secrets = shared.secrets, secrets.unlock() else { return found }
    return try body()
  }

  public func lockedEntry(for key: KeyName) throws(StoreError) -> Entry? {
    guard shared.secrets != nil, let found = try storage().entries(in: [.key(key)]).unreadable.first,
      found.reason.code == .unavailable
    else { return nil }
    return found.locked
  }
}

extension StoredEntries {
  /// Whether some are secrets that are locked.
  var hasLocked: Bool { unreadable.contains { $0.reason.code == .unavailable } }
}

extension UnreadableEntry {
  /// The entry of a secret that is locked, without the value.
  var locked: Entry { Entry(value: nil, revision: revision, declaration: declaration) }
}

extension SharedStore {
  var secrets: StoreSecrets? { (storage as? any SecretStorage)?.secrets }
}
