// The stored values and declarations of a store, a snapshot, a backup or an export, for comparing them with others.

import KeptSchema
import KeptSystem
public import KeptValues

/// The stored values and the declarations of a store, now or in the past, or of a file.
///
/// ```swift
/// let difference = try StoreContents(contentsOf: "settings.backup").differences(to: StoreContents(settings))
/// ```
///
/// They are copies in this process's memory.
public struct StoreContents: Sendable {
  /// Why a value is not known.
  private struct Gap {
    let value: PastValue
    let reason: String

    init(value: PastValue, reason: String) { (self.value, self.reason) = (value, reason) }

    /// A value that cannot be read; a secret that is locked is there.
    init(_ error: StoreError) {
      self.init(
        value: error.code == .unavailable ? .secret : .unknown, reason: "its value cannot be read: \(error.message)")
    }
  }
  private var values: [KeyName: Value] = [:]
  private var gaps: [KeyName: Gap] = [:]
  let declarations: [KeyName: Declaration]
  /// The prefix of the keys that are known; nothing is known of others.
  private(set) var prefix: ExactString = ""
  /// Whether the declarations are known: an export may have none.
  private(set) var hasDeclarations = true

  /// Reads what a store has now.
  public init(_ store: Store) throws(StoreError) { try self.init(store.snapshot()) }

  /// Reads what a snapshot has.
  ///
  /// The snapshot of a revision in the past has the declarations of today, and not the values that the history has not
  /// kept.
  public init(_ snapshot: Snapshot) throws(StoreError) {
    prefix = snapshot.prefix
    for key in try snapshot.storedKeys(prefix: "") {
      do throws(StoreError) { values[key] = try snapshot.entry(for: key)?.value } catch {
        let lost = snapshot.lost[key]
        gaps[key] = lost.map { Gap(value: $0, reason: "the history has not kept its value") } ?? Gap(error)
      }
    }
    let declared = try snapshot.declarations().declarations
    declarations = Dictionary(declared.map { ($0.key, $0.declaration) }) { first, _ in first }
  }

  /// Reads a backup.
  ///
  /// Secrets that nothing opens are not known. Throws what ``Store/restore(from:passphrase:)`` throws.
  /// - Parameters:
  ///   - store: the store whose keys open secrets of the backup, if any.
  ///   - passphrase: the passphrase of the store that was copied.
  public init(ofBackup path: String, for store: Store? = nil, passphrase: String? = nil) throws(StoreError) {
    let secrets = try (store?.storage() as? any SecretStorage)?.secrets
    let backup = try BackupFile(at: path, secrets, passphrase: passphrase, leavesLocked: true)
    var known: [KeyName: Declaration] = [:]
    func add(_ declaration: Declaration?, of key: KeyName) throws(StoreError) {
      try declaration?.checkText(of: key)
      known[key] = declaration
    }
    for keyed in backup.entries {
      values[keyed.key] = keyed.entry.value
      try add(keyed.entry.declaration, of: keyed.key)
    }
    for entry in backup.locked {
      gaps[entry.key] = Gap(entry.reason)
      try add(entry.declaration, of: entry.key)
    }
    declarations = known
  }

  /// Reads a file: a backup, or an export.
  ///
  /// Throws what ``init(ofBackup:for:passphrase:)`` and ``Store/import(contentsOf:_:)`` throw.
  /// - Parameter store: as for a backup.
  public init(contentsOf path: String, for store: Store? = nil) throws(StoreError) {
    if try WholeFile.begins(path, with: Array("KeptVals".utf8)) {
      try self.init(ofBackup: path, for: store)
      return
    }
    let copy = Store(storage: MemoryStorage())
    let bytes = try WholeFile.bytes(of: path, atMost: ImportOptions.mostBytes, "a backup or an export")
    let rules = ImportRules(replaces: false, isDryRun: false, includesDeclarations: true, progress: nil)
    do throws(StoreError) {
      let reading = bytes.withUnsafeBufferPointer { bytes in
        Result { () throws(StoreError) in try KeptDocument.read(bytes, prefix: "", .leave, nil) }
      }
      let export = try reading.get()
      _ = try copy.import(rules) { export }
      try self.init(copy.snapshot())
      (prefix, hasDeclarations) = (export.scope, export.declarations != nil)
      for key in export.unreadable {
        gaps[key] = Gap(value: .unknown, reason: "its value could not be read when it was exported")
      }
      for key in export.sealed { gaps[key] = Gap(value: .secret, reason: "the export has it encrypted") }
      for key in export.omitted {
        gaps[key] = Gap(value: .secret, reason: "the export leaves out secrets")
      }
    } catch {
      throw error.said { "\(path): \($0)" }
    }
  }

  private init() { declarations = [:] }

  /// What an empty store has.
  public static let empty = StoreContents()

  /// The keys with a value, known or not.
  public var keys: Set<KeyName> { Set(values.keys).union(gaps.keys) }

  /// The value of a key, as far as it is known.
  public subscript(key: KeyName) -> PastValue { gaps[key]?.value ?? values[key].map { .value($0) } ?? .absent }

  /// Why the value of a key is not known; nil if it is.
  func reason(at key: KeyName) -> String? { gaps[key]?.reason }
}
