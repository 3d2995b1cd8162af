// What migrations do with keys of a type: move one, drop one, and give one another type.

public import KeptCore

extension SettingsAccess {
  /// Moves what is stored under a key, and what it is declared as, to another key; in one commit.
  ///
  /// Throws `invalid` where the other one is there already, and `locked`. The C twin is `kept_rename`. In Python:
  /// `settings.rename(key, to)`.
  /// - Returns: false where the key is neither stored nor declared.
  @discardableResult
  public func rename<Value>(_ key: Key<Value>, to other: Key<Value>) throws(StoreError) -> Bool {
    try rename(key.name, to: other.name)
  }

  /// Removes what is stored under a key, and what it is declared as; false: there was neither.
  @discardableResult
  public func drop(_ key: Key<some Sendable>) throws(StoreError) -> Bool { try drop(key.name) }
}

extension Transaction {
  /// Gives what is stored another type, under the same name or another.
  ///
  /// ```swift
  /// let (percent, volume) = (Key("volume", default: 50), Key("volume", default: 0.5))
  /// let step = Migration(to: 2, "volume from 0 to 1") { transaction in
  ///   try transaction.retype(from: percent, to: volume) { Double($0) / 100 }
  /// }
  /// ```
  ///
  /// What is stored is read as the old key reads it, and written as the new one writes it. Where the old key is
  /// declared, the new one is declared in its place. Throws what `convert` throws, `wrongType` for what is none of the
  /// old key's type, and `invalid` where the new key is another one that is there already.
  /// - Returns: false where the old key is neither stored nor declared.
  @discardableResult
  public func retype<Old, New>(
    from old: Key<Old>, to new: Key<New>, _ convert: (Old) throws -> New
  ) throws -> Bool {
    let (name, newName) = (try old.keyName(), try new.keyName())
    guard let entry = try entry(for: name), entry.value != nil || entry.declaration != nil else { return false }
    if name != newName, let there = try self.entry(for: newName), there.value != nil || there.declaration != nil {
      throw StoreError(.invalid, key: name.text, "cannot become \"\(newName.text)\", which is there already")
    }
    let value = try entry.value.map { value in
      try convert(try converting(name) { () throws(StoreError) in try old.read(value, in: store.identity) })
    }
    try allOrNone(of: [name, newName]) {
      try drop(old)
      if let value { try set(value, for: new) }
      if entry.declaration != nil { try declare(new) }
    }
    return true
  }
}
