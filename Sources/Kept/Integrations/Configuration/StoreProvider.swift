// A store as a source of swift-configuration: the layer beneath Apple's reader that programs can write, and that tells
// of every change. With the trait Configuration.

#if Configuration
public import Configuration
public import KeptCore

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
/// The key in the store is the components of the key joined by dots: `http.timeout`, whatever dots the components have
/// themselves. The context of a key is not asked. Objects are not looked into: `http.timeout` is no member of `http`.
/// `prefixKeys(with:)` and `mapKeys(_:)` of swift-configuration do the rest.
///
/// A value comes from the highest of the store's own layers that has one. It has to be of the type asked for: a number
/// converts where it survives (2 is a double, 2.0 an integer), nothing else does, and only a text of the command line
/// or the environment is parsed. Anything else is an error that the reader does not go past: a `StoreError` with the
/// code `wrongType`, `invalid` for a key that a store cannot have (none, with a NUL, or over 1024 bytes), `closed`.
/// A key declared secret gives values with `isSecret`.
///
/// Any thread. A read is as fast as the store's own, and as fresh: fetching gives the same. What the reader watches it
/// hears as the store's observers do, from every process, until the task is cancelled or the store closed.
public struct StoreProvider: Sendable {
  private let store: Store
  private let lastSnapshot: LastSnapshot
  private let lookup: ConfigLookup
  /// `StoreProvider`, and the name in brackets if there is one.
  public let providerName: String

  /// - Parameters:
  ///   - name: tells this provider from others in what the reader reports.
  ///   - includingDefaults: whether the defaults count that keys are declared with, or that were registered. They would
  ///     hide the providers that come after this one, so that by default they do not.
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

  /// Everything that the store holds, at one revision; where it cannot be read each value throws why.
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
