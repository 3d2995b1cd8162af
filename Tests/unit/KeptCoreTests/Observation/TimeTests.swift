// The time of a notice is that of the last commit that it covers, whenever it is noticed. Without a commit it is the
// time at which the change was noticed.

import Foundation
@testable import KeptSystem
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite(.timeLimit(.minutes(30))) struct `The time of a notice` {
  let folder: TemporaryFolder
  let here: Store
  let there: Store
  let received = ReceivedNotices()
  init() throws {
    folder = try TemporaryFolder()
    // Nothing is delivered before the test allows it.
    var options = StoreOptions()
    options.isHostDriven = true
    here = Store(storage: try LocalStorage(path: folder.path + "/store"), options: options)
    there = Store(storage: try LocalStorage(path: folder.path + "/store"))
  }

  /// Returns from when to when `body` ran.
  private func span(_ body: () throws -> Void) throws -> ClosedRange<Timestamp> {
    let start = Timestamp.now
    try body()
    return start...Timestamp.now
  }

  /// Lets this process find several commits of others at once.
  private func together(_ commits: () throws -> Void) throws {
    try here.shared.feed.publish { _ in
      try commits()
      return Publication(commits: [])
    }
    try here.shared.feed.advance()
  }

  /// Delivers what is due, once there is something: the thread that waits for commits may have found them first, and be
  /// about to put them into the queue.
  private func deliver() throws -> Int {
    let delivery = try here.hostDelivery()
    var due = pollfd(fd: delivery.descriptor, events: Int16(POLLIN), revents: 0)
    try #require(poll(&due, 1, 60_000) == 1)
    return delivery.dispatch(atMost: .max)
  }

  @Test func `is that of another process's commit, however late it is found`() throws {
    let subscription = try here.observe(.key(key("a")), received.add)
    var time = Timestamp.now...Timestamp.now
    try together { time = try span { try there.set(1, forKey: "a") } }
    #expect(try deliver() == 1)
    #expect(time.contains(received.all[0].time))
    subscription.cancel()
  }

  @Test func `is that of the last commit where several are found at once, or were merged`() throws {
    let subscription = try here.observe(.key(key("a")), received.add)
    var time = Timestamp.now...Timestamp.now
    try together { try there.set(1, forKey: "a") }
    try together {
      try there.set(2, forKey: "a")
      time = try span { try there.set(3, forKey: "a") }
    }
    #expect(try deliver() == 1)
    #expect(received.all.map(\.revisions) == [1...3])
    #expect(time.contains(received.all[0].time))
    subscription.cancel()
  }

  @Test func `is when they were noticed where changes may be missing`() throws {
    let subscription = try here.observe(.key(key("a")), received.add)
    let time = try span {
      try together {
        try there.shared.storage.forgetCommits()
        try there.set(1, forKey: "a")
      }
    }
    #expect(try deliver() == 1)
    #expect(received.all.map(\.mayHaveMissed) == [true])
    #expect(time.contains(received.all[0].time))
    subscription.cancel()
  }

  @Test func `is when the values were read, or the layer changed, where there is no commit`() throws {
    var subscription: Subscription?
    let initial = try span { subscription = try here.observe(.key(key("a")), initial: true, received.add) }
    let registered = try span { try here.register(defaults: ValueDictionary([("a", 1)])) }
    #expect(try deliver() == 1)
    #expect(received.all.map(\.origin) == [.initial, .layer])
    #expect(initial.contains(received.all[0].time) && registered.contains(received.all[1].time))
    subscription?.cancel()
  }

  @Test(arguments: StorageUnderTest.allCases)
  func `lies within the commit, in every storage`(_ kind: StorageUnderTest) throws {
    let store = Store(storage: try kind.open(in: folder))
    let subscription = try store.observe(.key(key("a")), received.add)
    let times = try (1...3).map { value in try span { try store.set(.int(value), forKey: "a") } }
    for (time, notice) in zip(times, received.first(3)) { #expect(time.contains(notice.time)) }
    subscription.cancel()
    store.close()
  }

  @Test func `is that of the commit after a crash, too`() throws {
    let storage = try LocalStorage(path: folder.path + "/crashed")
    try storage.commit(key("a"), .set(1))
    let time = try span { try storage.commit(key("a"), .set(2)) }
    let changes = try storage.changes(after: 1)
    try FileManager.default.copyItem(atPath: folder.path + "/crashed", toPath: folder.path + "/recovered")
    guard case .changed(let delta) = changes, let found = delta.time else {
      throw StoreError(.failed, "no time was found")
    }
    #expect(time.contains(found))
    let recovered = try LocalStorage(path: folder.path + "/recovered")
    #expect(try recovered.changes(after: 1) == changes)
    storage.close()
  }

  @Test(arguments: [Int64.min, -1_000_000_001, -1_000_000_000, -1, 0, 1, 1_700_000_000_123_456_789, .max])
  func `can be any number of nanoseconds`(count: Int64) throws {
    let time = Timestamp(nanosecondsSince1970: count)
    #expect(0...999_999_999 ~= time.nanoseconds && Timestamp.validSeconds.contains(time.seconds))
    #expect((count &- time.seconds &* 1_000_000_000) == Int64(time.nanoseconds))
    #expect(time.nanosecondsSince1970 == count)
  }
}
