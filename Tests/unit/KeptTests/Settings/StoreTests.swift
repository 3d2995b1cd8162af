// Stores and keys as in the reference libraries: shared, independent, typed, and throwing on request.

import FoundationEssentials
import Kept
import Testing

extension Keys {
  fileprivate static let volume = Key("audio.volume", default: 50)
  fileprivate static let name = Key<String?>("name")
  fileprivate static let recent = Key<[String: Int]>("recent", default: [:])
}

@Suite(.timeLimit(.minutes(30))) struct `A store and its keys` {
  @Test func `opened twice is one, in memory and in a file`() async throws {
    let folder = try SharedFolder()
    for location in ["memory:opened-twice-\(folder.location.hashValue)", folder.location] {
      let (one, two) = (try Store.open(location), try Store.open(location))
      var received = two.notices().makeAsyncIterator()
      one[.volume] = 70
      #expect(two[.volume] == 70)
      #expect(await received.next(isolation: #isolation)?.origin == .process)
      one.close()
      #expect(two[.volume] == 70)
      two.close()
    }
  }

  @Test func `two objects on one file receive each other's changes`() async throws {
    let folder = try SharedFolder()
    let (one, two) = (try folder.store(), try folder.store())
    var received = two.changes(of: .volume).makeAsyncIterator()
    one[.volume] = 70
    #expect(await received.next(isolation: #isolation)?.new == 70)
    #expect(two[.volume] == 70)
  }

  @Test func `on a storage of its own is independent of every other one`() {
    let (one, two) = (Store(storage: MemoryStorage()), Store(storage: MemoryStorage()))
    one[.volume] = 70
    #expect(two[.volume] == 50)
  }

  @Test func `has its keys in one namespace, with the types of their defaults`() {
    let settings = TestStore().store
    let volume: Key<Int> = .volume
    #expect(Keys.volume === volume && volume.name == "audio.volume")
    settings[.volume] += 1
    #expect(settings[.volume] == 51)
  }

  @Test func `reads and writes by subscript and by name`() throws {
    let settings = TestStore().store
    try settings.set("Ada", for: .name)
    #expect(try settings.value(for: .name) == "Ada")
    #expect(settings[.name] == "Ada")
    settings[.name] = "Grace"
    #expect(try settings.value(for: .name) == "Grace")
  }

  @Test func `throws by name, and by subscript gives the default and calls the error handler`() throws {
    let test = TestStore()
    try test.store.set(true, forKey: "audio.volume")
    _ = failure(.wrongType) { _ = try test.store.value(for: .volume) }
    #expect(test.takeReported().isEmpty)
    #expect(test.store[.volume] == 50)
    #expect(test.takeReported().map(\.code) == [.wrongType])
    test.store.close()
    _ = failure(.closed) { try test.store.set(1, for: .volume) }
    #expect(test.takeReported().isEmpty)
    test.store[.volume] = 1
    #expect(test.takeReported().map(\.code) == [.closed])
  }

  @Test func `drops nothing from a dictionary silently`() throws {
    let test = TestStore()
    try test.store.setJSON(#"{"a":1,"b":"two"}"#, forKey: "recent")
    let words = failure(.wrongType) { _ = try test.store.value(for: .recent) }
    #expect(words.contains("b"))
    #expect(test.store[.recent] == [:])
    #expect(try test.store.json(forKey: "recent") == #"{"a":1,"b":"two"}"#)
  }
}
