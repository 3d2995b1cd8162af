// Changes as sequences: what a loop receives, from when, until when, and what a slow loop receives.

import Kept
import Testing

extension Keys {
  fileprivate static let volume = Key("audio.volume", default: 50)
}

@Suite(.timeLimit(.minutes(30))) struct `A sequence of changes` {
  let test = TestStore()
  var settings: Store { test.store }

  @Test func `yields old and new in the key's type, in order, of a key with dots`() async throws {
    var changes = settings.changes(of: .volume).makeAsyncIterator()
    settings[.volume] = 60
    settings[.volume] = 60
    settings[Key("audio", default: 0)] = 1
    try settings.transaction(tag: "night") { $0[.volume] = 20 }
    try settings.remove(.volume)
    let received = try await changes.take(3)
    #expect(received.map(\.old) == [50, 60, 20])
    #expect(received.map(\.new) == [60, 20, 50])
    #expect(received.map(\.event) == [.set, .set, .removed])
    #expect(received.map(\.revisions) == [1...1, 3...3, 4...4])
    #expect(received.map(\.tag) == [nil, "night", nil])
    #expect(received.allSatisfy { $0.origin == .store && $0.error == nil && !$0.mayHaveMissed })
  }

  @Test func `yields the notices of a prefix, each a transaction`() async throws {
    var notices = settings.notices(prefix: "audio.").makeAsyncIterator()
    try settings.transaction { transaction in
      transaction[.volume] = 60
      try transaction.set(true, forKey: "audio.muted")
      try transaction.set(true, forKey: "video.muted")
    }
    let notice = try await notices.take(1)[0]
    #expect(notice.changes.map(\.key.text) == ["audio.muted", "audio.volume"])
    #expect(notice.changes.map(\.new) == [true, 60])
  }

  @Test func `loses nothing between its making and the first reading`() async throws {
    let changes = settings.changes(of: .volume)
    settings[.volume] = 60
    settings[.volume] = 70
    var reader = changes.makeAsyncIterator()
    settings[.volume] = 80
    #expect(try await reader.take(3).map(\.new) == [60, 70, 80])
  }

  @Test func `has its second reader begin where it begins`() async throws {
    let changes = settings.changes(of: .volume, initial: true)
    settings[.volume] = 60
    var first = changes.makeAsyncIterator()
    var second = changes.makeAsyncIterator()
    settings[.volume] = 70
    #expect(try await first.take(3).map(\.new) == [50, 60, 70])
    #expect(try await second.take(2).map(\.new) == [60, 70])
  }

  @Test func `yields the value at its making first, on request`() async throws {
    settings[.volume] = 60
    let changes = settings.changes(of: .volume, initial: true)
    let notices = settings.notices(prefix: "", initial: true)
    settings[.volume] = 70
    var reader = changes.makeAsyncIterator()
    let received = try await reader.take(2)
    #expect(received.map(\.isInitial) == [true, false])
    #expect(received.map(\.old) == [60, 60] && received.map(\.new) == [60, 70])
    var whole = notices.makeAsyncIterator()
    #expect(try await whole.take(2).map(\.origin) == [.initial, .store])
  }

  @Test func `yields the default for a value of another type, with the reason`() async throws {
    var changes = settings.changes(of: .volume).makeAsyncIterator()
    try settings.set("loud", forKey: "audio.volume")
    let change = try await changes.take(1)[0]
    #expect(change.new == 50 && change.event == .set)
    #expect(change.error?.description == #""audio.volume": holds a string, not an int"#)
    #expect(test.takeReported().isEmpty)
  }

  @Test func `may be read on the main actor, and written there in the loop`() async throws {
    let last = await countToThree(settings)
    #expect(last == 3)
  }

  @Test func `is woken every time, by tasks that answer each other`() async throws {
    let settings = settings
    let (ping, pong) = (Key("ping", default: 0), Key("pong", default: 0))
    let pings = settings.changes(of: ping)
    let pongs = settings.changes(of: pong)
    let answering = Task {
      for await change in pings { settings[pong] = change.new }
    }
    settings[ping] = 1
    for await change in pongs {
      #expect(change.new == change.old + 1)
      if change.new == 5000 { break }
      settings[ping] = change.new + 1
    }
    answering.cancel()
    await answering.value
  }

  @Test @MainActor func `divides its changes among the copies of an iterator, and loses none`() async throws {
    let reader = settings.changes(of: .volume).makeAsyncIterator()
    let readings = (0..<2).map { _ in
      Task { @MainActor in
        var own = reader
        return await own.next(isolation: #isolation)?.new
      }
    }
    await Task.yield()
    settings[.volume] = 60
    settings[.volume] = 70
    var received: [Int?] = []
    for reading in readings { received.append(await reading.value) }
    #expect(Set(received) == [60, 70])
  }

  @MainActor private func countToThree(_ settings: Store) async -> Int {
    for await change in settings.changes(of: .volume, initial: true) {
      MainActor.assertIsolated()
      if change.new == 3 { return change.new }
      settings[.volume] = change.isInitial ? 1 : change.new + 1
    }
    return 0
  }

  @Test func `has one end for many readers, and each receives everything`() async throws {
    let settings = settings
    await withTaskGroup(of: [Int].self) { group in
      for _ in 0..<100 {
        let changes = settings.changes(of: .volume)
        group.addTask { await changes.reduce(into: []) { received, change in received.append(change.new) } }
      }
      let notices = settings.notices()
      group.addTask {
        // Closes the store when it has received the last change: then nothing is queued for the others any more.
        var received: [Int] = []
        for await _ in notices {
          received.append(received.count + 1)
          if received.count == 20 { break }
        }
        return received
      }
      for value in 1...20 { settings[.volume] = value }
      #expect(await group.next() == Array(1...20))
      for _ in 0..<99 { settings[.volume] += 1 }
      group.cancelAll()
      for await received in group { #expect(received == Array((1...119).prefix(received.count))) }
    }
  }
}

@Suite(.timeLimit(.minutes(30))) struct `The end of a sequence` {
  let test = TestStore()
  var settings: Store { test.store }

  @Test func `comes with the closing of its store`() async throws {
    for _ in 0..<200 {
      let settings = TestStore().store
      let changes = settings.changes(of: .volume)
      // It may be asleep by then, or come too late: both end.
      async let received = changes.reduce(into: 0) { received, _ in received += 1 }
      settings.close()
      #expect(await received == 0)
    }
  }

  @Test func `comes with its task's, whether it waits or receives`() async throws {
    let settings = settings
    for round in 0..<500 {
      let changes = settings.changes(of: .volume)
      let reading = Task { await changes.reduce(into: []) { received, change in received.append(change.new) } }
      settings[.volume] = 2 * round
      if round % 2 == 0 { await Task.yield() }
      reading.cancel()
      settings[.volume] = 2 * round + 1
      let received = await reading.value
      #expect(received == Array([2 * round, 2 * round + 1].prefix(received.count)))
    }
  }

  @Test func `comes at once for a closed store or an invalid key, and the error handler receives the reason`() async {
    for await _ in settings.changes(of: Key("", default: 0)) { Issue.record("nothing can be received") }
    #expect(test.takeReported().map(\.code) == [.invalid])
    settings.close()
    for await _ in settings.changes(of: .volume) { Issue.record("nothing can be received") }
    #expect(test.takeReported().map(\.code) == [.closed])
  }

  @Test func `releases the store, which was open until then without any other reference`() async throws {
    weak var store: Store?
    let other = try Store.open("memory:sequence")
    do {
      var changes: Store.Notices.Iterator
      do {
        let settings = try Store.open("memory:sequence")
        store = settings
        changes = settings.notices().makeAsyncIterator()
      }
      other[.volume] = 60
      #expect(try await changes.take(1).map(\.origin) == [.process])
      #expect(store != nil)
    }
    #expect(store == nil, "an iterator that is dropped keeps nothing")
  }

  @Test func `needs no reader`() throws {
    weak var store: Store?
    do {
      let settings = TestStore().store
      store = settings
      let changes = settings.changes(of: .volume)
      settings[.volume] = 60
      withExtendedLifetime(changes) {}
    }
    #expect(store == nil)
  }
}

@Suite(.timeLimit(.minutes(30))) struct `A sequence of what other processes change` {
  let folder: SharedFolder
  let here: Store
  let there: Store
  init() throws {
    folder = try SharedFolder()
    here = try folder.store()
    there = try folder.store(tag: "there")
  }

  @Test func `has the origin of each change`() async throws {
    var changes = here.changes(of: .volume).makeAsyncIterator()
    there[.volume] = 60
    let remote = try await changes.take(1)[0]
    #expect(remote.old == 50 && remote.new == 60)
    #expect(remote.origin == .otherProcess && remote.tag == "there" && remote.revisions == 1...1)
    here[.volume] = 70
    let local = try await changes.take(1)[0]
    #expect(local.old == 60 && local.new == 70 && local.origin == .store && local.tag == nil)
  }

  @Test func `receives changes of a child process`() async throws {
    let changes = here.changes(of: .volume)
    let child = try OtherProcess(opening: folder.location)
    try child.ask((1...200).map { ["set", "audio.volume", "\($0)"] })
    var last = 50
    for await change in changes {
      #expect(change.old == last && change.new > (last == 50 ? 0 : last) && change.origin == .otherProcess)
      last = change.new
      if last == 200 { break }
    }
    #expect(try child.finish() == Array(repeating: "ok", count: 200))
  }

  @Test func `is merged for a slow reader, who finds the last state`() async throws {
    var slow = here.notices(prefix: "audio.").makeAsyncIterator()
    var quick = here.notices(prefix: "audio.").makeAsyncIterator()
    for value in 1...50 {
      try there.transaction { transaction in
        transaction[.volume] = value
        try transaction.set(.int(Int64(value)), forKey: "audio.balance")
      }
    }
    try there.remove("audio.balance")
    while try await quick.take(1)[0].revision < 51 {}
    // What the fast one has received is queued for the slow one, as one notice. A key with its old value is not a
    // change.
    let notices = try await slow.take(1)
    #expect(notices.map(\.revisions) == [1...51])
    #expect(notices[0].changes == [Change(key: try KeyName("audio.volume"), old: nil, new: 50)])
    #expect(notices[0].tag == "there" && !notices[0].mayHaveMissed)
  }

  @Test func `stays bounded for a reader who never comes, and ends in the last state`() async throws {
    let changes = here.changes(of: .volume)
    let writes = 10_000
    for value in 1...writes { here[.volume] = value + 50 }
    var last = 50
    var count = 0
    for await change in changes {
      #expect(change.old == last)
      last = change.new
      count += 1
      if last == writes + 50 { break }
    }
    #expect(count <= 4097)
  }
}

extension AsyncIteratorProtocol where Failure == Never {
  /// The next elements.
  mutating func take(
    _ count: Int, isolation: isolated (any Actor)? = #isolation
  ) async throws -> [Element] {
    var taken: [Element] = []
    while taken.count < count { taken.append(try #require(await next(isolation: isolation))) }
    return taken
  }
}
