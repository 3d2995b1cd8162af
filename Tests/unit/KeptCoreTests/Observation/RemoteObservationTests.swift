// Commits of other processes are delivered as whole transactions, in order, and coalesced only if necessary.
//
// A store on its own LocalStorage shares no more with the other store here than another process would.

import Foundation
@testable import KeptSystem
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite(.timeLimit(.minutes(30))) struct `An observer of another process` {
  let folder: TemporaryFolder
  let here: Store
  let there: Store
  let received = ReceivedNotices()
  init() throws {
    folder = try TemporaryFolder()
    here = Store(storage: try LocalStorage(path: folder.path + "/store"))
    there = Store(storage: try LocalStorage(path: folder.path + "/store"), options: StoreOptions(tag: "there"))
  }

  @Test func `receives its changes, with old and new, revision, origin and tag`() throws {
    try there.set(1, forKey: "a")
    let subscription = try here.observe(.key(key("a")), received.add)
    try there.set(2, forKey: "a")
    _ = received.first(1)
    try there.remove("a")
    let notices = received.first(2)
    #expect(notices.map(\.revisions) == [2...2, 3...3])
    #expect(notices.flatMap(\.changes).map(\.old) == [1, 2])
    #expect(notices.flatMap(\.changes).map(\.new) == [2, nil])
    #expect(notices.allSatisfy { $0.origin == .otherProcess && $0.tag == "there" && !$0.mayHaveMissed })
    subscription.cancel()
  }

  @Test func `receives earlier commits in a notice before that of its own transaction`() throws {
    // The watcher is blocked, so that the writer here is the first to find the other store's commits.
    let gate = Monitor(false)
    let slow = try here.observe(.key(key("slow"))) { _ in gate.wait { $0 ? () : nil } }
    let subscription = try here.observe(.prefix("p."), received.add)
    try here.set(1, forKey: "slow")
    try there.set(1, forKey: "p.a")
    try there.set(2, forKey: "p.b")
    try here.set(10, forKey: "p.a")
    try there.set(3, forKey: "p.b")
    gate.update { $0 = true }
    let changes = received.wait { notices in notices.last?.revision == 5 ? notices : nil }
    // However they were coalesced, the own transaction is separate, and nothing is delivered twice or out of order.
    let own = try #require(changes.firstIndex { $0.origin == .store })
    #expect(changes[own].revisions == 4...4)
    #expect(changes[own].changes == [Change(key: try key("p.a"), old: 1, new: 10)])
    let before = changes[..<own].flatMap(\.changes)
    #expect(before.last { $0.key.text == "p.a" }?.new == 1)
    #expect(before.last { $0.key.text == "p.b" }?.new == 2)
    #expect(changes[(own + 1)...].flatMap(\.changes) == [Change(key: try key("p.b"), old: 2, new: 3)])
    subscription.cancel()
    slow.cancel()
  }

  @Test func `never receives a part of a transaction, and always the last state, from many writers`() async throws {
    let subscription = try here.observe(.prefix("p."), received.add)
    let stores = [there, Store(storage: try LocalStorage(path: folder.path + "/store")), here]
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (writer, store) in stores.enumerated() {
        group.addTask {
          for index in 0..<150 {
            try store.transaction { transaction in
              let value = Value.int(Int64(writer * 1000 + index))
              try transaction.set(value, forKey: "p.a")
              try transaction.set(value, forKey: "p.b")
            }
          }
        }
      }
      try await group.waitForAll()
    }
    let last = try there.currentRevision()
    let notices = received.wait { notices in notices.last?.revision == last ? notices : nil }
    var state: [String: Value] = [:]
    var delivered: Revision = 0
    for notice in notices {
      #expect(notice.revisions.lowerBound > delivered)
      delivered = notice.revision
      for change in notice.changes {
        #expect(change.old == state[change.key.text], "old is the value delivered before")
        state[change.key.text] = change.new
      }
      #expect(state["p.a"] == state["p.b"], "a part of a transaction at \(notice.revisions)")
    }
    #expect(state["p.a"] == (try there.value(forKey: "p.a")))
    #expect(notices.filter { $0.origin == .store }.count == 150, "each of its own is a notice")
    subscription.cancel()
  }

  @Test func `does not receive changes that cancel out`() throws {
    try there.set(1, forKey: "a")
    let subscription = try here.observe(.prefix(""), received.add)
    try there.set(1, forKey: "a")
    try there.remove("none")
    try there.set(2, forKey: "a")
    #expect(received.first(1)[0].changes == [Change(key: try key("a"), old: 1, new: 2)])
    subscription.cancel()
  }

  @Test func `receives the present state, marked as incomplete, where commits were forgotten`() throws {
    let path = folder.path + "/forgetful"
    let there = Store(storage: try LocalStorage(path: path))
    let here = Store(storage: try LocalStorage(path: path))
    try there.set(0, forKey: "gone")
    let subscription = try here.observe(.prefix(""), received.add)
    // Delivery pauses while several checkpoints are made.
    try here.shared.feed.publish { _ in
      try there.remove("gone")
      try there.shared.storage.forgetCommits()
      try there.set(20, forKey: "a")
      return Publication(commits: [])
    }
    let notice = received.first(1)[0]
    #expect(notice.mayHaveMissed)
    #expect(try notice.revision == there.currentRevision())
    #expect(
      notice.changes.filter { $0.key.text != "forgotten" } == [
        Change(key: try key("a"), old: nil, new: 20), Change(key: try key("gone"), old: 0, new: nil),
      ])
    subscription.cancel()
  }

  @Test func `that is slow delays only itself, and finds its changes merged`() throws {
    let gate = Monitor(false)
    let late = ReceivedNotices()
    let slow = try here.observe(.prefix("")) { notice in
      gate.wait { $0 ? () : nil }
      late.add(notice)
    }
    let quick = try here.observe(.prefix(""), received.add)
    for index in 1...50 {
      try there.set(.int(Int64(index)), forKey: "a")
      // The fast observer receives each notice while the slow one is still handling the first.
      received.wait { notices in notices.last?.changes.last?.new == .int(Int64(index)) ? () : nil }
    }
    gate.update { $0 = true }
    let notices = late.wait { notices in notices.last?.revision == 50 ? notices : nil }
    #expect(notices.count == 2, "the first, and all others as one")
    #expect(notices.last?.changes.count == 1)
    slow.cancel()
    quick.cancel()
  }

  @Test func `receives changes of a new store from the first process on`() throws {
    let subscription = try here.observe(.key(key("a")), initial: true, received.add)
    #expect(received.all.map(\.changes.first?.new) == [nil])
    try there.set(1, forKey: "a")
    #expect(received.first(2)[1].changes.first?.new == 1)
    subscription.cancel()
  }
}

extension ReceivedNotices {
  /// Waits until `body` gives a result.
  func wait<Result>(until body: ([Notice]) -> Result?) -> Result { notices.wait { body($0) } }
}
