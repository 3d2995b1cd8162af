// Moving a key, and dropping one with its declaration.

@testable import KeptSchema
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite struct `A key that is renamed` {
  private let settings = Store(storage: MemoryStorage())
  private let whole = #"{"maximum":10,"type":"integer"}"#

  @Test func `may be only declared, or only stored`() throws {
    try settings.declare(Declaration(json: whole), forKey: "declared")
    try settings.set(1, forKey: "stored")
    try settings.rename("declared", to: "a")
    try settings.rename("stored", to: "b")
    #expect(try settings.declaration(forKey: "a") != nil && settings.value(forKey: "b") == 1)
  }

  @Test func `reads its own writes in a transaction`() throws {
    try settings.transaction { transaction in
      try transaction.set(1, forKey: "a")
      try transaction.rename("a", to: "b")
      try transaction.rename("b", to: "c")
      #expect(try transaction.keys() == ["c"])
    }
    #expect(try settings.value(forKey: "c") == 1 && settings.currentRevision() == 1)
  }

  @Test func `must exist, and the new one must not`() throws {
    try settings.set(1, forKey: "a")
    try settings.declare(Declaration(json: whole), forKey: "declared")
    #expect(try !settings.rename("none", to: "b"))
    for other in ["declared", "", "x\0y"] {
      #expect(code { try settings.rename("a", to: other) } == .invalid, "\(other)")
    }
    #expect(try settings.rename("a", to: "a"))
    #expect(try settings.value(forKey: "a") == 1)
  }

  @Test func `can be dropped with its declaration`() throws {
    try settings.declare(Declaration(json: whole), forKey: "a")
    try settings.set(7, forKey: "a")
    #expect(try settings.drop("a"))
    #expect(try settings.declaration(forKey: "a") == nil && settings.value(forKey: "a") == nil)
    #expect(try !settings.drop("a"))
  }
}
