// A backup that is read: it is checked completely before it is used, and never written.

import CPlatform
import KeptEngine
import KeptSchema
import KeptSecrets
import KeptSystem
import KeptValues

/// The content of a backup.
struct BackupFile {
  /// In the order of the keys.
  private(set) var entries: [KeyedEntry] = []
  private(set) var schemaVersion: UInt32 = 0
  /// How its store kept its secrets, and the data keys; nil if it does not say so, or has none.
  private(set) var document: SecretsDocument?
  private(set) var keys: DataKeys?
  /// Whether it has encrypted secrets.
  private(set) var hasSealed = false
  /// The encrypted secrets that nothing opens.
  private(set) var locked: [UnreadableEntry] = []

  /// Reads a backup: a file, or a folder with a store.
  ///
  /// Throws `unavailable` if there is none, `unsupported` for a file of another kind or a backup of a later version,
  /// and `corrupt` for a backup that is not completely readable.
  /// - Parameters:
  ///   - secrets: what opens secrets of the same store; nil if there is none.
  ///   - passphrase: what opens others, if their store had it.
  ///   - leavesLocked: whether secrets that nothing opens are listed, instead of making the call fail.
  init(
    at path: String, _ secrets: StoreSecrets? = nil, passphrase: String? = nil, leavesLocked: Bool = false
  ) throws(StoreError) {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw StoreError(.invalid, "the path of a backup must not be empty or contain a NUL")
    }
    do throws(StoreError) {
      guard let place = try UserLinks.resolve(path) else { throw .system("access", path) }
      let states = try kept_is_folder(place) == 1 ? read(folder: place) : read(file: place)
      try open(states, secrets, passphrase, leavesLocked)
    } catch {
      // The remedies for a damaged store do not apply to a backup.
      let isDamaged = error.code == .corrupt && error.key == nil
      let reason = isDamaged ? "it is damaged or truncated; use another backup" : error.description
      throw StoreError(error.code, "the backup \(path) cannot be read: \(reason)")
    }
  }

  private typealias States = [(key: KeyName, state: KeyState)]

  private mutating func read(folder path: String) throws(StoreError) -> States {
    guard let folder = OpenFolder(holding: path) else { throw .system("open the folder", path) }
    guard folder.status(of: StoreFiles.values) != nil else {
      throw .system("access", path + "/" + StoreFiles.values)
    }
    document = try SecretsFile.read(in: folder)?.ofBackup
    var states: States = []
    try ReadOnlyEngine(folder).read { chain throws(StoreError) in
      if document == nil { try read(secrets: chain.values.header.secrets) }
      schemaVersion = chain.schemaVersion
      try chain.forEachState(below: "", opens: false) { key, state throws(StoreError) in
        do throws(StoreError) { states.append((key, try state.get())) } catch { throw error.about(key.text) }
      }
    }
    return states
  }

  private mutating func read(file path: String) throws(StoreError) -> States {
    var states: States = []
    let header = try KeptEngine.Backup.read(Self.open(path)) { key, state in states.append((key, state)) }
    schemaVersion = header.schemaVersion
    try read(secrets: header.secrets)
    return states
  }

  private mutating func read(secrets json: String) throws(StoreError) {
    guard !json.utf8.isEmpty else { return }
    document = try ExactString(json).withBytes { text throws(StoreError) in try SecretsDocument(json: text).ofBackup }
  }

  /// Opens the secrets: with the passphrase, with the keys of the store that restores them, or with the backup's own.
  private mutating func open(
    _ states: States, _ secrets: StoreSecrets?, _ passphrase: String?, _ leavesLocked: Bool
  ) throws(StoreError) {
    // A wrong one is refused, even if it is not needed.
    if passphrase != nil, let document, !document.isPlain {
      keys = try document.unlock(ProviderAccess(passphrase: passphrase))
    }
    hasSealed = states.contains(where: \.state.isSealed)
    var refusal: StoreError?
    if hasSealed, keys == nil {
      do throws(StoreError) { keys = try unlock(secrets) } catch {
        guard leavesLocked else { throw error }
        refusal = error
      }
    }
    let opener = keys.map { BackupSecrets(keys: $0) }
    for (key, state) in states {
      do throws(StoreError) {
        if state.isSealed, let refusal { throw refusal }
        let opened = try state.opened(key, by: opener)
        if let entry = Entry(opened) { entries.append(KeyedEntry(key: key, entry: entry)) }
      } catch {
        guard leavesLocked, error.isOfValue else { throw error }
        let declaration = state.declaration.map { Declaration.stored($0) }
        locked.append(UnreadableEntry(key: key, reason: error, revision: state.revision, declaration: declaration))
      }
    }
  }

  private func unlock(_ secrets: StoreSecrets?) throws(StoreError) -> DataKeys? {
    if let keys = try secrets?.keys(for: document) { return keys }
    var access = ProviderAccess()
    access.namedPrograms = try secrets?.namedPrograms() ?? []
    return try document?.unlock(access)
  }

  /// Opens a file to read it.
  static func open(_ path: String) throws(StoreError) -> StoreFile {
    guard let folder = OpenFolder(holding: PathWalk.parent(of: path)) else { throw .system("read", path) }
    let name = PathWalk.name(of: path)
    let opened = try folder.open(name, O_RDONLY) { status, _ throws(StoreError) in
      if let other = status.otherKind {
        throw StoreError(.unsupported, "it is \(other); use a file that was created as a backup")
      }
    }
    guard let opened else { throw .system("access", path, errno: ENOENT) }
    return StoreFile(taking: opened, path: path)
  }
}

/// Opens the secrets of a backup.
private final class BackupSecrets: SecretOpening {
  private let keys: DataKeys

  init(keys: DataKeys) { self.keys = keys }

  func open(_ sealed: [UInt8], of key: KeyName, at revision: Revision) throws(StoreError) -> Value {
    try StoreSecrets.open(sealed, of: key, at: revision, with: keys)
  }

  func reseal(_ value: StoredValue, of key: KeyName, at revision: Revision?) throws(StoreError) -> [UInt8]? { nil }
}
