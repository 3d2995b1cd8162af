// A coalesced notice has a tag only if all commits that it covers have this tag, including those without a net effect.

@testable import KeptSystem
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite(.timeLimit(.minutes(30))) struct `The tag of merged notices` {
  let folder: TemporaryFolder
  let here: Store
  let one: Store
  let other: Store
  let received = ReceivedNotices()
  init() throws {
    folder = try TemporaryFolder()
    let path = folder.path + "/store"
    // Nothing is delivered before the test allows it, and queued notices are coalesced.
    var options = StoreOptions()
    options.isHostDriven = true
    here = Store(storage: try LocalStorage(path: path), options: options)
    one = Store(storage: try LocalStorage(path: path), options: StoreOptions(tag: "one"))
    other = Store(storage: try LocalStorage(path: path), options: StoreOptions(tag: "other"))
  }

  /// Lets this process find several commits of others at once.
  private func together(_ commits: () throws -> Void) throws {
    try here.shared.feed.publish { _ in
      try commits()
      return Publication(commits: [])
    }
    try here.shared.feed.advance()
  }

  @Test func `is absent where the value of another writer was replaced`() throws {
    let subscription = try here.observe(.key(key("a")), received.add)
    try together { try one.set(1, forKey: "a") }
    try together {
      try other.set(2, forKey: "a")
      try one.set(1, forKey: "a")
    }
    try together { try one.set(3, forKey: "a") }
    #expect(try here.hostDelivery().dispatch(atMost: .max) == 1)
    let notices = received.all
    #expect(notices.map(\.revisions) == [1...4])
    #expect(notices.flatMap(\.changes) == [Change(key: try key("a"), old: nil, new: 3)])
    #expect(notices.map(\.tag) == [nil])
    subscription.cancel()
  }

  @Test func `is the writer's where others have changed other keys`() throws {
    let subscription = try here.observe(.key(key("a")), received.add)
    for value in 1...2 {
      try together { try one.set(.int(Int64(value)), forKey: "a") }
      try together { try other.set(.int(Int64(value)), forKey: "b") }
    }
    #expect(try here.hostDelivery().dispatch(atMost: .max) == 1)
    #expect(received.all.map(\.tag) == ["one"])
    subscription.cancel()
  }

  @Test func `is absent under a prefix, too`() throws {
    let subscription = try here.observe(.prefix("p."), received.add)
    try together { try one.set(1, forKey: "p.a") }
    try together {
      try other.set(2, forKey: "p.b")
      try other.remove("p.b")
    }
    try together { try one.set(3, forKey: "p.a") }
    #expect(try here.hostDelivery().dispatch(atMost: .max) == 1)
    #expect(received.all.map(\.tag) == [nil])
    subscription.cancel()
  }

  @Test func `is not delivered for changes that cancel out`() throws {
    let subscription = try here.observe(.key(key("a")), received.add)
    try together {
      try other.set(2, forKey: "a")
      try other.remove("a")
    }
    #expect(try here.hostDelivery().dispatch(atMost: .max) == 0)
    subscription.cancel()
  }
}
