// What swift-configuration reads from a store: which key, which value, which error.

import Configuration
import ConfigurationTesting
import Kept
import KeptValues
import Synchronization
import Testing

/// The error that a call throws, which must be a StoreError.
private func failure(_ body: () throws -> Void) -> StoreError? {
  do { try body() } catch { return error as? StoreError }
  return nil
}

@Suite struct `A provider of configuration` {
  let store = Store(storage: MemoryStorage())
  var provider: StoreProvider { StoreProvider(store) }

  /// The value from the provider, read in three ways that must agree.
  private func read(_ key: AbsoluteConfigKey, _ type: ConfigType) throws -> ConfigValue? {
    let result = try provider.value(forKey: key, type: type)
    #expect(try provider.snapshot().value(forKey: key, type: type) == result)
    #expect(result.encodedKey == key.components.joined(separator: "."))
    return result.value
  }

  @Test func `passes the suite that swift-configuration has for providers`() async throws {
    let bytes: [String: ConfigContent] = [
      "bytes": .bytes([0, 255]), "other.bytes": .bytes([]), "byteChunky.array": .byteChunkArray([[0], [], [255]]),
      "other.byteChunky.array": .byteChunkArray([]),
    ]
    let values: [String: Value] = [
      "string": "Hello", "int": 42, "double": 3.14, "bool": true, "bytes": .bytes([0, 255]),
      "stringy.array": ["Hello", "World"], "inty.array": [42, 24], "doubly.array": [3.14, 2.72],
      "booly.array": [true, false], "byteChunky.array": [.bytes([0]), .bytes([]), .bytes([255])],
      "other.string": "Other Hello", "other.int": 24, "other.double": 2.72, "other.bool": false,
      "other.bytes": .bytes([]), "other.stringy.array": ["Hello", "Swift"], "other.inty.array": [16, 32],
      "other.doubly.array": [0.9, 1.8], "other.booly.array": [false, true, true], "other.byteChunky.array": [],
    ]
    try store.transaction { transaction in
      for (key, value) in values { try transaction.set(value, forKey: key) }
    }
    try await ProviderCompatTest(provider: provider, configuration: .init(overrides: bytes)).runTest()
  }

  @Test func `is the layer that a program writes beneath Apple's reader`() throws {
    let above = InMemoryProvider(values: ["http.host": "above"])
    let below = InMemoryProvider(values: ["http.host": "below", "http.timeout": 30, "http.retries": 3])
    let config = ConfigReader(providers: [above, provider, below])
    #expect(config.int(forKey: "http.timeout") == 30)
    try store.set(5, for: Key("http.timeout", default: 60))
    try store.set("stored", forKey: "http.host")
    #expect(config.int(forKey: "http.timeout") == 5)
    #expect(config.scoped(to: "http").int(forKey: "retries") == 3)
    #expect(config.string(forKey: "http.host") == "above")
    try store.remove("http.timeout")
    #expect(config.int(forKey: "http.timeout") == 30)
  }

  @Test func `joins the components of a key with dots, and looks into no object`() throws {
    try store.set(["timeout": 1], forKey: "http")
    #expect(try read(["http", "timeout"], .int) == nil)
    try store.set(2, forKey: "http.timeout")
    #expect(try read(["http", "timeout"], .int) == 2)
    #expect(try read(["http.timeout"], .int) == 2)
    let asked = AbsoluteConfigKey(["http", "timeout"], context: ["region": .string("eu")])
    #expect(try read(asked, .int) == 2, "no context is asked")
    #expect(try provider.prefixKeys(with: "http").value(forKey: "timeout", type: .int).value == 2)
  }

  @Test func `converts a number that survives it`() throws {
    try store.set(2, forKey: "int")
    try store.set(2.0, forKey: "double")
    try store.set([1, 2.5], forKey: "numbers")
    #expect(try read("int", .double)?.content == .double(2))
    #expect(try read("double", .int)?.content == .int(2))
    #expect(try read("numbers", .doubleArray)?.content == .doubleArray([1, 2.5]))
  }

  @Test(arguments: [
    ("string", ConfigType.int, "holds a string, not an int"), ("string", .bytes, "holds a string, not bytes"),
    ("string", .stringArray, "holds a string, not an array"), ("int", .bool, "holds an int, not a bool"),
    ("int", .string, "holds an int, not a string"), ("half", .int, "holds a double that Int cannot hold exactly"),
    ("huge", .int, "holds a uint that Int cannot hold exactly"), ("bool", .int, "holds a bool, not an int"),
    ("mixed", .intArray, "at [1]: holds a string, not an int"), ("date", .string, "holds a date, not a string"),
    ("nulls", .intArray, "at [0]: holds null, not an int"),
    ("object", .string, "holds a dictionary, not a string"),
    ("bytes", .byteChunkArray, "holds bytes, not an array"),
  ])
  func `says so where a value is of another type, and leaves it`(
    key: String, type: ConfigType, sentence: String
  ) throws {
    let values: [String: Value] = [
      "string": "2", "int": 1, "half": 0.5, "huge": .uint(.max), "bool": true, "mixed": [1, "2"], "nulls": [.null],
      "date": .date(try Timestamp(text: "2026-11-21T11:00:00Z")), "object": ["a": 1], "bytes": .bytes([1]),
    ]
    let value = try #require(values[key])
    try store.set(value, forKey: key)
    let error = failure { _ = try read([key], type) }
    #expect(error?.code == .wrongType && error?.key == key && error?.message == sentence)
    #expect(failure { _ = try provider.snapshot().value(forKey: [key], type: type) }?.message == sentence)
    #expect(try store.value(forKey: key) == value)
  }

  @Test func `stops the reader at a value of the wrong type, as swift-configuration's own providers do`() throws {
    try store.set("soon", forKey: "timeout")
    let config = ConfigReader(providers: [provider, InMemoryProvider(values: ["timeout": 30])])
    #expect(config.int(forKey: "timeout") == nil)
    #expect(config.int(forKey: "timeout", default: 7) == 7)
    #expect(failure { _ = try config.requiredInt(forKey: "timeout") }?.code == .wrongType)
  }

  private static let longer = [String(repeating: "x", count: 1025)]

  @Test(arguments: [
    "the key is empty": [], "the key contains a NUL at byte 3": ["a", "b\0c"], "the key is 1025 bytes long": longer,
  ])
  func `throws invalid for a key that no store can have`(sentence: String, components: [String]) throws {
    let error = failure { _ = try provider.value(forKey: AbsoluteConfigKey(components), type: .int) }
    #expect(error?.code == .invalid && error?.message.hasPrefix(sentence) == true)
    #expect(failure { _ = try provider.snapshot().value(forKey: AbsoluteConfigKey(components), type: .int) } != nil)
    #expect(ConfigReader(provider: provider).int(forKey: ConfigKey(components), default: 7) == 7)
  }

  @Test func `finds a key of the greatest length, and one of emoji and spaces`() throws {
    let long = String(repeating: "x", count: 1024)
    try store.set(1, forKey: long)
    try store.set(2, forKey: "naïve 🎛️/$.x")
    #expect(try read([long], .int) == 1)
    #expect(try read(["naïve 🎛️/$", "x"], .int) == 2)
  }

  @Test func `throws closed for a closed store`() throws {
    try store.set(1, forKey: "a")
    let snapshot = provider.snapshot()
    store.close()
    #expect(failure { _ = try provider.value(forKey: "a", type: .int) }?.code == .closed)
    #expect(failure { _ = try provider.snapshot().value(forKey: "a", type: .int) }?.code == .closed)
    #expect(try snapshot.value(forKey: "a", type: .int).value == 1, "a snapshot keeps its values")
  }

  @Test func `has a name that distinguishes it from others`() {
    #expect(provider.providerName == "StoreProvider")
    let named = StoreProvider(store, name: "user")
    #expect(named.providerName == "StoreProvider[user]" && named.snapshot().providerName == "StoreProvider[user]")
    #expect("\(named)" == "StoreProvider[user]")
  }
}

@Suite struct `A provider over layers` {
  private func store(_ arguments: String...) -> Store {
    Store(storage: MemoryStorage(), options: StoreOptions(arguments: ["program"] + arguments))
  }

  @Test func `gives the value of the highest layer of the store, read as the requested type`() throws {
    let store = store("-port", "8080", "-hosts", "(a, b)")
    let provider = StoreProvider(store)
    try store.set(80, forKey: "port")
    #expect(try provider.value(forKey: "port", type: .int).value == 8080)
    #expect(try provider.value(forKey: "port", type: .string).value == "8080")
    #expect(try provider.snapshot().value(forKey: "port", type: .double).value == 8080.0)
    #expect(try provider.value(forKey: "hosts", type: .stringArray).value?.content == .stringArray(["a", "b"]))
    let error = failure { _ = try provider.value(forKey: "hosts", type: .int) }
    #expect(error?.message.hasPrefix("in the arguments layer: holds") == true, "\(String(describing: error))")
  }

  @Test func `leaves defaults to the providers that come after it, except on request`() throws {
    let store = store()
    try store.declare(Key("volume", default: 50))
    try store.register(70, for: Key("level", default: 0))
    let below = InMemoryProvider(values: ["volume": 1, "level": 2])
    let config = ConfigReader(providers: [StoreProvider(store), below])
    #expect(config.int(forKey: "volume") == 1 && config.int(forKey: "level") == 2)
    let complete = ConfigReader(providers: [StoreProvider(store, includingDefaults: true), below])
    #expect(complete.int(forKey: "volume") == 50 && complete.int(forKey: "level") == 70)
    #expect(complete.snapshot().int(forKey: "volume") == 50)
  }
}

@Suite struct `A secret` {
  private final class Reports: AccessReporter {
    let texts = Mutex<[String]>([])
    func report(_ event: AccessEvent) { texts.withLock { $0.append("\(event)") } }
  }

  @Test func `is marked as one, and not shown`() throws {
    let store = Store(storage: MemoryStorage())
    let provider = StoreProvider(store)
    try store.set("plain", forKey: "name")
    try store.declare(Key<String?>("token", secret: true))
    try store.set("hunter2", forKey: "token")
    for reader: any ConfigSnapshot in [provider.snapshot(), StillProvider(provider)] {
      #expect(try reader.value(forKey: "token", type: .string).value?.isSecret == true)
      #expect(try reader.value(forKey: "token", type: .string).value?.content == .string("hunter2"))
      #expect(try reader.value(forKey: "name", type: .string).value?.isSecret == false)
    }
    let snapshot = provider.snapshot()
    #expect(!"\(snapshot)".contains("hunter2") && !String(reflecting: snapshot).contains("hunter2"))
  }

  @Test func `stays out of what a reader reports, also where it is of the wrong type`() throws {
    let store = Store(storage: MemoryStorage())
    try store.declare(Key<String?>("token", secret: true))
    try store.set("hunter2", forKey: "token")
    let reports = Reports()
    let config = ConfigReader(provider: StoreProvider(store), accessReporter: reports)
    #expect(config.string(forKey: "token") == "hunter2")
    #expect(config.int(forKey: "token") == nil)
    let texts = reports.texts.withLock(\.self)
    #expect(texts.count == 2 && texts.allSatisfy { $0.contains("token") && !$0.contains("hunter2") })
  }

  /// Reads a provider as if it were a snapshot.
  private struct StillProvider: ConfigSnapshot {
    let provider: StoreProvider
    init(_ provider: StoreProvider) { self.provider = provider }
    var providerName: String { provider.providerName }
    func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
      try provider.value(forKey: key, type: type)
    }
  }
}
