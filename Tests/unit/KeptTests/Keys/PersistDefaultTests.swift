// Defaults that a read stores: when, which, and what happens to a value that cannot be read.

import FoundationEssentials
import Kept
import Synchronization
import Testing

@Suite struct `A default that is written back` {
  let test = TestStore()
  var settings: Store { test.store }

  private func key(_ persist: PersistDefault) -> Key<Int> { Key("volume", default: 50, persistDefault: persist) }

  @Test(arguments: PersistDefault.allCases)
  func `is stored where there is no value only if that was asked for`(_ persist: PersistDefault) throws {
    #expect(settings[key(persist)] == 50)
    let isStored = persist == .whenAbsent || persist == .both
    #expect(try settings.value(forKey: "volume") == (isStored ? 50 : nil))
    #expect(try settings.keys() == (isStored ? ["volume"] : []))
    #expect(test.takeReported().isEmpty)
  }

  @Test func `is stored by a read that throws, by one in a transaction, and in a file`() throws {
    #expect(try settings.value(for: key(.whenAbsent)) == 50)
    #expect(try settings.revision(of: key(.never)) == 1)
    try settings.remove(key(.never))
    try settings.transaction { #expect($0[key(.whenAbsent)] == 50) }
    #expect(try settings.contains(key(.never)))
    try settings.set(7, for: key(.never))
    try settings.transaction { transaction in
      try transaction.remove(key(.never))
      #expect(transaction[key(.whenAbsent)] == 50)
    }
    #expect(settings[key(.never)] == 50)
    let folder = try SharedFolder()
    let (writer, reader) = (try folder.store(), try folder.store())
    for _ in 1...3 {
      let id = Key("id", default: UUID(), persistDefault: .whenAbsent)
      #expect(try writer.value(for: id).uuidString == reader.value(forKey: "id")?.json.filter { $0 != "\"" })
    }
    #expect(try writer.currentRevision() == 1)
  }

  @Test func `gives way to a writer who was faster`() {
    let settings = settings
    let key = Key(
      "id",
      default: {
        settings[Key("id", default: 0)] = 7
        return 1
      }(), persistDefault: .whenAbsent)
    #expect(settings[key] == 7)
    #expect(settings[key] == 7)
  }

  @Test func `is not a layer's below the key's own`() throws {
    try settings.register(70, for: key(.never))
    #expect(settings[key(.both)] == 70)
    #expect(try settings.keys() == [])
  }

  @Test(arguments: PersistDefault.allCases)
  func `takes the place of what cannot be read only if that was asked for`(_ persist: PersistDefault) throws {
    try settings.set("loud", forKey: "volume")
    let isReplaced = persist == .onError || persist == .both
    _ = failure(.wrongType) { _ = try settings.value(for: key(persist)) }
    #expect(try settings.value(forKey: "volume") == "loud", "a call that throws leaves it")
    #expect(settings[key(persist)] == 50)
    #expect(test.takeReported().map(\.code) == [.wrongType])
    #expect(try settings.value(forKey: "volume") == (isReplaced ? 50 : "loud"))
    #expect(try settings.value(forKey: "volume.quarantined") == (isReplaced ? "loud" : nil))
    #expect(try settings.currentRevision() == (isReplaced ? 2 : 1), "in one commit")
  }

  @Test func `replaces in a transaction, with nil by removing, and keeps the newest in quarantine`() throws {
    try settings.set("loud", forKey: "volume")
    try settings.transaction { #expect($0[key(.onError)] == 50) }
    #expect(try settings.value(forKey: "volume.quarantined") == "loud")
    try settings.set(true, forKey: "volume")
    #expect(settings[Setting<Int?>.quiet] == nil)
    #expect(try settings.keys() == ["volume.quarantined"])
    #expect(try settings.value(forKey: "volume.quarantined") == true)
  }

  @Test func `leaves a secret, and a key whose quarantine would have no name, as they are`() throws {
    try settings.setJSON(#""hunter2""#, forKey: "token")
    try settings.declare(Key<String?>("token", secret: true))
    let token = Key("token", default: 1, persistDefault: .onError)
    #expect(settings[token] == 1)
    #expect(try settings.value(forKey: "token") == "hunter2")
    #expect(try settings.keys() == ["token"])
    let long = String(repeating: "k", count: 1020)
    try settings.set("loud", forKey: long)
    #expect(settings[Key(long, default: 1, persistDefault: .both)] == 1)
    #expect(try settings.value(forKey: long) == "loud")
    let received = test.takeReported()
    #expect(received.map(\.code) == [.wrongType, .unsupported, .wrongType, .invalid])
    #expect(!received.map(\.description).joined().contains("hunter2"))
  }

  @Test func `is read all the same where it cannot be stored`() throws {
    let date = Key("date", default: Date(timeIntervalSinceReferenceDate: 1e15), persistDefault: .both)
    #expect(settings[date].timeIntervalSinceReferenceDate == 1e15)
    #expect(try settings.value(for: date).timeIntervalSinceReferenceDate == 1e15)
    settings.close()
    #expect(settings[key(.both)] == 50)
    #expect(test.takeReported().map(\.code) == [.invalid, .invalid, .closed])
  }
}

extension Setting where Value == Int? {
  fileprivate static var quiet: Key<Int?> { Key("volume", default: nil, persistDefault: .onError) }
}

@Suite(.timeLimit(.minutes(30))) struct `Writing a default back` {
  @Test func `the first read of an optional whose default is nil does not deadlock`() throws {
    let settings = TestStore().store
    let name = Key<String?>("name", default: nil, persistDefault: .both)
    let subscription = try settings.observe(name) { _ in _ = settings[name] }
    #expect(settings[name] == nil)
    #expect(try settings.keys() == [])
    subscription.cancel()
  }

  @Test func `a listener may remove the key while its default is written`() async throws {
    let settings = TestStore().store
    let id = Key("id", default: 1, persistDefault: .whenAbsent)
    let (rounds, feed) = AsyncStream.makeStream(of: Int.self)
    let subscription = try settings.observe(id) { change in
      if change.event == .set { _ = try? settings.remove(id) }
      feed.yield(change.event == .set ? 1 : 2)
    }
    #expect(settings[id] == 1)
    var received = rounds.makeAsyncIterator()
    #expect(await received.next(isolation: #isolation) == 1)
    #expect(await received.next(isolation: #isolation) == 2)
    #expect(try settings.keys() == [])
    subscription.cancel()
  }
}
