// Reading and writing typed values by name, without a Key: in stores, transactions and snapshots.

import FoundationEssentials
import Kept
import Testing

private enum Theme: String, Storable { case system, dark }
private struct Frame: Codable, Storable, Equatable { var width: Int }

@Suite struct NamedAccessTests {
  let test = TestStore()
  var settings: Store { test.store }

  /// Writes and reads a value by name, in a store, a transaction and a snapshot, and through a Key of its type.
  private func check<T: Storable & Equatable>(_ value: T) throws {
    let settings = settings
    #expect(try settings.value(T.self, forKey: "n") == nil)
    try settings.set(value, forKey: "n")
    #expect(try settings.value(T.self, forKey: "n") == value)
    #expect(try settings.value(for: Key<T?>("n")) == value)
    #expect(try settings.value(forKey: "n") == value.stored())
    let snapshot = try settings.snapshot()
    try settings.transaction { transaction in
      #expect(try transaction.value(T.self, forKey: "n") == value)
      try transaction.remove("n")
      #expect(try transaction.value(T.self, forKey: "n") == nil)
      try transaction.set(value, forKey: "m")
      #expect(try transaction.value(T.self, forKey: "m") == value)
    }
    #expect(try settings.value(T.self, forKey: "n") == nil)
    #expect(try settings.value(T.self, forKey: "m") == value)
    #expect(try snapshot.value(T.self, forKey: "n") == value)
    try settings.remove("m")
  }

  @Test func `a value of any Storable type is written and read by a name`() throws {
    try check(70)
    try check(UInt8(7))
    try check(0.5)
    try check(true)
    try check("loud")
    try check(Date.distantPast)
    try check(Data([1, 2]))
    try check(["a", "b"])
    try check(["a": [1, 2]])
    try check(Theme.dark)
    try check([Theme.dark, .system])
    try check(Frame(width: 640))
    try check(Value.int(5))
  }

  @Test func `nil removes, and an optional is its value`() throws {
    let maybe: Int? = 5
    try settings.set(maybe, forKey: "n")
    #expect(try settings.value(Int.self, forKey: "n") == 5)
    let none: Int? = nil
    try settings.set(none, forKey: "n")
    #expect(try !settings.contains("n"))
  }

  @Test func `a literal is what it was before`() throws {
    try settings.set(5, forKey: "n")
    #expect(try settings.value(forKey: "n") == .int(5))
    try settings.set([1, "a", .null], forKey: "n")
    #expect(try settings.value(forKey: "n") == .array([.int(1), .string("a"), .null]))
    // One key in Swift, and two in the store.
    try settings.set(["\u{E9}": 1, "e\u{301}": 2], forKey: "n")
    #expect(try settings.value(forKey: "n")?.json == "{\"e\u{301}\":2,\"\u{E9}\":1}")
    try settings.set(.null, forKey: "n")
    #expect(try !settings.contains("n"))
  }

  @Test func `a value of another kind is an error with the name, and stays`() throws {
    try settings.set("loud", forKey: "n")
    let sentence = failure(.wrongType) { _ = try settings.value(Int.self, forKey: "n") }
    #expect(sentence == #""n": holds a string, not an int"#)
    let theme = failure(.wrongType) { _ = try settings.value(Theme.self, forKey: "n") }
    #expect(theme == #""n": holds a string that is not a Theme"#)
    #expect(try settings.value(String.self, forKey: "n") == "loud")
    _ = failure(.invalid) { _ = try settings.value(Int.self, forKey: "") }
    let number = 5
    _ = failure(.invalid) { try settings.set(number, forKey: "") }
    let never = Date(timeIntervalSince1970: 1e12)
    #expect(failure(.invalid) { try settings.set(never, forKey: "n") }.hasPrefix("\"n\": "))
    #expect(try settings.value(String.self, forKey: "n") == "loud")
  }

  @Test func `a revision is compared`() throws {
    let number = 5
    #expect(try settings.set(number, forKey: "n", ifRevision: 0) == 1)
    _ = failure(.conflict) { try settings.set(number + 1, forKey: "n", ifRevision: 0) }
    #expect(try settings.set(number + 1, forKey: "n", ifRevision: 1) == 2)
    let none: Int? = nil
    _ = failure(.invalid) { try settings.set(none, forKey: "n", ifRevision: 2) }
    #expect(try settings.value(Int.self, forKey: "n") == 6)
  }

  @Test func `registered defaults and texts of the command line are read as the type`() throws {
    let store = Store(
      storage: MemoryStorage(), options: StoreOptions(arguments: ["program", "-size", "50", "-when", "soon"]))
    let number = 7
    #expect(try store.set(number, forKey: "size") == .arguments)
    #expect(try store.value(Int.self, forKey: "size") == 50)
    #expect(try store.value(String.self, forKey: "size") == "50")
    let sentence = failure(.wrongType) { _ = try store.value(Int.self, forKey: "when") }
    #expect(sentence == #""when": in the arguments layer: holds a string, not an int"#)
    try store.register(defaults: ["other": 3])
    #expect(try store.value(Int.self, forKey: "other") == 3)
  }
}
