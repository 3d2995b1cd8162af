// What a batch makes of a key: the same rules for every storage, applied inside its commit, so that no writer of any
// language or process gets past a declaration.

extension Batch {
  /// What becomes of a key that the storage holds like this; nil: nothing.
  ///
  /// Throws what ``Declaration/admitted(_:)`` throws for a value that does not fit, `typeConflict` for a declaration
  /// with another type, and `unsupported` where the key has a declaration of a later version.
  /// - Parameter revision: that of the commit.
  public func change(of key: KeyName, from old: Entry?, at revision: Revision) throws(StoreError) -> StoredChange? {
    try change(of: key, by: edits[key], from: old, at: revision)
  }

  /// The same; where it is hidden no error quotes the value, as if the key were declared secret.
  func change(
    of key: KeyName, from old: Entry?, at revision: Revision, hidden: Bool
  ) throws(StoreError) -> StoredChange? {
    try change(of: key, by: edits[key], from: old, at: revision, hidden: hidden)
  }

  /// The same for who has the key's edit at hand.
  func change(
    of key: KeyName, by edit: Edit?, from old: Entry?, at revision: Revision, hidden: Bool = false
  ) throws(StoreError) -> StoredChange? {
    do throws(StoreError) {
      var new = old ?? Entry(value: nil, revision: 0)
      if !declarations.isEmpty { new.declaration = try declaration(of: key, after: old?.declaration) }
      if let edit { new.value = try admitted(edit, new.declaration, after: old?.declaration, hidden: hidden) }
      let isNewValue = new.value != old?.value
      guard isNewValue || new.declaration != old?.declaration else { return nil }
      if isNewValue { new.revision = revision }
      return StoredChange(key: key, old: old, new: new)
    } catch {
      throw error.about(key.text)
    }
  }

  private func admitted(
    _ edit: Edit, _ declaration: Declaration?, after old: Declaration?, hidden: Bool
  ) throws(StoreError) -> Value? {
    guard !isAdmittedAsItIs, let declaration, let value = edit.value else { return edit.value }
    // What was a secret is not shown because the new declaration calls it none.
    let hidden = hidden || !declarations.isEmpty && old?.isSecret == true
    return try declaration.admitted(value, from: patterns, hidden: hidden)
  }

  private func declaration(of key: KeyName, after old: Declaration?) throws(StoreError) -> Declaration? {
    // The outer nil: it is left as it is.
    guard let declaration = declarations[key] else { return old }
    if let declaration, let old, !undeclared.contains(key) { try declaration.follows(old) }
    return declaration
  }
}

extension Entry {
  /// Whether there is anything to know of the key.
  var isThere: Bool { value != nil || declaration != nil }

  /// The value that the store by itself has for the key: a stored one that fits the declaration, else its default.
  ///
  /// What does not fit stays stored, and is as good as absent.
  package var shown: Value? {
    guard let declaration else { return value }
    return fitting ?? declaration.defaultValue
  }

  /// The stored value, if it fits the declaration.
  package var fitting: Value? {
    guard let declaration, let value else { return value }
    if declaration.unreadable != nil { return value }
    do throws(StoreError) { return try declaration.admitted(value) } catch {
      // Without memory for a pattern nothing is known of the value, which was compared when it was written.
      return error.code == .failed ? value : nil
    }
  }
}

extension StoreError {
  /// Whether it says that a batch does not fit what is stored; anything else befell the storage.
  var isRefusal: Bool {
    switch code {
    case .conflict, .wrongType, .typeConflict, .invalid, .tooLarge, .unsupported: true
    default: false
    }
  }
}
