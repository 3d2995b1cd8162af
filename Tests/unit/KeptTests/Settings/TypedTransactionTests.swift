// Keys in transactions and atomic updates: all or nothing, even if a subscript cannot report its failure.

import Kept
import Synchronization
import Testing

extension Keys {
  fileprivate static let left = Key("left", default: 0)
  fileprivate static let right = Key("right", default: 100)
  fileprivate static let twice = Key<Int??>("twice")
  fileprivate static let name = Key<String?>("name")
}

@Suite struct TypedTransactionTests {
  private struct Stop: Error {}
  let test = TestStore()
  var settings: Store { test.store }

  @Test func `a transaction reads its own writes and commits them together`() throws {
    try settings.transaction { transaction in
      transaction[.left] += 30
      transaction[.right] -= 30
      let right = try transaction.value(for: .right)
      let isThere = try transaction.contains(.left)
      #expect(transaction[.left] == 30 && right == 70 && isThere)
      #expect(settings[.left] == 0)
    }
    #expect(settings[.left] == 30 && settings[.right] == 70)
    #expect(try settings.revision(of: .left) == settings.revision(of: .right))
  }

  @Test func `a transaction that throws leaves nothing`() throws {
    #expect(throws: Stop.self) {
      try settings.transaction { transaction in
        transaction[.left] = 1
        try transaction.updateValue(.right) { $0 = 2 }
        try transaction.remove(.left)
        throw Stop()
      }
    }
    #expect(try settings.keys() == [])
  }

  @Test func `a write that fails in a subscript fails the whole transaction`() throws {
    #expect(
      failure(.invalid) {
        try settings.transaction { transaction in
          transaction[.left] = 1
          transaction[.twice] = .some(nil)
        }
      }.hasPrefix("\"twice\": "))
    #expect(try settings.keys() == [])
    #expect(test.takeReported().isEmpty)
  }

  @Test func `a read that was overtaken is run again, not answered with the default`() throws {
    settings[.left] = 5
    settings[.right] = 6
    let runs = Atomic(0)
    let settings = settings
    let sum = try settings.transaction { transaction in
      let left = transaction[.left]
      // Another writer commits first, the first time.
      if runs.add(1, ordering: .relaxed).newValue == 1 { try settings.set(600, for: .right) }
      let sum = left + transaction[.right]
      transaction[Key("sum", default: 0)] = sum
      return sum
    }
    #expect(sum == 605)
    #expect(try settings.value(forKey: "sum") == 605)
    #expect(runs.load(ordering: .relaxed) == 2)
  }

  @Test func `a value of another kind reads as the default and is reported, and the rest is committed`() throws {
    try settings.set("many", forKey: "right")
    try settings.transaction { $0[.left] = $0[.right] + 1 }
    #expect(settings[.left] == 101)
    #expect(test.takeReported().map(\.description) == [#""right": holds a string, not an int"#])
    #expect(try settings.value(forKey: "right") == "many")
  }

  @Test func `a transaction used after its end gives defaults and reports`() throws {
    var escaped: Transaction?
    try settings.transaction { escaped = $0 }
    let ended = try #require(escaped)
    #expect(ended[.right] == 100)
    ended[.right] = 1
    #expect(test.takeReported().map(\.code) == [.closed, .closed])
    _ = failure(.closed) { try ended.set(1, for: .right) }
  }

  @Test func `an update gives the new value, starts from the default, and can remove`() throws {
    #expect(try settings.updateValue(.right) { $0 += 1 } == 101)
    #expect(try settings.updateValue(.right) { $0 += 1 } == 102)
    settings[.name] = "Ada"
    #expect(try settings.updateValue(.name) { $0 = nil } == nil)
    #expect(try settings.keys() == ["right"])
  }

  @Test func `an update that throws writes nothing and throws the same`() throws {
    #expect(throws: Stop.self) {
      try settings.updateValue(.left) { value in
        value = 9
        throw Stop()
      }
    }
    #expect(try settings.keys() == [])
  }

  @Test func `updates of many tasks at once lose none`() async throws {
    let settings = settings
    try await withThrowingTaskGroup { group in
      for _ in 0..<4 {
        group.addTask { for _ in 0..<100 { try settings.updateValue(.left) { $0 += 1 } } }
      }
      try await group.waitForAll()
    }
    #expect(settings[.left] == 400)
  }
}
