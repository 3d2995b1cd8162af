// Declaring typed keys: from then on their types and constraints apply in every process and language.

public import KeptCore
import KeptSchema
import KeptValues

extension SettingsAccess {
  /// Declares keys in the store, all or none: from then on every process and language is refused values of another type
  /// or outside their constraints.
  ///
  /// ```swift
  /// try settings.declare(.volume, .theme, .frame)
  /// ```
  ///
  /// Call it when the program starts: declaring the same again has no effect. The current value of a key's default,
  /// evaluated once, becomes a part of the declaration: omit keys whose default changes over time. An enum with raw
  /// values and `CaseIterable` has its cases as choices; a `Codable` struct is an object with any members.
  ///
  /// Throws `typeConflict` if a key is declared with another type, `unsupported` for a type without a schema if the
  /// key's default does not determine it, and `invalid` for a default that cannot be stored or violates the key's own
  /// constraints. In C: `kept_declare_json`. In Python: `settings.declare(*keys)`.
  /// - Returns: the stored values that do not fit, with the reason. They stay stored, and the keys read as if they were
  ///   absent.
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

  /// Removes the declaration of a key; returns false if there was none.
  ///
  /// The value stays. In C: `kept_undeclare`. In Python: `settings.undeclare(key)`.
  @discardableResult
  public func undeclare(_ key: Key<some Sendable>) throws(StoreError) -> Bool { try undeclare(key.name) }
}

extension SettingsReading {
  /// The declaration of a key in the store; nil if it may hold any value.
  ///
  /// In C: `kept_declaration_json`. In Python: `settings.declaration(key)`.
  public func declaration(of key: Key<some Sendable>) throws(StoreError) -> Declaration? {
    try entry(for: try key.keyName())?.declaration
  }
}

extension Declaration {
  /// Throws unless two keys with one name in one call have the same declaration.
  fileprivate func agrees(with first: Declaration, about key: KeyName) throws(StoreError) {
    guard self == first else {
      throw StoreError(
        type == first.type ? .invalid : .typeConflict, key: key.text,
        "is declared twice, with different declarations; keep only one of them")
    }
  }
}
