// Keys that declare themselves: from then on their type and their rules hold in every process and language.

public import KeptCore

extension SettingsAccess {
  /// Declares keys in the store, all or none: every process and language is from now on refused another type, and what
  /// breaks their constraints.
  ///
  /// ```swift
  /// try settings.declare(.volume, .theme, .frame)
  /// ```
  ///
  /// Do it when the program starts: declaring the same again is nothing. A key's default becomes a part of the
  /// declaration as it is now, evaluated once: leave out the keys whose default is another one tomorrow. An enum with
  /// raw values and `CaseIterable` has its cases as choices; a `Codable` struct is an object, of any members.
  ///
  /// Throws `typeConflict` if a key is declared with another type, `unsupported` for a type that does not say what it
  /// is in the store and a key whose default does not show it, and `invalid` for a default that cannot be stored or
  /// breaks the key's own constraints. In C: `kept_declare_json`. In Python: `settings.declare(*keys)`.
  /// - Returns: what is stored and does not fit, with the reason. It stays stored, and the key reads as if it were not.
  @discardableResult
  public func declare(_ keys: Keys...) throws(StoreError) -> [StoreError] {
    var list: [(key: KeyName, declaration: Declaration)] = []
    var known: [KeyName: Declaration] = [:]
    for key in keys {
      let (name, declaration) = try key.declared()
      if let first = known.updateValue(declaration, forKey: name) {
        try declaration.agrees(with: first, about: name)
      } else {
        list.append((name, declaration))
      }
    }
    return try declare(list)
  }

  /// Takes the declaration of a key away; false if there was none.
  ///
  /// The value stays. The C twin is `kept_undeclare`. In Python: `settings.undeclare(key)`.
  @discardableResult
  public func undeclare(_ key: Key<some Sendable>) throws(StoreError) -> Bool { try undeclare(key.name) }
}

extension SettingsReading {
  /// What a key is declared as in the store; nil: it may hold anything.
  ///
  /// The C twin is `kept_declaration_json`. In Python: `settings.declaration(key)`.
  public func declaration(of key: Key<some Sendable>) throws(StoreError) -> Declaration? {
    try entry(for: try key.keyName())?.declaration
  }
}

extension Declaration {
  /// Two keys of one name, in one call, must say the same.
  fileprivate func agrees(with first: Declaration, about key: KeyName) throws(StoreError) {
    do throws(StoreError) { try follows(first) } catch { throw error.about(key.text) }
    guard self == first else {
      throw StoreError(.invalid, key: key.text, "is declared by two keys that do not say the same; keep one of them")
    }
  }
}
