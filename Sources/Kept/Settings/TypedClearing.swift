// Resetting a key to its default.

public import KeptCore
import KeptValues

extension SettingsAccess {
  /// Resets a key to its default by removing the stored value, if there is one.
  ///
  /// Throws `locked`. In C: `kept_reset`. In Python: `settings.reset(key)`.
  /// - Returns: the layer that decides in its place, the command line or the environment; nil if neither has a value.
  @discardableResult
  public func reset(_ key: Key<some Sendable>) throws(StoreError) -> Layer? { try reset(try key.keyName()) }
}
