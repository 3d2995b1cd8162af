// A change as a value: compared and converted; and subscriptions in a set.

import Kept
import Testing

extension Keys {
  fileprivate static let volume = Key("audio.volume", default: 50)
}

@Suite(.timeLimit(.minutes(30))) struct ChangeTests {
  let test = TestStore()
  var settings: Store { test.store }

  /// The change that a write causes.
  private func change(_ write: () throws -> Void) async throws -> Key<Int>.Change {
    var changes = settings.changes(of: .volume).makeAsyncIterator()
    try write()
    return try #require(await changes.next(isolation: #isolation))
  }

  @Test func `two observers receive equal changes, and another change is unequal`() async throws {
    var (one, two) = (Received<Key<Int>.Change>(), Received<Key<Int>.Change>())
    let tokens = [try settings.observe(.volume, one.note), try settings.observe(.volume, two.note)]
    settings[.volume] = 60
    let (first, same) = (try await one.take()[0], try await two.take()[0])
    #expect(first == same)
    settings[.volume] = 70
    settings[.volume] = 60
    let later = try await one.take(2)
    #expect(later[0] != first && later[1] != first && later[1].new == first.new)
    for token in tokens { token.cancel() }
  }

  @Test func `an error counts in a comparison`() async throws {
    let good = try await change { try settings.set(60, for: .volume) }
    let loud = try await change { try settings.set("loud", forKey: "audio.volume") }
    #expect(good == good && loud == loud && good != loud)
    #expect(loud.new == 50 && loud.error?.code == .wrongType)
  }

  @Test func `a change is mapped with all that it says`() async throws {
    settings[.volume] = 60
    let change = try await change { try settings.set(70, for: .volume) }
    let text = change.map { "\($0) %" }
    #expect(text.old == "60 %" && text.new == "70 %")
    #expect(text.event == .set && text.layer == .user && text.error == nil && text.tag == nil)
    #expect(text.revisions == change.revisions && text.origin == change.origin && !text.mayHaveMissed)
    #expect(text.time == change.time)
    #expect(text.map { Int($0.prefix(2)) ?? 0 } == change)
    struct Refusal: Error {}
    #expect(throws: Refusal.self) { try change.map { (_: Int) -> Int in throw Refusal() } }
    let removed = try await self.change { try settings.remove(.volume) }.map { $0 / 10 }
    #expect(removed.event == .removed && removed.new == 5)
  }

  @Test func `a subscription is a member of a set, and equal to itself alone`() throws {
    let tokens = [try settings.observe(.volume) { _ in }, try settings.observe(.volume) { _ in }]
    var kept: Set<Subscription> = [tokens[0], tokens[1], tokens[0]]
    #expect(kept.count == 2 && tokens[0] != tokens[1])
    #expect(kept.remove(tokens[0]) === tokens[0] && kept == [tokens[1]])
    for token in tokens { token.cancel() }
  }
}
