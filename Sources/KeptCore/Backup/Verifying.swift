// Checking a whole store: what a program asks before it trusts a disk, or copies a store elsewhere.

import KeptSchema
public import KeptValues

/// The findings of ``Store/verify(progress:)``.
public struct Verification: Sendable {
  /// The store's revision when its keys were read.
  public internal(set) var revision: Revision = 0
  /// The number of values that can be read.
  public internal(set) var values = 0
  /// The number of declarations that can be read.
  public internal(set) var declarations = 0
  /// The keys whose value does not fit their declaration, in byte order; they read as absent.
  public internal(set) var misfits: [String] = []
  /// An error for each secret that no provider unlocks, with its key; this is not damage.
  public internal(set) var locked: [StoreError] = []
  /// The damage, with the key if it is in a value or a declaration; all errors are `corrupt`.
  public internal(set) var damage: [StoreError] = []

  /// Whether nothing is damaged.
  public var isSound: Bool { damage.isEmpty }
}

extension Store {
  /// Reads everything that is stored, and checks the files.
  ///
  /// Damage is a result, and not an error. A damaged store in a folder is salvaged by the next process that
  /// opens it exclusively. Nothing is changed.
  /// In C: `kept_verify_json`. In Python: `settings.verify()`.
  ///
  /// Throws `unsupported` for a storage that cannot list its keys, and any error that leaves open whether there is
  /// damage, such as `failed` for a lack of memory.
  /// - Parameter progress: counts keys, after the files were checked, which is one step.
  public func verify(progress: TransferProgress? = nil) throws(StoreError) -> Verification {
    var found = Verification()
    let storage = try storage()
    let fileDamage = try (storage as? any VerifiableStorage)?.damage()
    if let fileDamage { found.damage.append(fileDamage) }
    do throws(StoreError) {
      let stored = try unlocking(\.self) { () throws(StoreError) in try storage.entries(in: [.prefix("")]) }
      found.revision = stored.revision
      try found.check(stored, progress)
    } catch {
      guard error.code == .corrupt else { throw error }
      if fileDamage == nil { found.damage.append(error) }
    }
    return found
  }
}

extension Verification {
  fileprivate mutating func check(_ stored: StoredEntries, _ progress: TransferProgress?) throws(StoreError) {
    try Allowance.ask(forEntries: stored.entries.count + stored.unreadable.count, to: "verify the store")
    let reporter = ProgressReporter(progress, total: stored.entries.count + stored.unreadable.count)
    var done = 0
    for entry in stored.unreadable {
      try reporter.report(done)
      let reason = entry.reason.about(entry.key.text)
      if reason.code == .unavailable { locked.append(reason) } else { damage.append(reason) }
      try check(entry.declaration, of: entry.key)
      done += 1
    }
    for keyed in stored.entries {
      try reporter.report(done)
      if keyed.entry.value != nil { values += 1 }
      try check(keyed.entry.declaration, of: keyed.key)
      if keyed.entry.value != nil, keyed.entry.fitting == nil { misfits.append(keyed.key.text) }
      done += 1
    }
    misfits = misfits.map { ExactString($0) }.inOrder(of: \.self).map(\.text)
    try reporter.finish()
  }

  private mutating func check(_ declaration: Declaration?, of key: KeyName) throws(StoreError) {
    guard let declaration else { return }
    try declaration.makeKnown()
    do throws(StoreError) {
      try declaration.checkText(of: key)
      declarations += 1
    } catch {
      guard error.code == .corrupt else { throw error }
      damage.append(error)
    }
  }

  /// The findings as an object.
  ///
  /// Its members are `revision`, `values`, `declarations`, `misfits` with keys, `damage`
  /// with `reason` and, except for the files, `key` each, and `sound`.
  public var json: String { asValue.json }

  /// The same as text that C frees with free().
  ///
  /// Throws `failed` where there is no memory for it.
  package func newCText() throws(StoreError) -> UnsafeMutablePointer<CChar> {
    try Allowance.ask(forEntries: 2 * (misfits.count + damage.count), to: "report the verification")
    return try asValue.newCText()
  }

  private var asValue: Value {
    .dictionary([
      "revision": .int(Int64(clamping: revision)),
      "values": .int(Int64(values)),
      "declarations": .int(Int64(declarations)),
      "misfits": .array(misfits.map { .string($0) }),
      "damage": .array(damage.map(\.asValue)),
      "sound": .bool(isSound),
    ])
  }
}

extension StoreError {
  fileprivate var asValue: Value {
    var members: [(ExactString, Value)] = [("reason", .string(message))]
    if let key { members.append(("key", .string(key))) }
    return .dictionary(ValueDictionary(members))
  }
}
