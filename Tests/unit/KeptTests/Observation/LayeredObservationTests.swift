// What the observer of a key receives with layers: the effective value, and the layer that it comes from.

import Kept
import Synchronization
import Testing

extension Keys {
  fileprivate static let volume = Key("audio.volume", default: 50)
  fileprivate static let name = Key<String?>("name")
}

/// The changes of a key, in order.
private struct Changes<Value: Storable> {
  private var iterator: Key<Value>.Changes.Iterator

  init(of key: Key<Value>, in store: Store) { iterator = store.changes(of: key).makeAsyncIterator() }

  mutating func take() async throws -> Key<Value>.Change {
    let change = await iterator.next(isolation: #isolation)
    return try #require(change)
  }
}

@Suite(.timeLimit(.minutes(30))) struct `An observer of a key with layers` {
  @Test func `receives a default that is registered for an absent key`() async throws {
    let layered = try LayeredStore()
    var changes = Changes(of: .volume, in: layered.store)
    try layered.store.register(70, for: .volume)
    let registered = try await changes.take()
    #expect(registered.old == 50 && registered.new == 70 && registered.layer == .registered)
    #expect(registered.event == .defaultChanged && registered.origin == .layer)
    layered.store[.volume] = 60
    let set = try await changes.take()
    #expect(set.old == 70 && set.new == 60 && set.layer == .user && set.event == .set && set.origin == .store)
    try layered.store.remove(.volume)
    let removed = try await changes.take()
    #expect(removed.old == 60 && removed.new == 70 && removed.layer == .registered && removed.event == .removed)
    try layered.store.register(nil, for: Key<Int?>("audio.volume"))
    let unregistered = try await changes.take()
    #expect(unregistered.new == 50 && unregistered.layer == nil && unregistered.event == .defaultChanged)
  }

  @Test func `receives a declared default`() async throws {
    let settings = TestStore().store
    var changes = Changes(of: .volume, in: settings)
    try settings.declare(Key("audio.volume", default: 40))
    let declared = try await changes.take()
    #expect(declared.old == 50 && declared.new == 40 && declared.layer == .declared)
    #expect(declared.event == .defaultChanged && declared.origin == .store)
  }

  @Test func `receives a replaced file, and nothing that a higher layer hides`() async throws {
    let layered = try LayeredStore(["-name", "42"], system: #"{"values":{"audio.volume":30}}"#)
    let settings = layered.store
    var changes = Changes(of: .volume, in: settings)
    var names = Changes(of: .name, in: settings)
    #expect(settings[.volume] == 30)
    try layered.folder.write(#"{"values":{"audio.volume":31,"name":"Eve"}}"#, to: "system.json")
    let replaced = try await changes.take()
    #expect(replaced.old == 30 && replaced.new == 31 && replaced.layer == .system)
    #expect(replaced.origin == .layer && replaced.event == .set)
    #expect(settings[.volume] == 31)
    settings[.name] = "Ada"
    try layered.folder.write(#"{"locked":["name"]}"#, to: "managed.json")
    let locked = try await names.take()
    #expect(locked.old == "42" && locked.new == "Eve" && locked.layer == .system, "a text is read as the key's type")
    try layered.folder.remove("managed.json")
    let unlocked = try await names.take()
    #expect(unlocked.old == "Eve" && unlocked.new == "42" && unlocked.layer == .arguments)
    #expect(unlocked.error == nil)
  }

  @Test func `receives the effective value of the layers first`() throws {
    let layered = try LayeredStore(["-name", "42"])
    let first = Mutex<[String]>([])
    let subscription = try layered.store.observe(.name, initial: true) { change in
      first.withLock { $0.append("\(change.new ?? "nil") of \(change.layer.map { "\($0)" } ?? "none")") }
    }
    #expect(first.withLock(\.self) == ["42 of arguments"])
    subscription.cancel()
  }

  @Test func `never reads a value older than one it received, while files and readers race`() async throws {
    let layered = try LayeredStore(system: #"{"values":{"audio.volume":0}}"#)
    let settings = layered.store
    let race = Race()
    let subscription = try settings.observe(.volume) { race.delivered.store($0.new, ordering: .sequentiallyConsistent) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 1...2 { group.addTask { await race.read(settings) } }
      group.addTask { try await race.replaceFiles(of: layered) }
      try await group.waitForAll()
    }
    #expect(settings[.volume] == Race.rounds)
    #expect(race.older.load(ordering: .sequentiallyConsistent) == 0)
    subscription.cancel()
  }
}

/// Readers of a key whose layer's numbers grow, and the thread that replaces the layer.
private final class Race: Sendable {
  static let rounds = 100
  let delivered = Atomic(0)
  let older = Atomic(0)
  private let isOver = Atomic(false)

  func read(_ settings: Store) async {
    var last = 0
    while !isOver.load(ordering: .sequentiallyConsistent) {
      let least = max(last, delivered.load(ordering: .sequentiallyConsistent))
      last = settings[.volume]
      if last < least { older.add(1, ordering: .relaxed) }
      await Task.yield()
    }
  }

  func replaceFiles(of layered: LayeredStore) async throws {
    defer { isOver.store(true, ordering: .sequentiallyConsistent) }
    for round in 1...Self.rounds {
      try layered.folder.write(#"{"values":{"audio.volume":\#(round)}}"#, to: "system.json")
      try layered.store.register(round, for: Key("other", default: 0))
      while layered.store[.volume] < round { await Task.yield() }
    }
  }
}
