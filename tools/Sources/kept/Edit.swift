// Changes that are shown, and then committed together or not at all.

import Kept

/// The changes of one commit, checked as they are made in its transaction.
final class Edit {
  private let transaction: Transaction
  private let isStrict: Bool
  private(set) var changes: [Difference] = []
  private var warnings: [String] = []

  private init(_ transaction: Transaction) throws(StoreError) {
    self.transaction = transaction
    isStrict = try !transaction.store.declarations().declarations.isEmpty
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
    guard let done = try make(on: settings, options, isDryRun: options.changing.dryRun, body) else { return }
    Output.standard.isDone = !options.changing.dryRun && !done.changes.isEmpty
    for change in done.changes where options.changing.dryRun { options.changing.report(change.line) }
    for warning in done.warnings { options.changing.warn(warning) }
    guard options.layers.noLayers else { return }
    for lock in StoreAccess.locks(on: done.changes.filter { $0.isStored }.map(\.key), at: location) {
      let key = Shown.line(lock.key.text)
      options.changing.warn(
        "\"\(key)\": is stored, but locked by \(lock.file): programs that read this file ignore it")
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
        if isDryRun { throw DryRun() }
      }
    } catch is DryRun {} catch let failed as FailedExpectation { throw failed.error }
    return done
  }

  private struct DryRun: Error {}

  /// An expectation that does not hold; the library would repeat a transaction that throws a conflict.
  private struct FailedExpectation: Error { let error: StoreError }
  private var hasFailed = false

  private func conflict(_ key: KeyName, _ message: String) -> StoreError {
    hasFailed = true
    return StoreError(.conflict, key: key.text, message)
  }

  func set(_ key: KeyName, _ given: GivenValue, as type: DeclaredType?, allowsUndeclared: Bool) throws(StoreError) {
    let declaration = try declaration(of: key)
    let type = type ?? declaration?.type
    // Before the text is read: a wrong key is the mistake then, and not its value.
    if type == nil { try checkKnown(key, allowsUndeclared) }
    try set(key, value(given, as: type, key, declaration), allowsUndeclared: allowsUndeclared)
  }

  private func value(
    _ given: GivenValue, as type: DeclaredType?, _ key: KeyName, _ declaration: Declaration?
  ) throws(StoreError) -> Value {
    do throws(StoreError) { return try value(given, as: type, key) } catch {
      guard declaration?.isSecret == true else { throw error }
      // The reason has the text in it.
      throw StoreError(error.code, key: key.text, "is a secret, and the value is none for its type; see kept describe")
    }
  }

  private func value(_ given: GivenValue, as type: DeclaredType?, _ key: KeyName) throws(StoreError) -> Value {
    switch given {
    case .bytes(let bytes) where type == .bytes: return .bytes(bytes)
    case .bytes(let bytes): return try value(.text(StandardInput.text(of: bytes)), as: type, key)
    case .text(let text):
      guard let type else { return try ValueText.undeclared(text, key: key) }
      return try ValueText.value(text, as: type, key: key)
    }
  }

  func set(_ key: KeyName, _ value: Value, allowsUndeclared: Bool) throws(StoreError) {
    try checkKnown(key, allowsUndeclared)
    let (old, isSecret) = (try replaced(key), try declaration(of: key)?.isSecret == true)
    let hiding = try transaction.set(value, forKey: key.text)
    let new = try transaction.entry(for: key)
    note(key, old, new?.value, isSecret: isSecret)
    if let hiding {
      warnings.append("\"\(Shown.line(key.text))\": is stored, but hidden by the \(hiding) layer; see kept explain")
    }
  }

  func reset(_ key: KeyName, allowsUndeclared: Bool) throws(StoreError) {
    let old = try transaction.entry(for: key)
    try checkKnown(key, allowsUndeclared)
    _ = try transaction.remove(key.text)
    note(key, old?.value, nil, isSecret: old?.declaration?.isSecret == true)
  }

  /// The declaration of a key, also if its value is damaged.
  private func declaration(of key: KeyName) throws(StoreError) -> Declaration? {
    do throws(StoreError) { return try transaction.declaration(forKey: key.text) } catch {
      guard error.code == .corrupt else { throw error }
      return try transaction.store.declarations(prefix: key.text).declarations.first { $0.key == key }?.declaration
    }
  }

  /// The value that a change replaces: nil, with a warning, if it is damaged.
  private func replaced(_ key: KeyName) throws(StoreError) -> Value? {
    do throws(StoreError) { return try transaction.entry(for: key)?.value } catch {
      guard error.code == .corrupt else { throw error }
      warnings.append("\"\(Shown.line(key.text))\": had a value that cannot be read: \(error.message)")
      return nil
    }
  }

  /// Throws `conflict` unless the stored value has this revision; call it before the key is changed.
  func expect(_ key: KeyName, _ revision: Revision) throws(StoreError) {
    // Read in the transaction, which is repeated if another program changes the key before the commit.
    let present = try transaction.revision(of: key.text) ?? 0
    guard present == revision else {
      throw conflict(key, "has the revision \(present), and \(revision) was expected; read it again, and decide anew")
    }
  }

  /// Throws `conflict` unless the stored value is the one that `set` would store for a text.
  func expect(_ key: KeyName, text: String) throws(StoreError) {
    let declaration = try declaration(of: key)
    try expect(key, value(.text(text), as: declaration?.type, key, declaration))
  }

  /// Throws `conflict` unless the stored value is this one.
  func expect(_ key: KeyName, _ value: Value) throws(StoreError) {
    let present = try transaction.entry(for: key)?.value
    guard present == (value == .null ? nil : value) else {
      throw conflict(key, "has another value than the expected one; read it again, and decide anew")
    }
  }

  private func note(_ key: KeyName, _ old: Value?, _ new: Value?, isSecret: Bool) {
    if old != new { changes.append(Difference(key: key, old: old, new: new, isSecret: isSecret)) }
  }

  private func checkKnown(_ key: KeyName, _ allowsUndeclared: Bool) throws(StoreError) {
    guard isStrict, !allowsUndeclared, try !isPresent(key) else { return }
    throw .refused(
      key,
      "is not declared in this store\(try Suggestion.similar(to: key, in: transaction.store)); "
        + "--undeclared allows it")
  }

  private func isPresent(_ key: KeyName) throws(StoreError) -> Bool {
    // An entry without a value has a declaration.
    do throws(StoreError) { return try transaction.entry(for: key) != nil } catch {
      guard error.code == .corrupt else { throw error }
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
