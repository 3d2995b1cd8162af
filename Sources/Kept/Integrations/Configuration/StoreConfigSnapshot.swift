// One state of a store, as swift-configuration reads it.

#if Configuration
import Configuration
import KeptCore

/// What ``StoreProvider/snapshot()`` gives.
struct StoreConfigSnapshot: ConfigSnapshot {
  let providerName: String
  let lookup: ConfigLookup
  /// Or why there is none.
  let state: Result<Snapshot, StoreError>

  func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
    try lookup.result(forKey: key, type: type) { name throws(StoreError) in try state.get().reading(name) }
  }
}

// Secrets may be among what it holds.
extension StoreConfigSnapshot: CustomStringConvertible, CustomDebugStringConvertible {
  var description: String { providerName }
  var debugDescription: String { providerName }
}
#endif
