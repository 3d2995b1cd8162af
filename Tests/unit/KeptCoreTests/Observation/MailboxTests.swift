// The queue of a slow observer: notices are queued one by one, then coalesced, and there are never more than keys.

@testable import KeptSystem
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite(.timeLimit(.minutes(30))) struct `A mailbox` {
  var box = Mailbox()

  /// A clock that is set back before each commit.
  private func time(of revision: Revision) -> Timestamp { Timestamp(nanosecondsSince1970: -Int64(revision)) }

  /// A commit that sets one key.
  private func notice(
    _ revision: Revision, _ origin: Notice.Origin, _ text: String, from old: Value?, to new: Value?
  ) throws -> Notice {
    Notice(
      revisions: revision...revision, origin: origin, time: time(of: revision),
      changes: [Change(key: try key(text), old: old, new: new)])
  }

  private mutating func takeAll() -> [Notice] {
    var taken: [Notice] = []
    while let notice = box.take() { taken.append(notice) }
    return taken
  }

  @Test mutating func `keeps the commits of this process separate, and merges those of others in between`() throws {
    box.add(try notice(1, .store, "a", from: nil, to: 1))
    box.add(try notice(2, .otherProcess, "a", from: 1, to: 2))
    box.add(try notice(3, .otherProcess, "b", from: nil, to: 1))
    box.add(try notice(4, .otherProcess, "a", from: 2, to: 3))
    box.add(try notice(5, .process, "a", from: 3, to: 4))
    let taken = takeAll()
    #expect(taken.map(\.revisions) == [1...1, 2...4, 5...5])
    #expect(taken.map(\.time) == [1, 4, 5].map(time), "a merged notice has the time of its last commit")
    #expect(
      taken[1].changes == [
        Change(key: try key("a"), old: 1, new: 3), Change(key: try key("b"), old: nil, new: 1),
      ])
    #expect(box.isEmpty)
  }

  @Test mutating func `delivers nothing for changes that cancel out, and then the next`() throws {
    box.add(try notice(1, .otherProcess, "a", from: nil, to: 1))
    box.add(try notice(2, .otherProcess, "a", from: 1, to: nil))
    box.add(try notice(3, .store, "a", from: nil, to: 2))
    #expect(takeAll().map(\.revisions) == [3...3])
    box.add(try notice(4, .otherProcess, "a", from: 2, to: 1))
    box.add(try notice(5, .otherProcess, "a", from: 1, to: 2))
    #expect(takeAll().isEmpty)
  }

  @Test mutating func `merges all notices when too many wait, except the initial one`() throws {
    for revision in 1...Revision(Mailbox.limit) {
      box.add(try notice(revision, .store, "a", from: .uint(revision - 1), to: .uint(revision)))
    }
    box.begin(with: Notice(revisions: 0...0, origin: .initial, time: .now, changes: []))
    box.add(try notice(5000, .process, "a", from: 4096, to: 5000))
    box.add(try notice(5001, .process, "a", from: 5000, to: 5001))
    let taken = takeAll()
    #expect(taken.map(\.origin) == [.initial, .store, .process, .process])
    #expect(taken.map(\.revisions) == [0...0, 1...4096, 5000...5000, 5001...5001])
    #expect(taken[1].changes == [Change(key: try key("a"), old: .uint(0), new: .uint(4096))])
  }

  @Test(arguments: [Notice.Origin.store, .otherProcess])
  mutating func `keeps little more than the values of its keys, however large they are`(origin: Notice.Origin) throws {
    func large(_ number: Int) -> Value {
      .array([.string(String(repeating: "x", count: 100_000)), .int(Int64(number))])
    }
    for number in 0..<200 {
      let old = number == 0 ? nil : large(number - 1)
      box.add(try notice(Revision(number + 1), origin, "a", from: old, to: large(number)))
      #expect(box.bytes < 2 * Mailbox.mostBytes)
    }
    let taken = takeAll()
    #expect(taken.count < 20)
    #expect(taken.first?.changes.first?.old == nil)
    #expect(taken.last?.changes.last?.new == large(199))
    #expect(box.bytes == 0)
  }

  @Test(arguments: [Notice.Origin.store, .otherProcess])
  mutating func `counts many small changes, too`(origin: Notice.Origin) throws {
    for revision in 1...200 {
      let changes = try (0..<1000).map { Change(key: try key("k\($0)"), old: .int(Int64(revision - 1)), new: 1) }
      let own = Revision(revision)
      box.add(Notice(revisions: own...own, origin: origin, time: .now, changes: changes))
      #expect(box.bytes < 2 * Mailbox.mostBytes)
    }
    #expect(takeAll().count < 20)
  }

  @Test mutating func `marks a merged change as secret if any of its parts is`() throws {
    var (first, last) = (
      try notice(1, .otherProcess, "a", from: "S3CRET", to: nil), try notice(2, .otherProcess, "a", from: nil, to: "x")
    )
    first.changes[0].isSecret = true
    box.add(first)
    box.add(last)
    #expect(takeAll().map(\.changes.first?.isSecret) == [true])
    (first.changes[0].isSecret, last.changes[0].isSecret) = (false, true)
    box.add(first)
    box.add(last)
    #expect(takeAll().map(\.changes.first?.isSecret) == [true])
  }

  @Test mutating func `delivers nothing for changes that cancel out when too many waited`() throws {
    for revision in 1...Revision(Mailbox.limit) {
      let (old, new): (Value, Value) = revision % 2 == 1 ? (1, 2) : (2, 1)
      box.add(try notice(revision, .store, "a", from: old, to: new))
    }
    box.add(try notice(5000, .store, "a", from: 1, to: 3))
    #expect(takeAll().map(\.revisions) == [5000...5000])
  }

  @Test(arguments: [Notice.Origin.store, .otherProcess])
  mutating func `does little work for each change, however many keys wait`(origin: Notice.Origin) throws {
    let (keys, rounds) = (5000, 6)
    for round in 0..<rounds {
      for index in 0..<keys {
        let revision = Revision(round * keys + index + 1)
        let old: Value? = round == 0 ? nil : .int(Int64(round))
        box.add(try notice(revision, origin, "k\(index)", from: old, to: .int(Int64(round + 1))))
      }
    }
    var state: [KeyName: Value] = [:]
    for notice in takeAll() {
      for change in notice.changes {
        #expect(change.old == state[change.key])
        state[change.key] = change.new
      }
    }
    #expect(state.count == keys && state.values.allSatisfy { $0 == .int(Int64(rounds)) })
  }
}
