// Back to a key's default.

public import KeptCore

extension SettingsAccess {
  /// Lets a key read as its default again: removes what is stored, if anything is.
  ///
  /// Throws `locked`. The C twin is `kept_reset`. In Python: `settings.reset(key)`.
  /// - Returns: the layer that decides in its place, the command line or the environment; nil: none does.
  @discardableResult
  public func reset(_ key: Key<some Sendable>) throws(StoreError) -> Layer? { try reset(try key.keyName()) }
}
