// Declared keys: refused values, values that are kept and read as the default, and declaring in a transaction.

import Kept
import Testing

extension Keys {
  fileprivate static let volume = Key("audio.volume", default: 50, .range(0...100))
  fileprivate static let theme = Key("theme", default: "system", .choices(["system", "dark"]))
  fileprivate static let token = Key<String?>("token", .length(8...64), secret: true)
}

@Suite struct `A declared key` {
  let test = TestStore()
  var settings: Store { test.store }

  init() throws { try settings.declare(.volume, .theme, .token) }

  @Test func `takes what fits, and refuses what does not, wherever it is written`() throws {
    try settings.set(70, for: .volume)
    let revision = try #require(try settings.revision(of: .volume))
    let sentence = failure(.invalid) { try settings.set(101, for: .volume) }
    #expect(sentence.contains("audio.volume") && sentence.contains("101") && sentence.contains("100"))
    _ = failure(.invalid) { try settings.set(-1, for: .volume, ifRevision: revision) }
    _ = failure(.invalid) { try settings.updateValue(.volume) { $0 += 31 } }
    _ = failure(.invalid) { _ = try settings.transaction { try $0.set(101, for: .volume) } }
    _ = failure(.wrongType) { try settings.set("loud", forKey: "audio.volume") }
    _ = failure(.wrongType) { try settings.set("loud", for: Key<String?>("audio.volume")) }
    #expect(settings[.volume] == 70)
    settings[.volume] = 101
    #expect(test.takeReported().map(\.code) == [.invalid])
    #expect(settings[.volume] == 70)
  }

  @Test func `shows no secret`() throws {
    let sentence = failure(.invalid) { try settings.set("hunter2", for: .token) }
    #expect(sentence.contains("token") && !sentence.contains("hunter2"))
    try settings.set("hunter2-hunter2", for: .token)
    #expect(try !settings.explain(.token).json.contains("hunter2"))
  }

  @Test func `reads as the declared default, before the one of another key of that name`() throws {
    let newer = Key("audio.volume", default: 60)
    #expect(settings[newer] == 50)
    #expect(try settings.layer(of: newer) == .declared)
    #expect(try !settings.contains(newer))
    #expect(try settings.revision(of: newer) == nil)
    try settings.undeclare(.volume)
    #expect(settings[newer] == 60)
    #expect(try settings.layer(of: newer) == nil)
  }

  @Test func `keeps an earlier value that does not fit, says so, and reads as the default`() throws {
    let loud = Key("loud", default: 5, .maximum(10))
    try settings.set("very", forKey: "loud")
    let misfits = try settings.declare(loud)
    #expect(misfits.map(\.key) == ["loud"] && misfits.map(\.code) == [.wrongType])
    #expect(settings[loud] == 5)
    #expect(try settings.updateValue(loud) { $0 += 1 } == 6)
  }

  @Test func `reports all that does not fit, in the order of the keys' names`() throws {
    for name in ["c", "a", "b"] { try settings.set("very", forKey: name) }
    let misfits = try settings.declare(Key<Int?>("b"), Key<String?>("c"), Key<Bool?>("a"))
    #expect(misfits.map(\.key) == ["a", "b"])
    #expect(try settings.declare(Key<Int?>("b")).map(\.key) == ["b"], "each time")
    #expect(try settings.value(forKey: "b") == nil && settings.value(forKey: "c") == "very")
  }

  @Test func `may be declared in a transaction, which then keeps to it`() throws {
    let size = Key("size", default: 1, .minimum(1))
    try settings.transaction { transaction in
      try transaction.declare(size)
      #expect(try transaction.declaration(of: size)?.type == .integer)
      _ = failure(.invalid) { try transaction.set(0, for: size) }
      try transaction.set(2, for: size)
    }
    #expect(settings[size] == 2)
    #expect(throws: StoreError.self) {
      try settings.transaction { transaction in
        try transaction.declare(Key("other", default: 1))
        throw StoreError(.failed, "no more")
      }
    }
    #expect(try settings.declarations(prefix: "other").declarations.isEmpty)
  }

  @Test func `is the same for a store that keeps it in a file`() throws {
    let folder = try SharedFolder()
    let writer = try folder.store()
    let reader = try folder.store()
    try writer.declare(.volume)
    _ = failure(.invalid) { try reader.set(101, for: .volume) }
    #expect(try reader.declaration(of: .volume) == writer.declaration(of: .volume))
    let revision = try writer.currentRevision()
    try reader.declare(.volume)
    #expect(try writer.currentRevision() == revision, "the same again is nothing")
  }
}
