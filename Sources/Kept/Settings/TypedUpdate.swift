// Changing a value atomically.

public import KeptCore
import KeptValues

extension Store {
  /// Changes a value atomically: no other write happens between the read and the write.
  ///
  /// `body` receives the stored value, or the default if nothing is stored; the command line and the environment are
  /// disregarded. It may be run several times, so it must have no effect outside it. Throws what `body` throws,
  /// `wrongType` if the stored value does not have the key's type, and what ``SettingsAccess/set(_:for:)`` throws; then
  /// nothing is written. In C: `kept_begin` and `kept_commit`. In Python: `settings.update_value(key, function)`.
  /// - Returns: the value afterwards.
  @discardableResult
  public func updateValue<Value>(_ key: Key<Value>, _ body: (inout Value) throws -> Void) throws -> Value {
    try transaction { try $0.updateValue(key, body) }
  }
}

extension Transaction {
  /// Changes a value, as a part of the transaction.
  ///
  /// Throws as ``Store/updateValue(_:_:)->Value`` does.
  /// - Returns: the value afterwards.
  @discardableResult
  public func updateValue<Value>(_ key: Key<Value>, _ body: (inout Value) throws -> Void) throws -> Value {
    let name = try key.keyName()
    let found = try resolvedToChange(name)
    var value = try converting(name) { () throws(StoreError) in try key.read(found, in: store.identity) }
    try body(&value)
    try set(value, for: key)
    return value
  }
}
