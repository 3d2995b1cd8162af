// Groups of settings with enums as keys: their names, reading and writing, and that no two share a key.

import Foundation
import Kept
import Synchronization
import Testing

private struct Sample: SettingsGroup {
  enum Keys: String, GroupKey {
    case userName
    case visits = "visit count"
    case link, blob, date, list, members, on, share
  }
  let store: Store
}

private struct Custom: SettingsGroup {
  enum Keys: String, GroupKey {
    case userName
    var uniqueValue: String { "Custom.\(rawValue)" }
  }
  let store: Store
}

private struct Books: SettingsGroup {
  enum Keys: String, GroupKey { case id, pages, long = "" }
  let store: Store
}

private struct Comics: SettingsGroup {
  enum Keys: String, GroupKey { case id }
  let store: Store
}

private struct Films: SettingsGroup {
  enum Keys: String, GroupKey { case id }
  static var namespace: String? { "film" }
  let store: Store
}

@Suite struct SettingsGroupTests {
  @Test func `the raw values of an enum are the keys, or what it says instead`() throws {
    let settings = TestStore().store
    try Sample(store: settings).set("Tom", forKey: .userName)
    try Sample(store: settings).set(3, forKey: .visits)
    try Custom(store: settings).set("Ada", forKey: .userName)
    #expect(try settings.keys() == ["Custom.userName", "userName", "visit count"])
    #expect(try Sample(store: settings).string(forKey: .userName) == "Tom")
    #expect(try Custom(store: settings).string(forKey: .userName) == "Ada")
  }

  @Test func `each getter is nil where nothing is stored, and reads its kind`() throws {
    let group = Sample(store: TestStore().store)
    #expect(try group.string(forKey: .userName) == nil && group.integer(forKey: .visits) == nil)
    #expect(try group.double(forKey: .share) == nil && group.float(forKey: .share) == nil)
    #expect(try group.bool(forKey: .on) == nil && group.url(forKey: .link) == nil)
    #expect(try group.data(forKey: .blob) == nil && group.date(forKey: .date) == nil)
    #expect(try group.array(forKey: .list) == nil && group.stringArray(forKey: .list) == nil)
    #expect(try group.dictionary(forKey: .members) == nil && group.object(forKey: .members) == nil)
    let (url, date) = (try #require(URL(string: "urn:isbn:0")), Date(timeIntervalSince1970: 1))
    try group.set("Tom", forKey: .userName)
    try group.set(3, forKey: .visits)
    try group.set(0.5, forKey: .share)
    try group.set(true, forKey: .on)
    try group.set(url, forKey: .link)
    try group.set(Data([1]), forKey: .blob)
    try group.set(date, forKey: .date)
    try group.set(["a", "b"], forKey: .list)
    try group.set(["a": 1], forKey: .members)
    #expect(try group.string(forKey: .userName) == "Tom" && group.integer(forKey: .visits) == 3)
    #expect(try group.double(forKey: .share) == 0.5 && group.float(forKey: .share) == 0.5)
    #expect(try group.bool(forKey: .on) == true && group.url(forKey: .link) == url)
    #expect(try group.data(forKey: .blob) == Data([1]) && group.date(forKey: .date) == date)
    #expect(try group.array(forKey: .list) == ["a", "b"] && group.stringArray(forKey: .list) == ["a", "b"])
    #expect(try group.dictionary(forKey: .members) == ["a": 1] && group.object(forKey: .members) == ["a": 1])
    #expect(try group.value([String: Int].self, forKey: .members) == ["a": 1])
  }

  @Test func `another kind is an error, never 0 or a parsed text, and stays as it is`() throws {
    let group = Sample(store: TestStore().store)
    try group.set("5", forKey: .visits)
    let sentence = #""visit count": holds a string, not "#
    #expect(failure(.wrongType) { _ = try group.integer(forKey: .visits) } == sentence + "an int")
    #expect(failure(.wrongType) { _ = try group.bool(forKey: .visits) } == sentence + "a bool")
    #expect(failure(.wrongType) { _ = try group.double(forKey: .visits) } == sentence + "a double")
    #expect(failure(.wrongType) { _ = try group.float(forKey: .visits) } == sentence + "a double")
    #expect(failure(.wrongType) { _ = try group.data(forKey: .visits) } == sentence + "bytes")
    #expect(failure(.wrongType) { _ = try group.array(forKey: .visits) } == sentence + "an array")
    #expect(failure(.wrongType) { _ = try group.dictionary(forKey: .visits) } == sentence + "a dictionary")
    #expect(try group.object(forKey: .visits) == "5")
    try group.set(12.34, forKey: .share)
    _ = failure(.wrongType) { _ = try group.integer(forKey: .share) }
    try group.set(["a", 1] as [Value], forKey: .list)
    #expect(failure(.wrongType) { _ = try group.stringArray(forKey: .list) }.contains("at [1]: holds an int"))
    #expect(try group.array(forKey: .list) == ["a", 1])
  }

  @Test func `nil and remove take a value away`() throws {
    let group = Sample(store: TestStore().store)
    try group.set(3, forKey: .visits)
    try group.set(nil as Int?, forKey: .visits)
    #expect(try group.object(forKey: .visits) == nil)
    #expect(try !group.remove(.visits))
    try group.set(3, forKey: .visits)
    #expect(try group.remove(.visits))
    #expect(try group.store.keys() == [])
  }

  @Test func `two groups that use one key are a type conflict, whatever is stored`() throws {
    let settings = TestStore().store
    let (books, comics) = (Books(store: settings), Comics(store: settings))
    #expect(try books.integer(forKey: .id) == nil)
    let sentence = failure(.typeConflict) { try comics.set(10, forKey: .id) }
    #expect(sentence.hasPrefix("\"id\": is a key of both KeptTests."))
    #expect(sentence.contains("Books") && sentence.contains("Comics") && sentence.contains("namespace"))
    _ = failure(.typeConflict) { _ = try comics.integer(forKey: .id) }
    _ = failure(.typeConflict) { _ = try comics.object(forKey: .id) }
    _ = failure(.typeConflict) { try comics.remove(.id) }
    #expect(try settings.value(forKey: "id") == nil, "nothing was written")
    try Books(store: settings).set(5, forKey: .id)
    #expect(try books.integer(forKey: .id) == 5)
    _ = failure(.invalid) { _ = try books.integer(forKey: .long) }
  }

  @Test func `a namespace keeps the keys of a group apart`() throws {
    let settings = TestStore().store
    try Books(store: settings).set(5, forKey: .id)
    try Films(store: settings).set(10, forKey: .id)
    #expect(try Books(store: settings).integer(forKey: .id) == 5)
    #expect(try settings.keys() == ["film.id", "id"])
  }

  @Test func `a key is one group's at a location, in every store on it, until all are closed`() throws {
    let location = "memory:groups-\(UUID())"
    let (first, second) = (try Store.open(location), try Store.open(location))
    _ = try Books(store: first).integer(forKey: .id)
    _ = failure(.typeConflict) { _ = try Comics(store: second).integer(forKey: .id) }
    #expect(try Comics(store: TestStore().store).integer(forKey: .id) == nil, "another location is another matter")
    first.close()
    _ = failure(.typeConflict) { _ = try Comics(store: second).integer(forKey: .id) }
    second.close()
    #expect(try Comics(store: try Store.open(location)).integer(forKey: .id) == nil)
  }

  @Test func `when threads race with two groups, one group gets the key`() async throws {
    for _ in 1...50 {
      let settings = TestStore().store
      let conflicts = await withTaskGroup { threads in
        for number in 0..<8 {
          threads.addTask {
            let isBook = number % 2 == 0
            do throws(StoreError) {
              if isBook { try Books(store: settings).set(1, forKey: .id) }
              if !isBook { try Comics(store: settings).set(2, forKey: .id) }
              return nil as Bool?
            } catch { return error.code == .typeConflict ? isBook : nil }
          }
        }
        return await threads.reduce(into: [Bool]()) { if let loser = $1 { $0.append(loser) } }
      }
      #expect(conflicts == [Bool](repeating: conflicts.first ?? true, count: 4))
      #expect(try settings.value(forKey: "id") == (conflicts.first == true ? 2 : 1))
    }
  }

  @Test func `its keys work with everything else that a store can do`() throws {
    let group = Sample(store: TestStore().store)
    try group.store.declare(try group.key(.visits, as: Int.self))
    _ = failure(.wrongType) { try group.set("x", forKey: .visits) }
    let received = Mutex<[Int?]>([])
    let token = try group.store.observe(try group.key(.visits, as: Int.self), initial: true) { change in
      received.withLock { $0.append(change.new) }
    }
    token.cancel()
    #expect(received.withLock { $0 } == [nil])
  }
}
