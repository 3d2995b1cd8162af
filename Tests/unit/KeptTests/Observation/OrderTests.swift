// Order and completeness, with many writers in tasks and processes: every notice covers whole consecutive transactions,
// in order, and together they lead to the last state.

import Kept
import Testing

@Suite(.timeLimit(.minutes(30))) struct `What a sequence yields` {
  /// Each transaction writes the same new number to both halves of some pairs.
  private static let pairs = 16
  private static let ownTransactions = 2 * 600
  private static let otherTransactions = 3 * 600

  @Test(arguments: [UInt64(1), 2])
  func `is every transaction, whole and in order`(seed: UInt64) async throws {
    let folder = try SharedFolder()
    let here = try folder.store()
    let writers = [here, here, try folder.store(), try folder.store(), try folder.store()]
    let notices = here.notices(prefix: "p.")
    let child = try OtherProcess(opening: folder.location)
    try child.ask((1...500).map { ["set", "p.child", "\($0)"] })
    // Another reader, a slow one.
    let late = here.notices(prefix: "p.")

    let delivered = try await withThrowingTaskGroup(of: Void.self) { group in
      for (number, store) in writers.enumerated() {
        group.addTask { try Self.write(by: number, to: store, seed) }
      }
      async let delivered = RevisionTracker(of: notices, untilEndOf: writers.count)
      try await group.waitForAll()
      return await delivered
    }
    #expect(try child.finish().count == 500)
    let final = try here.snapshotOfPairs()
    #expect(delivered.state.filter { $0.key != "p.child" } == final.filter { $0.key != "p.child" })
    #expect(delivered.ownNotices == Self.ownTransactions + 2, "each of its own is a notice of its own")
    #expect(delivered.revisions <= Int(try here.currentRevision()))

    let lateDelivered = await RevisionTracker(of: late, untilEndOf: writers.count)
    #expect(lateDelivered.state.filter { $0.key != "p.child" } == final.filter { $0.key != "p.child" })
    #expect(lateDelivered.ownNotices == delivered.ownNotices)
  }

  private static func write(by number: Int, to store: Store, _ seed: UInt64) throws {
    var random = SeededRandom(seed &* 1000 &+ UInt64(number))
    for index in 0..<600 {
      let count = Int.random(in: 1...3, using: &random)
      let chosen = Set((0..<count).map { _ in Int.random(in: 0..<pairs, using: &random) })
      let value = Value.int(Int64(number * 1_000_000 + index))
      try store.transaction { transaction in
        for pair in chosen.sorted() {
          try transaction.set(value, forKey: "p.\(pair).left")
          try transaction.set(value, forKey: "p.\(pair).right")
        }
      }
    }
    try store.set(true, forKey: "p.end.\(number)")
  }
}

/// The state that a reader builds from its notices, checked at each notice.
private struct RevisionTracker {
  var state: [String: Value] = [:]
  var ownNotices = 0
  var revisions = 0
  private var newest: [Int64: Int64] = [:]

  init(of notices: Store.Notices, untilEndOf writers: Int) async {
    var delivered: Revision = 0
    for await notice in notices {
      #expect(notice.revisions.lowerBound > delivered, "backwards or twice")
      #expect(!notice.mayHaveMissed)
      delivered = notice.revision
      if notice.origin == .store { ownNotices += 1 }
      if notice.origin == .store { #expect(notice.revisions.count == 1) }
      revisions += notice.revisions.count
      apply(notice)
      if state.keys.filter({ $0.hasPrefix("p.end.") }).count == writers { return }
    }
  }

  private mutating func apply(_ notice: Notice) {
    for change in notice.changes {
      #expect(change.old == state[change.key.text], "old is the value delivered before")
      state[change.key.text] = change.new
      follow(change)
    }
    let halves = notice.changes.compactMap { change -> String? in
      let key = change.key.text
      return key.hasSuffix(".left") ? String(key.dropLast(5)) : nil
    }
    for pair in halves { #expect(state[pair + ".left"] == state[pair + ".right"], "a part of \(notice.revisions)") }
    for change in notice.changes where change.key.text.hasSuffix(".right") {
      let pair = String(change.key.text.dropLast(6))
      #expect(state[pair + ".left"] == change.new, "a part of \(notice.revisions)")
    }
  }

  /// A writer's numbers grow, so for one key none is delivered after a later one.
  private mutating func follow(_ change: Change) {
    guard case .int(let old)? = change.old, case .int(let new)? = change.new else { return }
    if old / 1_000_000 == new / 1_000_000 { #expect(new > old, "backwards at \(change.key)") }
  }
}

extension Store {
  /// The stored values of all pairs.
  fileprivate func snapshotOfPairs() throws -> [String: Value] {
    var all: [String: Value] = [:]
    for key in try keys(prefix: "p.") { all[key] = try value(forKey: key) }
    return all
  }
}
