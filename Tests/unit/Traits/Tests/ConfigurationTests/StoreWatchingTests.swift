// What swift-configuration receives from a store: each change, from every process, until the watch ends.

import Configuration
import Foundation
import Kept
import KeptValues
import Testing

@Suite(.timeLimit(.minutes(30))) struct `A watcher of a key` {
  @Test func `receives the present value, and then each change`() async throws {
    let store = Store(storage: MemoryStorage())
    let config = ConfigReader(provider: StoreProvider(store))
    try await config.watchInt(forKey: "http.timeout") { updates in
      var states = States(updates)
      #expect(try await states.take() == nil)
      try store.set(5, forKey: "http.timeout")
      #expect(try await states.take() == 5)
      try store.set("x", forKey: "http.host")
      try store.set(6, forKey: "http.timeout")
      #expect(try await states.take() == 6)
      try store.remove("http.timeout")
      #expect(try await states.take() == nil)
    }
  }

  @Test func `misses states when it is slow, and never the last`() async throws {
    let store = Store(storage: MemoryStorage())
    try await ConfigReader(provider: StoreProvider(store)).watchInt(forKey: "count") { updates in
      var states = States(updates)
      for number in 1...1000 { try store.set(.int(Int64(number)), forKey: "count") }
      var last = try await states.take() ?? 0
      while last < 1000 {
        let next = try #require(try await states.take())
        #expect(next >= last)
        last = next
      }
    }
  }

  @Test func `receives changes of another process`() async throws {
    let folder = try SharedFolder()
    let store = try Store.open(folder.location)
    try await ConfigReader(provider: StoreProvider(store)).watchString(forKey: "name") { updates in
      var states = States(updates)
      #expect(try await states.take() == nil)
      try folder.writeElsewhere("name", #""Ada""#)
      #expect(try await states.take() == "Ada")
    }
  }

  @Test func `receives a changed file of a layer, and what it uncovers`() async throws {
    let folder = try SharedFolder()
    let file = folder.file("managed.json")
    let store = try Store.open(folder.location, options: StoreOptions(managed: .path(file)))
    try store.set("Ada", forKey: "name")
    try await ConfigReader(provider: StoreProvider(store)).watchString(forKey: "name") { updates in
      var states = States(updates)
      #expect(try await states.take() == "Ada")
      try #"{"values":{"name":"Eve"}}"#.write(toFile: file, atomically: true, encoding: .utf8)
      #expect(try await states.take() == "Eve")
      try FileManager.default.removeItem(atPath: file)
      #expect(try await states.take() == "Ada")
    }
  }

  @Test func `receives a value of the wrong type as a failure, and goes on`() async throws {
    let store = Store(storage: MemoryStorage())
    try await StoreProvider(store).watchValue(forKey: "timeout", type: .int) { updates in
      var states = States(updates)
      #expect(try await states.take().get().value == nil)
      try store.set("soon", forKey: "timeout")
      let failed = try await states.take()
      #expect { try failed.get() } throws: { StoreError.Code.wrongType ~= $0 }
      try store.set(5, forKey: "timeout")
      #expect(try await states.take().get().value == 5)
    }
  }

  @Test func `of a store without write permission receives the writes of others`() throws {
    let folder = try SharedFolder()
    let store = try Store.open(folder.location)
    try store.set("Ada", forKey: "name")
    let parent = (folder.location as NSString).deletingLastPathComponent
    for path in [parent, folder.location] { try allow(0o755, path) }
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.location) {
      try allow(0o644, folder.location + "/" + name)
    }
    let child = try ChildProcess("kept-watcher", [folder.location, "name"])
    #expect(try child.line() == "Ada")
    try store.set("Eve", forKey: "name")
    try child.write("go on")
    #expect(try child.line() == "Eve")
    #expect(try child.finish() == 0)
  }

  private func allow(_ permissions: Int, _ path: String) throws {
    try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: path)
  }

  @Test func `ends when its task is cancelled`() async throws {
    let store = Store(storage: MemoryStorage())
    let (hasBegun, begun) = AsyncStream<Void>.makeStream()
    let watching = Task {
      try await ConfigReader(provider: StoreProvider(store)).watchInt(forKey: "a") { updates in
        var count = 0
        for await _ in updates {
          count += 1
          begun.yield()
        }
        return count
      }
    }
    for await _ in hasBegun { break }
    watching.cancel()
    #expect(try await watching.value == 1)
    try store.set(1, forKey: "a")
  }

  @Test func `receives that the store was closed, and ends`() async throws {
    let store = Store(storage: MemoryStorage())
    try await StoreProvider(store).watchValue(forKey: "a", type: .int) { updates in
      var states = States(updates)
      _ = try await states.take()
      store.close()
      #expect(await states.isOver())
    }
    try await StoreProvider(store).watchValue(forKey: "a", type: .int) { updates in
      var states = States(updates)
      let first = try await states.take()
      #expect { try first.get() } throws: { StoreError.Code.closed ~= $0 }
      #expect(await states.isOver())
    }
  }

  @Test func `of a key that no store can have receives that error`() async throws {
    let provider = StoreProvider(Store(storage: MemoryStorage()))
    let key = AbsoluteConfigKey([String(repeating: "x", count: 1025)])
    try await provider.watchValue(forKey: key, type: .int) { updates in
      var states = States(updates)
      let first = try await states.take()
      #expect { try first.get() } throws: { StoreError.Code.invalid ~= $0 }
      #expect(await states.isOver())
    }
  }

  @Test func `keeps the store open while it listens`() async throws {
    let folder = try SharedFolder()
    let config = ConfigReader(provider: StoreProvider(try Store.open(folder.location)))
    try await config.watchString(forKey: "name") { updates in
      var states = States(updates)
      #expect(try await states.take() == nil)
      try folder.writeElsewhere("name", #""Ada""#)
      #expect(try await states.take() == "Ada")
    }
  }
}
