// Migration operations on typed keys: move one, remove one, and change the type of one.

public import KeptCore
import KeptValues

extension SettingsAccess {
  /// Moves the stored value and the declaration of a key to another key, in one commit.
  ///
  /// Throws `invalid` if the other key exists already, and `locked`. In C: `kept_rename`. In Python:
  /// `settings.rename(key, to)`.
  /// - Returns: false if the key is neither stored nor declared.
  @discardableResult
  public func rename<Value>(_ key: Key<Value>, to other: Key<Value>) throws(StoreError) -> Bool {
    try rename(key.name, to: other.name)
  }

  /// Removes the stored value and the declaration of a key; returns false if there was neither.
  @discardableResult
  public func drop(_ key: Key<some Sendable>) throws(StoreError) -> Bool { try drop(key.name) }
}

extension Transaction {
  /// Converts the stored value to another type, under the same name or another.
  ///
  /// ```swift
  /// let (percent, volume) = (Key("volume", default: 50), Key("volume", default: 0.5))
  /// let step = Migration(to: 2, "volume from 0 to 1") { transaction in
  ///   try transaction.retype(from: percent, to: volume) { Double($0) / 100 }
  /// }
  /// ```
  ///
  /// The stored value is read through the old key, and written through the new one. If the old key is declared, the new
  /// one is declared in its place. Throws what `convert` throws, `wrongType` for a value that does not have the old
  /// key's type, and `invalid` if the new key has another name and exists already.
  /// - Returns: false if the old key is neither stored nor declared.
  @discardableResult
  public func retype<Old, New>(
    from old: Key<Old>, to new: Key<New>, _ convert: (Old) throws -> New
  ) throws -> Bool {
    let (name, newName) = (try old.keyName(), try new.keyName())
    guard let entry = try entry(for: name), entry.value != nil || entry.declaration != nil else { return false }
    if name != newName, let there = try self.entry(for: newName), there.value != nil || there.declaration != nil {
      throw StoreError(
        .invalid, key: name.text,
        "cannot be renamed to \"\(newName.text)\", which already exists; remove that key first")
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
