// The value of a secret key, declared by the key or in the store, is in no error.

import Kept
import Synchronization
import Testing

/// A type whose conversion errors contain their input.
private struct Talkative: Storable, Equatable {
  var text = "hunter2"
  init() {}

  init(stored value: Value) throws(StoreError) { throw StoreError(.wrongType, "\(value.json) will not do") }
  func stored() throws(StoreError) -> Value { throw StoreError(.invalid, "\(text) will not do") }
  static let schema: Schema? = nil
}

/// A type with members whose names the program chooses.
private struct Members: Codable, Storable, Equatable { var members: [String: Int] = [:] }

@Suite(.timeLimit(.minutes(30))) struct `What errors say of a secret` {
  private let test = TestStore()
  private var settings: Store { test.store }

  init() throws {
    try settings.setJSON(#""hunter2""#, forKey: "token")
    try settings.setJSON(#"{"members":{"hunter2":"x"}}"#, forKey: "members")
    try settings.declare(Declaration(json: #"{"type":"string","secret":true}"#), forKey: "token")
    try settings.declare(Declaration(json: #"{"type":"object","secret":true}"#), forKey: "members")
  }

  private func check(_ body: () throws -> Void, _ source: SourceLocation = #_sourceLocation) {
    #expect(sourceLocation: source) {
      try body()
    } throws: { error in
      !"\(error)".contains("hunter2") && "\(error)".contains("the value is secret")
    }
  }

  @Test(arguments: [false, true])
  func `contains none of its value, whether the key or the store declares it secret`(isByKey: Bool) throws {
    let settings = settings
    let token = Key<Talkative?>("token", secret: isByKey)
    check { _ = try settings.value(for: token) }
    check { _ = try settings.snapshot().value(for: token) }
    check { try settings.set(Talkative(), for: token) }
    check { try settings.set(Talkative(), for: token, ifRevision: 1) }
    check { try settings.updateValue(token) { _ in } }
    check { try settings.transaction { _ = try $0.value(for: token) } }
    check { _ = try settings.transaction { try $0.retype(from: token, to: Key<Int?>("n")) { _ in nil } } }
    check { _ = try settings.value(Talkative.self, forKey: "token") }
    check { try settings.set(Talkative(), forKey: "token") }
    #expect(settings[token] == nil)
    settings[token] = Talkative()
    let received = test.takeReported()
    #expect(received.count == 2)
    for error in received { check { throw error } }
  }

  @Test(arguments: [false, true]) func `contains no name of its members`(isByKey: Bool) throws {
    let members = Key<Members?>("members", secret: isByKey)
    check { _ = try settings.value(for: members) }
  }

  @Test func `contains no value in a change that an observer receives`() throws {
    let settings = settings
    let received = Mutex<[String]>([])
    let subscription = try settings.observe(Key<Talkative?>("token"), initial: true) { change in
      received.withLock { $0.append(change.error.map { "\($0)" } ?? "no error") }
    }
    defer { subscription.cancel() }
    let sentences = received.withLock { $0 }
    #expect(sentences.count == 1)
    #expect(sentences.allSatisfy { $0.contains("the value is secret") && !$0.contains("hunter2") })
  }
}
