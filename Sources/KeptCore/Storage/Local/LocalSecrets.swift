// The keys of a store's secrets are changed: the file `secrets` first, and then the secrets, by a checkpoint.

import KeptEngine
import KeptSecrets
import KeptSystem
import KeptValues

extension LocalStorage: SecretStorage {
  func replace(_ document: SecretsDocument?, by new: SecretsDocument, _ keys: DataKeys?) throws(StoreError) {
    try engine.takeTurn(timeoutMilliseconds: Int64(busyTimeoutMilliseconds)) { _ throws(StoreError) in
      try secrets.replace(document, by: new, keys)
    }
  }

  func plainCount(_ document: SecretsDocument?) throws(StoreError) -> Int {
    try engine.past { past, chain throws(StoreError) in try past.plainCount(chain, document) }
  }

  func sealAgain() throws(StoreError) {
    let deadline = MonotonicTime.milliseconds + Int64(busyTimeoutMilliseconds)
    // New values are sealed with the current key since the file has it, so a checkpoint of all before is enough.
    while try mustSeal() {
      // The first one may only finish that of a process that was killed.
      let isMade = try engine.checkpoint(reseals: true)
      guard MonotonicTime.milliseconds < deadline else {
        throw StoreError(
          .busy, "other processes make checkpoints, so secrets are not sealed with the new key yet; try again")
      }
      if !isMade { MonotonicTime.letPass(microseconds: 1000) }
    }
    guard let document = try secrets.document(), document.keys.count > 1, try !hasLater() else { return }
    var new = document
    new.forgetOldKeys()
    try replace(document, by: new, nil)
  }

  /// Whether a later version has sealed a secret, with a key that this version does not know.
  private func hasLater() throws(StoreError) -> Bool {
    try engine.past { past, chain throws(StoreError) in
      try past.countSecrets(chain) { stored, _, _ in
        stored.isSealed && SealedHeader.isLater(stored.payload.bindMemory(to: UInt8.self))
      } > 0
    }
  }

  /// Whether there is a secret that can be sealed with the current key and is not; one that is damaged stays so.
  private func mustSeal() throws(StoreError) -> Bool {
    guard try secrets.document()?.isPlain == false else { return false }
    return try engine.past { past, chain throws(StoreError) in
      try past.countSecrets(chain) { (try? secrets.reseal($0, of: $1, at: $2)) ?? nil != nil } > 0
    }
  }
}

extension Chain {
  /// The keys with a secret that is sealed.
  func sealedKeys() throws(StoreError) -> [KeyName] {
    var keys: [KeyName] = []
    try forEachState(below: "", opens: false) { key, state in
      if case .success(let state) = state, state.isSealed { keys.append(key) }
    }
    return keys
  }
}

extension Past {
  /// How many secrets are plain, or sealed with a data key that is not the current one.
  func plainCount(_ chain: Chain, _ document: SecretsDocument?) throws(StoreError) -> Int {
    let current = document?.keys.first(where: \.isCurrent)?.number
    return try countSecrets(chain) { stored, _, _ in
      guard stored.isSealed else { return true }
      return (try? SealedHeader(stored.payload.bindMemory(to: UInt8.self)).key) != current
    }
  }

  /// Counts secrets of a chain, and old ones that were sealed.
  fileprivate func countSecrets(
    _ chain: Chain, _ isCounted: (StoredValue, KeyName, Revision?) -> Bool
  ) throws(StoreError) -> Int {
    var count = 0
    try chain.forEachState(below: "", opens: false) { key, state throws(StoreError) in
      guard case .success(let state) = state, state.isSecret else { return }
      try state.withStored { stored in if isCounted(stored, key, state.revision) { count += 1 } }
    }
    for change in changes {
      change.old.sealed?.withUnsafeBytes { bytes in
        if isCounted(StoredValue(kind: StoredValue.sealed, payload: bytes), change.key, nil) { count += 1 }
      }
    }
    return count
  }
}
