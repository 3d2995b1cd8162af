// The effect of a batch on a key: the same rules for every storage, applied inside its commit, so that no writer in any
// language or process bypasses a declaration.

import KeptSchema
public import KeptValues

extension Batch {
  /// The change to a key with this stored entry; nil if nothing changes.
  ///
  /// Throws what ``Declaration/admitted(_:)`` throws for a value that does not fit, `typeConflict` for a declaration
  /// with another type, and `unsupported` if a later version has declared the key.
  /// - Parameter revision: the revision of the commit.
  public func change(of key: KeyName, from old: Entry?, at revision: Revision) throws(StoreError) -> StoredChange? {
    try change(of: key, by: edits[key], from: old, at: revision)
  }

  /// The change to a key, for a caller that has the key's edit; if `hidden`, no error quotes the value, as if the key
  /// were declared secret.
  func change(
    of key: KeyName, by edit: Edit?, from old: Entry?, at revision: Revision, hidden: Bool = false
  ) throws(StoreError) -> StoredChange? {
    do throws(StoreError) {
      var new = old ?? Entry(value: nil, revision: 0)
      if !declarations.isEmpty || replacesDeclarations {
        new.declaration = try declaration(of: key, after: old?.declaration)
      }
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
    // A value that was secret is not shown, even if the new declaration is not secret.
    let hidden = hidden || !declarations.isEmpty && old?.isSecret == true
    return try declaration.admitted(value, from: patterns, hidden: hidden)
  }

  private func declaration(of key: KeyName, after old: Declaration?) throws(StoreError) -> Declaration? {
    // The outer nil means that the declaration stays unchanged.
    guard let declaration = declarations[key] else { return replacesDeclarations ? nil : old }
    if let declaration, let old, !replacesDeclarations, !undeclared.contains(key) { try declaration.follows(old) }
    return declaration
  }
}

extension Entry {
  /// Whether there is a value or a declaration.
  var isThere: Bool { value != nil || declaration != nil }

  /// The value of the key in the store without its layers: a stored value that fits the declaration, else its default.
  ///
  /// A value that does not fit stays stored, and counts as absent.
  package var shown: Value? {
    guard let declaration else { return value }
    return fitting ?? declaration.defaultValue
  }

  /// The stored value, if it fits the declaration.
  package var fitting: Value? {
    guard let declaration, let value else { return value }
    if declaration.unreadable != nil { return value }
    do throws(StoreError) { return try declaration.admitted(value) } catch {
      // Without memory for a pattern, the value cannot be checked; it was checked when it was written.
      return error.code == .failed ? value : nil
    }
  }
}
