// Changes that are shown, and then committed together or not at all.

import Kept

/// The changes of one commit, checked as they are made in its transaction.
final class Edit {
  private let transaction: Transaction
  private let isStrict: Bool
  private let newNames: [KeyName: KeyName]
  private(set) var changes: [Difference] = []
  private var warnings: [String] = []

  private init(_ transaction: Transaction) throws(StoreError) {
    self.transaction = transaction
    let list = try transaction.store.declarations()
    (isStrict, newNames) = (!list.declarations.isEmpty, list.newNames)
  }

  /// Commits the changes that `body` makes to a store, which is created if there is none and nothing is refused.
  static func commit(to location: String, _ options: WritingOptions, _ body: (Edit) throws -> Void) throws {
    let settings = try StoreAccess.openToWrite(
      location, options.changing, options.layers.choice, durable: options.durable
    ) { empty in
      _ = try make(on: empty, options, isDryRun: true, body)
    }
    try commit(on: settings, at: location, options, body)
  }

  /// Commits the changes that `body` makes; with `--dry-run` it shows them and commits nothing.
  static func commit(
    on settings: Store, at location: String, _ options: WritingOptions, _ body: (Edit) throws -> Void
  ) throws {
    Passphrase.isAskedFor = true
    guard let done = try make(on: settings, options, isDryRun: options.changing.dryRun, body) else { return }
    Output.standard.isDone = !options.changing.dryRun && !done.changes.isEmpty
    for change in done.changes where options.changing.dryRun { options.changing.report(change.line) }
    for warning in done.warnings { options.changing.warn(warning) }
    guard options.layers.noLayers else { return }
    for lock in StoreAccess.locks(on: done.changes.filter { $0.isStored }.map(\.key), at: location) {
      let key = Shown.line(lock.key.text)
      options.changing.warn(
        "\"\(key)\": is stored, but locked by \(lock.file): programs that read this file ignore the value")
    }
  }

  private static func make(
    on settings: Store, _ options: WritingOptions, isDryRun: Bool, _ body: (Edit) throws -> Void
  ) throws -> Edit? {
    var done: Edit?
    do {
      try settings.transaction(durability: options.durable ? .durable : nil) { transaction in
        let edit = try Edit(transaction)
        do { try body(edit) } catch let error as StoreError where edit.hasFailed {
          throw FailedExpectation(error: error)
        }
        done = edit
        if isDryRun {
          try edit.checkSecrets(in: settings)
          throw DryRun()
        }
      }
    } catch is DryRun {} catch let failed as FailedExpectation { throw failed.error }
    return done
  }

  private struct DryRun: Error {}

  /// Throws what the commit would, if no one has decided how the store keeps secrets.
  private func checkSecrets(in settings: Store) throws(StoreError) {
    guard let secret = changes.first(where: { $0.isSecret && $0.isStored }),
      (try? settings.secretsStatus().state) == .undecided
    else { return }
    throw .undecided(secret.key)
  }

  /// An expectation that does not hold; the library would repeat a transaction that throws a conflict.
  private struct FailedExpectation: Error { let error: StoreError }
  private var hasFailed = false

  private func conflict(_ key: KeyName, _ message: String) -> StoreError {
    hasFailed = true
    return StoreError(.conflict, key: key.text, message)
  }

  func set(_ key: KeyName, _ given: GivenValue, as type: DeclaredType?, allowsUndeclared: Bool) throws(StoreError) {
    let declaration = try declaration(of: key)
    let type = type ?? declaration?.knownType
    // Before the text is read: a wrong key is the mistake then, and not its value.
    if type == nil { try checkKnown(key, allowsUndeclared) }
    try set(key, value(given, as: type, key, declaration), allowsUndeclared: allowsUndeclared)
  }

  private func value(
    _ given: GivenValue, as type: DeclaredType?, _ key: KeyName, _ declaration: Declaration?
  ) throws(StoreError) -> Value {
    do throws(StoreError) { return try value(given, as: type, key, isDeclared: declaration != nil) } catch {
      guard declaration?.isSecret == true else { throw error }
      // The reason has the text in it.
      throw StoreError(
        error.code, key: key.text, "is a secret, and the given value is not of the expected type; see kept describe")
    }
  }

  private func value(
    _ given: GivenValue, as type: DeclaredType?, _ key: KeyName, isDeclared: Bool
  ) throws(StoreError) -> Value {
    switch given {
    case .value(let value): return value
    case .bytes(let bytes) where type == .bytes: return .bytes(bytes)
    case .bytes(let bytes):
      return try value(.text(StandardInput.text(of: bytes)), as: type, key, isDeclared: isDeclared)
    case .text(let text):
      guard let type else { return try ValueText.untyped(text, key: key, isDeclared: isDeclared) }
      return try ValueText.value(text, as: type, key: key)
    }
  }

  func set(_ key: KeyName, _ value: Value, allowsUndeclared: Bool) throws(StoreError) {
    try checkKnown(key, allowsUndeclared)
    guard value != .null else {
      throw .refused(key, "null cannot be stored by itself; kept reset removes a value")
    }
    let (old, isSecret) = (try replaced(key), try declaration(of: key)?.isSecret == true)
    let hiding = try transaction.set(value, forKey: key.text)
    let new = try transaction.entry(for: key)
    note(key, old, new?.value, isSecret: isSecret)
    if let hiding {
      warn("\"\(Shown.line(key.text))\": is stored, but hidden by the \(hiding) layer; see kept explain")
    }
  }

  /// Removes and adds elements of a list; one that has no stored value begins with its default.
  func change(
    listAt key: KeyName, removing removed: [GivenValue], adding added: [GivenValue], as type: DeclaredType?,
    allowsUndeclared: Bool
  ) throws(StoreError) {
    try checkKnown(key, allowsUndeclared)
    let declaration = try transaction.declaration(forKey: key.text)
    // The values of the layers above are not to be stored.
    let present = try transaction.explain(key.text).layers
      .first { $0.layer <= .user && $0.outcome != .skipped && $0.value != nil }?.value
    let remedy = "--add and --remove change lists; set the whole value with kept set"
    if let declared = declaration?.type, declared != .array {
      throw StoreError(.wrongType, key: key.text, "is declared as \(declared), but \(remedy)")
    }
    guard case .array(let old) = present ?? [] else {
      throw StoreError(.wrongType, key: key.text, "holds \(Names.described(present)), but \(remedy)")
    }
    let type = type ?? declaration?.elementType
    let elements = declaration?.elements.flatMap { try? Declaration(.dictionary($0)) }
    var new = old
    for element in removed {
      let given = try value(element, as: type, key, declaration)
      // As it would be stored: 1 as 1.0 for a number.
      let element = (try? elements?.admitted(given)) ?? given
      new.removeAll { $0 == element }
    }
    for element in added { new.append(try value(element, as: type, key, declaration)) }
    if new != old { try set(key, .array(new), allowsUndeclared: allowsUndeclared) }
  }

  /// Restores the values of a time in the past.
  ///
  /// A value that the history has not kept cannot be restored, and one that it would not keep now could not be brought
  /// back by an undo.
  ///
  /// - Returns: the keys that differ, or may differ, and are left as they are for these reasons.
  ///
  /// - Parameter secrets: whether the history keeps secrets that are replaced.
  func restore(_ past: Past, secrets: Bool) throws(StoreError) -> [KeyName] {
    let contents = try StoreContents(past.snapshot)
    let changed = Set(past.history.changes.filter { $0.revision > past.snapshot.revision }.map(\.key))
    var left: [KeyName] = []
    // Of a key and its former name, the newer value is put back: in one commit, none would be the newer one.
    var superseded: Set<KeyName> = []
    for (key, declaration) in try transaction.store.declarations().declarations {
      guard let name = declaration.formerName, case .value = contents[key], case .value = contents[name] else {
        continue
      }
      let (own, former) = (try past.snapshot.revision(of: key.text), try past.snapshot.revision(of: name.text))
      superseded.insert(former ?? 0 > own ?? 0 ? key : name)
    }
    for key in contents.keys.union(try storedKeys(prefix: "")).sorted() {
      let entry = try transaction.entry(for: key)
      let isKept = (secrets || entry?.declaration?.isSecret != true) && entry?.value?.isKeptByHistory != false
      switch superseded.contains(key) ? .absent : contents[key] {
      case .value(let value) where value == entry?.value: continue
      case .absent where entry?.value == nil: continue
      case .unknown where !changed.contains(key): continue
      case .value(let value) where isKept: try set(key, value, allowsUndeclared: true)
      case .absent where isKept: try reset(key, allowsUndeclared: true)
      default: left.append(key)
      }
    }
    return left
  }

  func reset(_ key: KeyName, allowsUndeclared: Bool) throws(StoreError) {
    let (old, isSecret) = (try replaced(key), try declaration(of: key)?.isSecret == true)
    try checkKnown(key, allowsUndeclared)
    _ = try transaction.remove(key.text)
    note(key, old, nil, isSecret: isSecret)
  }

  /// The declaration of a key, also if its value is damaged, or a secret that is locked.
  private func declaration(of key: KeyName) throws(StoreError) -> Declaration? {
    do throws(StoreError) { return try transaction.declaration(forKey: key.text) } catch {
      guard error.code == .corrupt || error.code == .unavailable else { throw error }
      return try transaction.store.declarations(prefix: key.text).declarations.first { $0.key == key }?.declaration
    }
  }

  /// The value that a change replaces: nil, with a warning, if it is damaged, or a secret that is locked.
  private func replaced(_ key: KeyName) throws(StoreError) -> Value? {
    do throws(StoreError) { return try transaction.entry(for: key)?.value } catch {
      guard error.code == .corrupt || error.code == .unavailable else { throw error }
      warn("\"\(Shown.line(key.text))\": had a value that cannot be read: \(error.message)")
      return nil
    }
  }

  /// Throws `conflict` unless the stored value has this revision; call it before the key is changed.
  func expect(_ key: KeyName, _ revision: Revision) throws(StoreError) {
    // Read in the transaction, which is repeated if another program changes the key before the commit.
    let present = try transaction.revision(of: key.text) ?? 0
    guard present == revision else {
      throw conflict(key, "has revision \(present), but \(revision) was expected; read it again before you change it")
    }
  }

  /// Throws `conflict` unless the stored value is the one that `set` would store for a text.
  func expect(_ key: KeyName, text: String) throws(StoreError) {
    let declaration = try declaration(of: key)
    try expect(key, value(.text(text), as: declaration?.knownType, key, declaration))
  }

  /// Throws `conflict` unless the stored value is this one.
  func expect(_ key: KeyName, _ value: Value) throws(StoreError) {
    let present = try transaction.entry(for: key)?.value
    guard present == (value == .null ? nil : value) else {
      throw conflict(key, "does not have the expected value; read it again before you change it")
    }
  }

  /// The keys that have a stored value, also one that does not match its declaration.
  func storedKeys(prefix: String) throws(StoreError) -> [KeyName] {
    try transaction.storedKeys(prefix: ExactString(prefix))
  }

  /// Adds a warning, once.
  private func warn(_ message: String) { if !warnings.contains(message) { warnings.append(message) } }

  private func note(_ key: KeyName, _ old: Value?, _ new: Value?, isSecret: Bool) {
    if old != new { changes.append(Difference(key: key, old: old, new: new, isSecret: isSecret)) }
  }

  private func checkKnown(_ key: KeyName, _ allowsUndeclared: Bool) throws(StoreError) {
    guard isStrict else { return }
    if !allowsUndeclared, try !isPresent(key) {
      throw .refused(
        key,
        "is not declared in this store; --undeclared allows it"
          + "\(try Suggestion.similar(to: key, in: transaction.store))")
    }
    if let new = newNames[key] {
      warn("\"\(Shown.line(key.text))\": is a former name\(Suggestion.renamed(to: new))")
    }
  }

  private func isPresent(_ key: KeyName) throws(StoreError) -> Bool {
    // An entry without a value has a declaration.
    do throws(StoreError) { return try transaction.entry(for: key) != nil } catch {
      guard error.code == .corrupt || error.code == .unavailable else { throw error }
      return true
    }
  }
}

/// A key whose value differs, as one line.
struct Difference {
  let key: KeyName
  let old: Value?
  let new: Value?
  let isSecret: Bool
  /// Which of the two, `old` and `new`, was a value that the history has not kept.
  var notKept: [String] = []

  /// Whether there is a value afterwards.
  var isStored: Bool { new != nil }

  /// `~ key: old → new`, `+ key: new`, `- key: old`.
  var line: String {
    switch (shown("old", old), shown("new", new)) {
    case (nil, let after): "+ \(Shown.key(key)): \(after ?? "")".styled(.green)
    case (let before?, nil): "- \(Shown.key(key)): \(before)".styled(.red)
    case (let before?, let after?): "~ \(Shown.key(key)): \(before) → \(after)".styled(.yellow)
    }
  }

  /// One of the two values; nil if there was none.
  private func shown(_ side: String, _ value: Value?) -> String? {
    let isLost = notKept.contains(side)
    if isSecret { return isLost || value != nil ? "(secret)" : nil }
    return isLost ? "(not kept)" : value.map(Shown.json)
  }

  var json: Value {
    var members: [(ExactString, Value)] = [("key", .string(key.text))]
    if isSecret { members.append(("secret", true)) }
    if let old, !isSecret { members.append(("old", old)) }
    if let new, !isSecret { members.append(("new", new)) }
    if !notKept.isEmpty, !isSecret { members.append(("notKept", .array(notKept.map { .string($0) }))) }
    return .dictionary(ValueDictionary(members))
  }
}

extension Difference {
  init(key: KeyName, from old: PastValue, to new: PastValue, isSecret: Bool) {
    self.init(key: key, old: old.value, new: new.value, isSecret: isSecret)
    notKept = [("old", old), ("new", new)].filter { $0.1 != .absent && $0.1.value == nil }.map(\.0)
  }
}

extension StoreError {
  /// The refusal of a secret where a dry run does not come to the library's.
  static func undecided(_ key: KeyName) -> StoreError {
    StoreError(
      .unavailable, key: key.text,
      "it is a secret, which cannot be stored: no one has decided how this store keeps secrets; encrypt them with kept "
        + "secrets STORE init, or keep them as they are with kept secrets STORE init --plain")
  }
}
