// A snapshot of a store for swift-configuration.

#if Configuration
import Configuration
import KeptCore
import KeptValues

/// The result of ``StoreProvider/snapshot()``.
struct StoreConfigSnapshot: ConfigSnapshot {
  let providerName: String
  let lookup: ConfigLookup
  /// The snapshot, or why there is none.
  let state: Result<Snapshot, StoreError>

  func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
    try lookup.result(forKey: key, type: type) { name throws(StoreError) in try state.get().reading(name) }
  }
}

// It may contain secrets.
extension StoreConfigSnapshot: CustomStringConvertible, CustomDebugStringConvertible {
  var description: String { providerName }
  var debugDescription: String { providerName }
}
#endif
