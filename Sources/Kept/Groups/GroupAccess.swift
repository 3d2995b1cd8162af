// Reading and writing the keys of a group. Values are converted only if the conversion is exact, and text is not
// parsed.

public import FoundationEssentials
public import KeptCore
import KeptValues

/// Each method reads a key as a type; nil if no layer has a value.
///
/// Each throws `wrongType` if the value does not have the type, and it stays stored; `typeConflict` if another group
/// has the key; and what reading a store throws.
extension SettingsGroup {
  public func string(forKey key: Keys) throws(StoreError) -> String? { try value(forKey: key) }
  public func data(forKey key: Keys) throws(StoreError) -> Data? { try value(forKey: key) }
  public func date(forKey key: Keys) throws(StoreError) -> Date? { try value(forKey: key) }
  public func url(forKey key: Keys) throws(StoreError) -> URL? { try value(forKey: key) }
  public func bool(forKey key: Keys) throws(StoreError) -> Bool? { try value(forKey: key) }
  public func integer(forKey key: Keys) throws(StoreError) -> Int? { try value(forKey: key) }
  public func double(forKey key: Keys) throws(StoreError) -> Double? { try value(forKey: key) }
  public func float(forKey key: Keys) throws(StoreError) -> Float? { try value(forKey: key) }
  public func array(forKey key: Keys) throws(StoreError) -> [Value]? { try value(forKey: key) }
  public func stringArray(forKey key: Keys) throws(StoreError) -> [String]? { try value(forKey: key) }
  public func dictionary(forKey key: Keys) throws(StoreError) -> [String: Value]? { try value(forKey: key) }

  /// Reads a value of any kind.
  public func object(forKey key: Keys) throws(StoreError) -> Value? { try value(forKey: key) }

  /// Reads a value of any ``Storable`` type: `try group.value(Theme.self, forKey: .theme)`.
  public func value<Stored: Storable>(
    _ type: Stored.Type = Stored.self, forKey key: Keys
  ) throws(StoreError) -> Stored? {
    try store.value(for: try self.key(key, as: type))
  }
}

extension SettingsGroup {
  /// Writes a key; nil removes it.
  ///
  /// Throws `typeConflict` if another group has the key, and what ``SettingsAccess/set(_:for:)`` throws. The stored
  /// value stays then.
  /// - Returns: the layer that hides the stored value, the command line or the environment; nil if none does.
  @discardableResult
  public func set<Stored: Storable>(_ value: Stored?, forKey key: Keys) throws(StoreError) -> Layer? {
    try store.set(value, for: try self.key(key))
  }

  /// Removes the stored value of a key; returns false if there was nothing to remove.
  ///
  /// Throws `typeConflict` if another group has the key.
  @discardableResult
  public func remove(_ key: Keys) throws(StoreError) -> Bool { try store.remove(try self.key(key, as: Value.self)) }
}
