// A store on a UserDefaults suite: storing, refusals, adopting and importing.

import Foundation
import KeptCore
import KeptUserDefaults
@testable import KeptValues
import Testing

@Suite(.serialized) struct `A UserDefaults storage` {
  private let suite = "kept.test.\(UUID().uuidString)"
  private let defaults: UserDefaults
  private let store: Store

  init() throws {
    defaults = try #require(UserDefaults(suiteName: suite))
    store = Store(storage: SimpleStorageAdapter(try UserDefaultsStorage(suite: suite)))
  }

  private func cleanUp() {
    store.close()
    defaults.removePersistentDomain(forName: suite)
    _ = defaults.synchronize()
  }

  @Test(arguments: [
    "true", "false", "0", "1", "-9223372036854775808", "9007199254740993",
    "{\"$numberULong\":\"18446744073709551615\"}",
    "1.0", "0.1", "5e-324", "\"\"", "\"text\"", "{\"$binary\":{\"base64\":\"AAH/\",\"subType\":\"00\"}}",
    "{\"$date\":\"2026-01-01T00:00:01Z\"}", "[]", "{}", "[true,1,1.0,[\"a\",{\"k\":[2]}]]",
  ])
  func `keeps a value, kind and all`(_ json: String) throws {
    defer { cleanUp() }
    let value = try Value(json: json)
    try store.setJSON(json, forKey: "a.b")
    #expect(try store.entry(for: KeyName("a.b"))?.value == value)
    let again = SimpleStorageAdapter(try UserDefaultsStorage(suite: suite))
    #expect(try again.entry(for: KeyName("a.b"))?.value == value)
    #expect(try again.keys(prefix: "a").map(\.text) == ["a.b"])
    #expect(try store.remove("a.b"))
    #expect(defaults.object(forKey: "a.b") == nil)
  }

  @Test(arguments: ["-0.0", "{\"$date\":\"2026-01-01T00:00:01.5Z\"}", "[null]", "{\"a\":[-0.0]}", "{\"a\":null}"])
  func `refuses what would come back as something else, and leaves the stored value`(_ json: String) throws {
    defer { cleanUp() }
    try store.setJSON("1", forKey: "a")
    let error = #expect(throws: StoreError.self) { try store.setJSON(json, forKey: "a") }
    #expect(error?.code == .unsupported && error?.key == "a")
    #expect(try store.json(forKey: "a") == "1")
  }

  @Test func `refuses a key that Foundation takes for another`() throws {
    defer { cleanUp() }
    try store.setJSON("1", forKey: "caf\u{E9}")
    let error = #expect(throws: StoreError.self) { try store.setJSON("2", forKey: "cafe\u{301}") }
    #expect(error?.code == .unsupported)
    #expect(try store.json(forKey: "caf\u{E9}") == "1")
  }

  @Test func `adopts the values in the suite, and no registered default`() throws {
    defer { cleanUp() }
    defaults.set(70, forKey: "volume")
    defaults.set(true, forKey: "muted")
    defaults.register(defaults: ["kept.registered": 1])
    #expect(try store.json(forKey: "volume") == "70")
    #expect(try store.json(forKey: "muted") == "true")
    #expect(try store.json(forKey: "kept.registered") == nil)
    try store.setJSON("30", forKey: "volume")
    #expect(defaults.integer(forKey: "volume") == 30)
  }

  @Test func `imports a suite into another store, but for what that has`() throws {
    defer { cleanUp() }
    defaults.set("old", forKey: "theme")
    defaults.set([1, 2], forKey: "sizes")
    let other = Store(storage: MemoryStorage())
    try other.setJSON("\"new\"", forKey: "theme")
    #expect(try UserDefaultsStorage(suite: suite).copy(into: other).map(\.text) == ["sizes"])
    #expect(try other.json(forKey: "theme") == "\"new\"")
    #expect(try other.json(forKey: "sizes") == "[1,2]")
  }

  @Test func `says that a fraction is why a date is refused, and what else is`() throws {
    defer { cleanUp() }
    for json in ["{\"$date\":\"2026-01-01T00:00:01.5Z\"}", "[{\"a\":{\"$date\":\"2026-01-01T00:00:01.5Z\"}}]"] {
      let error = #expect(throws: StoreError.self) { try store.setJSON(json, forKey: "a") }
      #expect(error?.message.contains("fractions of a second") == true)
    }
    let null = #expect(throws: StoreError.self) { try store.setJSON("[null]", forKey: "a") }
    #expect(null?.message.contains("cannot hold null") == true)
    let zero = #expect(throws: StoreError.self) { try store.setJSON("-0.0", forKey: "a") }
    #expect(zero?.message.contains("a different key or value") == true)
  }

  @Test func `says of several keys at once that it removes one at a time`() throws {
    defer { cleanUp() }
    try store.setJSON("1", forKey: "a.b")
    try store.setJSON("2", forKey: "a.c")
    let error = #expect(throws: StoreError.self) { try store.removeAll(prefix: "a.") }
    #expect(error?.code == .unsupported)
    #expect(error?.message.contains("one key at a time, and 2 keys begin with \"a.\"") == true)
    #expect(try store.keys(prefix: "a.") == ["a.b", "a.c"])
    #expect(try store.removeAll(prefix: "a.b") == 1 && store.removeAll(prefix: "a.b") == 0)
    #expect(try store.keys(prefix: "a.") == ["a.c"])
  }

  @Test(arguments: [UserDefaults.globalDomain, UserDefaults.argumentDomain, UserDefaults.registrationDomain])
  func `refuses a domain that all programs share`(_ domain: String) {
    let error = #expect(throws: StoreError.self) { try UserDefaultsStorage(suite: domain) }
    #expect(error?.code == .invalid && error?.message.contains("not a suite") == true)
  }

  @Test(arguments: ["", "a/b", "a\0b"]) func `refuses a name that is not that of a suite`(_ name: String) {
    #expect(throws: StoreError.self) { try UserDefaultsStorage(suite: name) }
  }
}
