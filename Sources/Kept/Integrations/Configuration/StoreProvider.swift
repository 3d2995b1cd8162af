// A store as a provider for swift-configuration: a source that programs can write, and that reports every change.
// Requires the trait Configuration.

#if Configuration
public import Configuration
public import KeptCore
import KeptValues

/// A provider of configuration that reads a Kept store.
///
/// ```swift
/// let settings = try Store.open("com.example.player")
/// let config = ConfigReader(providers: [EnvironmentVariablesProvider(), StoreProvider(settings)])
/// config.int(forKey: "http.timeout", default: 30)   // 30
/// try settings.set(5, for: .timeout)                // here, or in another process
/// config.int(forKey: "http.timeout", default: 30)   // 5
/// ```
///
/// The key in the store consists of the components of the key, joined by dots: `http.timeout`, even if the components
/// contain dots themselves. The context of a key is ignored. Objects are not searched: `http.timeout` is not a member
/// of `http`. For other mappings use `prefixKeys(with:)` and `mapKeys(_:)` of swift-configuration.
///
/// A value comes from the highest of the store's own layers that has one. It must have the requested type: only numbers
/// are converted, if the conversion is exact (2 is a double, 2.0 an integer), and only a text of the command line or
/// the environment is parsed. Anything else is an error, and the reader does not continue with the next provider: a
/// `StoreError` with the code `wrongType`, `invalid` for an invalid key (empty, with a NUL, or over 1024 bytes), or
/// `closed`. A key that is declared secret returns values with `isSecret`.
///
/// Use it on any thread. A read is as fast and as current as the store's own: fetching returns the same. A watching
/// reader receives changes like the store's observers, from every process, until the task is cancelled or the store is
/// closed.
public struct StoreProvider: Sendable {
  private let store: Store
  private let lastSnapshot: LastSnapshot
  private let lookup: ConfigLookup
  /// `StoreProvider`, followed by the name in brackets if there is one.
  public let providerName: String

  /// - Parameters:
  ///   - name: distinguishes this provider from others in the reader's reports.
  ///   - includingDefaults: whether declared and registered defaults are included. They would hide the providers after
  ///     this one, so they are not included by default.
  public init(_ store: Store, name: String? = nil, includingDefaults: Bool = false) {
    self.store = store
    lastSnapshot = LastSnapshot(of: store)
    lookup = ConfigLookup(includingDefaults: includingDefaults)
    providerName = "StoreProvider" + (name.map { "[\($0)]" } ?? "")
  }
}

extension StoreProvider: ConfigProvider {
  public func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
    try lookup.result(forKey: key, type: type) { name throws(StoreError) in try store.reading(name) }
  }

  public func fetchValue(forKey key: AbsoluteConfigKey, type: ConfigType) async throws -> LookupResult {
    try value(forKey: key, type: type)
  }

  /// All values of the store at one revision; if it cannot be read, each value throws the reason.
  public func snapshot() -> any ConfigSnapshot {
    StoreConfigSnapshot(
      providerName: providerName, lookup: lookup, state: Result { () throws(StoreError) in try lastSnapshot.current() })
  }

  nonisolated(nonsending) public func watchValue<Return: ~Copyable>(
    forKey key: AbsoluteConfigKey, type: ConfigType,
    updatesHandler:
      nonisolated(nonsending) (
        _ updates: ConfigUpdatesAsyncSequence<Result<LookupResult, any Error>, Never>
      ) async throws -> Return
  ) async throws -> Return {
    let updates = StoreUpdates(
      of: store, { () throws(StoreError) in .key(try KeyName(key)) },
      current: { Result { try value(forKey: key, type: type) } })
    return try await updatesHandler(ConfigUpdatesAsyncSequence(updates))
  }

  nonisolated(nonsending) public func watchSnapshot<Return: ~Copyable>(
    updatesHandler:
      nonisolated(nonsending) (
        _ updates: ConfigUpdatesAsyncSequence<any ConfigSnapshot, Never>
      ) async throws -> Return
  ) async throws -> Return {
    let updates = StoreUpdates(of: store, { .prefix("") }, current: { snapshot() })
    return try await updatesHandler(ConfigUpdatesAsyncSequence(updates))
  }
}

extension StoreProvider: CustomStringConvertible {
  public var description: String { providerName }
}
#endif
