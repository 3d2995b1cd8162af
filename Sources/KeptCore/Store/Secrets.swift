// How a store keeps its secrets: a user decides it, and says where the keys are.

import KeptSecrets
import KeptSystem
public import KeptValues

/// What has the key of a store's secrets.
public enum SecretsProvider: Sendable, Hashable {
  /// A key that `systemd-creds` encrypts for this machine, with its TPM if it has one.
  case systemCredential
  /// An item of the user's keyring: GNOME Keyring, KWallet or KeePassXC.
  case keyring
  /// A file with an absolute path that only its owner can read. It is made if it does not exist.
  case keyFile(String)
  /// A program that prints a key, never run by a shell: its absolute path, and its arguments.
  case program([String])
  /// A passphrase; in a ``SecretsStatus`` it is empty.
  case passphrase(String)
}

/// How a store keeps its secrets.
public struct SecretsStatus: Sendable {
  public enum State: String, Sendable {
    /// No one has decided yet: a new secret is refused.
    case undecided
    /// A user has decided that secrets are stored as they are.
    case plain
    case encrypted
  }
  public let state: State
  /// A provider that the store has.
  public struct Entry: Sendable {
    /// nil for one of a later version.
    public let provider: SecretsProvider?
    /// Why it does not give the key; nil if it does, or was not asked.
    public let reason: StoreError?
  }
  /// What can give the key; the first one is tried first.
  public let providers: [Entry]
  /// When the data key was made that encrypts new secrets.
  public let created: Timestamp?
  /// How many secrets, and old secrets in the history, are plain, or have an older data key.
  public let unsealed: Int
}

extension SecretsStatus {
  /// The members are those of `kept_secrets_json`.
  public var json: String {
    var members: ValueDictionary = [
      "state": .string(state.rawValue), "providers": .array(providers.map { .dictionary($0.members) }),
      "unsealed": .int(Int64(unsealed)),
    ]
    members["created"] = created.map { .string($0.description) }
    return Value.dictionary(members).json
  }
}

extension SecretsStatus.Entry {
  fileprivate var members: ValueDictionary {
    var members: ValueDictionary =
      switch provider {
      case .systemCredential: ["kind": "systemd-creds"]
      case .keyring: ["kind": "secret-service"]
      case .keyFile(let path): ["kind": "file", "path": .string(path)]
      case .program(let arguments): ["kind": "program", "arguments": .array(arguments.map { .string($0) })]
      case .passphrase: ["kind": "passphrase"]
      case nil: ["kind": "unknown"]
      }
    members["reason"] = reason.map { .string($0.message) }
    return members
  }
}

extension Store {
  /// How the store keeps its secrets.
  ///
  /// In C: `kept_secrets_json`. In Python: `settings.secrets()`.
  ///
  /// Throws `unsupported` for a store that is not in a folder of its own, and `unavailable` if the file `secrets` of
  /// encrypted ones is lost.
  /// - Parameters:
  ///   - asks: whether the providers are asked for the key, which may run programs and take long.
  ///   - passphrase: for a provider that needs one.
  public func secretsStatus(
    askingProviders asks: Bool = false, passphrase: String? = nil
  ) throws(StoreError) -> SecretsStatus {
    let storage = try secretStorage()
    let document = try storage.secrets.document()
    if document == nil, let loss = try storage.secrets.loss() { throw loss }
    let access = try storage.secrets.providerAccess(passphrase)
    var providers: [SecretsStatus.Entry] = []
    for entry in document?.providers ?? [] {
      var reason: StoreError?
      if asks { do throws(StoreError) { _ = try document?.unlock(with: entry, access) } catch { reason = error } }
      providers.append(SecretsStatus.Entry(provider: entry.provider.map { SecretsProvider($0) }, reason: reason))
    }
    return SecretsStatus(
      state: document.map { $0.isPlain ? .plain : .encrypted } ?? .undecided, providers: providers,
      created: document?.keys.first(where: \.isCurrent)?.created, unsealed: try storage.plainCount(document))
  }

  /// Decides that secrets are stored as they are, readable for anyone who can read the files.
  ///
  /// Throws `invalid` if they are encrypted, and `unavailable` if they are and the file `secrets` is lost.
  public func keepSecretsPlain() throws(StoreError) {
    let storage = try secretStorage()
    let document = try storage.decision()
    guard document?.isPlain != true else { return }
    guard document == nil else {
      throw StoreError(.invalid, "the secrets of this store are encrypted; to have plain ones, make another store")
    }
    try storage.replace(nil, by: .plain(), nil)
  }

  /// Encrypts the secrets that the store has, those in the history too, and all that are set from now on.
  ///
  /// When it returns, no file has a plain secret. A process may be killed at any point: every secret can be read then,
  /// and the same call goes on. It may run programs.
  ///
  /// Throws `invalid` if they are encrypted with another provider, `unavailable` if they are encrypted and the file
  /// `secrets` is lost, and what the provider throws.
  public func encryptSecrets(with provider: SecretsProvider) throws(StoreError) {
    let storage = try secretStorage()
    let old = try storage.decision()
    if let old, !old.isPlain {
      guard old.providers.contains(where: { $0.provider?.isSame(as: provider) == true }) else {
        throw StoreError(
          .invalid, "the secrets of this store are encrypted already, with \(old.names); add the provider to it")
      }
      return try naming { () throws(StoreError) in try storage.sealAgain(with: provider.passphrase) }
    }
    var document = old ?? .plain()
    let access = try storage.secrets.providerAccess(nil)
    let (new, key) = try naming { () throws(StoreError) in
      try provider.make(for: document, label, access, isNew: true)
    }
    let keys = try document.encrypt(with: new, key, at: .now)
    try storage.replace(old, by: document, keys)
    try storage.sealAgain(after: "secrets are encrypted from now on, but those that were stored before are not yet")
  }

  /// Adds something that can give the key of the secrets, at the end, or renews it if the store has it.
  ///
  /// With a passphrase, this is how a store gets a key on another machine. A program that a backup has named is run if
  /// it is this one. It is trusted from then on, if the store has no other program.
  ///
  /// Throws `invalid` if secrets are not encrypted, `unavailable` if no provider gives the key, `denied` for a wrong
  /// passphrase, even if another provider gives the key, and what the provider throws.
  /// - Parameter passphrase: the passphrase of the store; nil to use the other providers.
  public func addSecretsProvider(_ provider: SecretsProvider, passphrase: String? = nil) throws(StoreError) {
    let storage = try secretStorage()
    let old = try storage.encrypted()
    var document = old
    var access = try storage.secrets.providerAccess(passphrase)
    if case .program(let arguments) = provider { access.namedPrograms = [arguments.map { ExactString($0) }] }
    let keys = try naming { () throws(StoreError) in try document.unlock(access) }
    let isNew = !old.providers.contains { $0.provider?.isSame(as: provider) == true }
    let (new, key) = try naming { () throws(StoreError) in
      try provider.make(for: document, label, access, isNew: isNew)
    }
    try document.add(new, key, to: keys)
    try storage.replace(old, by: document, keys)
    try storage.sealAgain(after: "the provider was added, but not all secrets have the present data key yet")
  }

  /// Removes something that can give the key of the secrets.
  ///
  /// Anyone who had its key may have read the data key: ``rotateSecrets(passphrase:)`` makes another one.
  ///
  /// Throws `absent` if the store does not have it, and `invalid` for the last one.
  public func removeSecretsProvider(_ provider: SecretsProvider) throws(StoreError) {
    let storage = try secretStorage()
    let old = try storage.encrypted()
    guard let entry = old.providers.first(where: { $0.provider?.isSame(as: provider) == true }) else {
      throw StoreError(.absent, "the store has no such provider; it has \(old.names)")
    }
    var document = old
    try document.remove(entry)
    try storage.replace(old, by: document, nil)
  }

  /// Makes a new data key, and encrypts all secrets with it, those in the history too.
  ///
  /// A process may be killed at any point: every secret can be read then, and the same call goes on.
  ///
  /// Throws `unavailable`, with nothing changed, if a provider does not give its key.
  /// - Parameter passphrase: the passphrase of the store, if it has one.
  public func rotateSecrets(passphrase: String? = nil) throws(StoreError) {
    let storage = try secretStorage()
    let old = try storage.encrypted()
    var document = old
    let access = try storage.secrets.providerAccess(passphrase)
    let keys = try naming { () throws(StoreError) in try document.rotate(access, at: .now) }
    do throws(StoreError) { try storage.replace(old, by: document, keys) } catch {
      throw error.said { "the data key is not rotated, and nothing was changed: \($0)" }
    }
    try storage.sealAgain(after: "the store has a new data key, but older secrets are not encrypted with it yet")
  }

  /// Uses the passphrase of the store in this process, so that secrets can be read and stored.
  ///
  /// Throws `denied` for another passphrase, even if another provider gives the key, and `unavailable` if the store has
  /// none.
  public func unlockSecrets(passphrase: String) throws(StoreError) {
    let storage = try secretStorage()
    let document = try storage.encrypted()
    let keys = try naming { () throws(StoreError) in
      try document.unlock(storage.secrets.providerAccess(passphrase))
    }
    try storage.secrets.use(keys)
  }

  /// Calls `body`, whose errors are about a provider, and names the store in them.
  private func naming<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
    do throws(StoreError) { return try body() } catch {
      guard let path = ((try? (storage() as? any FolderStorage)?.folder.shown) ?? nil) else { throw error }
      throw error.said { "the secrets of \(path): \($0)" }
    }
  }

  private func secretStorage() throws(StoreError) -> any SecretStorage {
    guard let storage = try storage() as? any SecretStorage else {
      throw StoreError(
        .unsupported, "only a store in a folder encrypts secrets, and this one has another storage; open such a store")
    }
    return storage
  }

  /// What a keyring shows.
  private var label: String {
    ((try? (storage() as? any FolderStorage)?.folder.shown) ?? nil).map { "Secrets of \($0)" } ?? "Secrets"
  }
}

extension SecretStorage {
  /// The document; nil if no one has decided.
  ///
  /// Throws `unavailable` if it is lost, and secrets with it.
  fileprivate func decision() throws(StoreError) -> SecretsDocument? {
    let document = try secrets.document()
    if document == nil, let loss = try secrets.loss() { throw loss }
    return document
  }

  /// The document; throws `invalid` if secrets are not encrypted.
  fileprivate func encrypted() throws(StoreError) -> SecretsDocument {
    guard let document = try secrets.document(), !document.isPlain else {
      throw StoreError(.invalid, "the secrets of this store are not encrypted; encrypt them first")
    }
    return document
  }

  /// Seals again what is not, after a change that an error names, because it stays.
  fileprivate func sealAgain(after change: String) throws(StoreError) {
    do throws(StoreError) { try sealAgain(with: nil) } catch {
      throw error.said { "\(change): \($0); then call again" }
    }
  }

  /// Seals again what is not, after the keys were unlocked if they are not.
  fileprivate func sealAgain(with passphrase: String?) throws(StoreError) {
    if let passphrase {
      try secrets.use(encrypted().unlock(secrets.providerAccess(passphrase)))
    } else if !secrets.areUnlocked {
      try secrets.use(encrypted().unlock(secrets.providerAccess(nil)))
    }
    try sealAgain()
  }
}

extension SecretsDocument {
  fileprivate var names: String { providers.map(\.name).joined(separator: ", ") }
}

extension SecretsProvider {
  fileprivate init(_ provider: Provider) {
    switch provider {
    case .keyFile(let path): self = .keyFile(path)
    case .passphrase: self = .passphrase("")
    case .program(let arguments): self = .program(arguments)
    case .systemCredential: self = .systemCredential
    case .secretService: self = .keyring
    }
  }

  fileprivate var passphrase: String? { if case .passphrase(let text) = self { text } else { nil } }

  /// Makes the provider's key, or gets it.
  ///
  /// - Parameter isNew: whether the store does not have the provider yet.
  fileprivate func make(
    for document: SecretsDocument, _ label: String, _ access: ProviderAccess, isNew: Bool
  ) throws(StoreError) -> (Provider, LockedBytes) {
    do throws(StoreError) { return try made(for: document, label, access, isNew: isNew) } catch {
      throw error.said { message in program.map { "\($0): \(message)" } ?? message }
    }
  }

  private func made(
    for document: SecretsDocument, _ label: String, _ access: ProviderAccess, isNew: Bool
  ) throws(StoreError) -> (Provider, LockedBytes) {
    switch self {
    case .systemCredential: return try SystemCredential.make(for: document, access)
    case .keyring:
      // Another item in its place would lock the keys that the store has. The keyring of another machine has none.
      if !isNew, let key = try? Provider.secretService.key(of: document.id, access) { return (.secretService, key) }
      return (.secretService, try SecretService.make(for: document, label: label, access))
    case .keyFile(let path):
      return (.keyFile(path), try KeptSecrets.KeyFile.use(path))
    case .program(let arguments): return (.program(arguments), try KeyProgram.key(arguments, access))
    case .passphrase(let text):
      let hash = try PassphraseHash.random()
      return (.passphrase(hash), try hash.key(of: LockedBytes(copying: text)))
    }
  }

  /// The program that gives the key, as messages name it.
  private var program: String? {
    switch self {
    case .systemCredential: Provider.systemCredential(name: "", sealed: "").name
    case .keyring: Provider.secretService.name
    case .program(let arguments): Provider.program(arguments).name
    case .keyFile, .passphrase: nil
    }
  }
}

extension Provider {
  /// Whether it is the provider that a user names.
  fileprivate func isSame(as named: SecretsProvider) -> Bool {
    switch (self, named) {
    case (.keyFile(let path), .keyFile(let other)): ExactString(path) == ExactString(other)
    case (.program(let arguments), .program(let others)):
      arguments.map { ExactString($0) } == others.map { ExactString($0) }
    case (.passphrase, .passphrase), (.systemCredential, .systemCredential), (.secretService, .keyring): true
    default: false
    }
  }
}
