// Observing changes through handles: the slot of a handle, any number of observers, sequences, and errors.

import Dispatch
import Kept
import Testing

extension Keys {
  fileprivate static let volume = Key("audio.volume", default: 50)
}

@Suite(.timeLimit(.minutes(30))) struct `The observer of a handle` {
  let test = TestStore()
  var settings: Store { test.store }

  @Test func `is called whatever way the value changes`() async throws {
    let folder = try SharedFolder()
    let (here, there) = (try folder.store(), try folder.store())
    var received = Received<Int>()
    let note = received.note
    let volume = try here.handle(.volume, observer: { note($0.new) })
    #expect(volume.observer != nil)
    volume.value = 60
    here[.volume] = 61
    try here.handle(.volume).set(62)
    try here.transaction { $0[.volume] = 63 }
    #expect(try await received.take(4) == [60, 61, 62, 63])
    there[.volume] = 64
    #expect(try await received.take() == [64])
    try volume.remove()
    #expect(try await received.take() == [50])
    volume.invalidate()
  }

  @Test func `is replaced by the next, and held until then`() async throws {
    final class Token: Sendable {}
    var received = Received<String>()
    let (note, volume) = (received.note, try settings.handle(.volume))
    weak var held: Token?
    do {
      let token = Token()
      held = token
      volume.observer = { [token] change in withExtendedLifetime(token) { note("first \(change.new)") } }
    }
    volume.value = 60
    #expect(try await received.take() == ["first 60"])
    #expect(held != nil)
    volume.observer = { note("second \($0.new)") }
    #expect(held == nil)
    volume.value = 70
    #expect(try await received.take() == ["second 70"])
    volume.invalidate()
    #expect(volume.observer == nil)
    // An observer that was added later has been called, and the slot has not.
    let observer = try volume.observe { note("observer \($0.new)") }
    volume.value = 80
    #expect(try await received.take() == ["observer 80"])
    observer.cancel()
  }

  @Test func `ends with its handle`() async throws {
    var received = Received<String>()
    let note = received.note
    let observer = try settings.observe(.volume) { note("observer \($0.new)") }
    do {
      let volume = try settings.handle(.volume, observer: { note("slot \($0.new)") })
      withExtendedLifetime(volume) {}
    }
    settings[.volume] = 60
    settings[.volume] = 70
    #expect(try await received.take(2) == ["observer 60", "observer 70"])
    observer.cancel()
  }

  @Test func `is called on the queue that it is given, also when it is given another`() async throws {
    let queues = (0..<2).map { DispatchQueue(label: "observers \($0)") }
    var received = Received<Int>()
    let (note, volume) = (received.note, try settings.handle(.volume))
    volume.observerQueue = queues[0]
    volume.observer = { change in
      dispatchPrecondition(condition: .onQueue(queues[change.new % 2]))
      note(change.new)
    }
    volume.value = 60
    #expect(try await received.take() == [60])
    volume.observerQueue = queues[1]
    #expect(volume.observerQueue === queues[1])
    volume.value = 61
    #expect(try await received.take() == [61])
    volume.observerQueue = nil
    volume.observer = { change in
      for queue in queues { dispatchPrecondition(condition: .notOnQueue(queue)) }
      note(change.new)
    }
    volume.value = 62
    #expect(try await received.take() == [62])
    volume.invalidate()
  }

  @Test func `loses nothing while its queue changes`() async throws {
    let queues = (0..<2).map { DispatchQueue(label: "observers \($0)") }
    var received = Received<Int>()
    let (note, volume) = (received.note, try settings.handle(.volume))
    volume.observer = { note($0.new) }
    for value in 100..<400 {
      volume.observerQueue = [nil, queues[0], queues[1]][value % 3]
      volume.value = value
    }
    #expect(try await received.take(300) == Array(100..<400))
    volume.invalidate()
  }

  @Test func `is one of any number`() async throws {
    let volume = try settings.handle(.volume)
    var received = (0..<3).map { _ in Received<Int>() }
    let notes = received.map(\.note)
    let first = try volume.observe { notes[0]($0.new) }
    let second = try volume.observe { notes[1]($0.new) }
    volume.observer = { notes[2]($0.new) }
    volume.value = 60
    for index in received.indices { #expect(try await received[index].take() == [60]) }
    first.cancel()
    volume.value = 70
    for index in 1...2 { #expect(try await received[index].take() == [70]) }
    second.cancel()
  }

  @Test func `receives sets and removals, with the default as the new value`() async throws {
    let volume = try settings.handle(.volume)
    var received = Received<Handle<Int>.Change>()
    let subscription = try volume.observe(initial: true, received.note)
    volume.value = 60
    try volume.remove()
    let changes = try await received.take(3)
    #expect(changes.map(\.event) == [.initial, .set, .removed])
    #expect(changes.map(\.new) == [50, 60, 50] && changes.map(\.old) == [50, 50, 60])
    #expect(changes.allSatisfy { $0.error == nil } && changes[0].isInitial && changes[2].revision == 2)
    subscription.cancel()
    volume.value = 70
    #expect(try await laterChange(of: volume) == 80)
  }

  @Test func `receives what cannot be decoded, with the reason`() async throws {
    let volume = try settings.handle(.volume)
    var received = Received<Handle<Int>.Change>()
    let subscription = try volume.observe(received.note)
    try settings.set("loud", forKey: "audio.volume")
    let change = try await received.take()[0]
    #expect(change.new == 50 && change.event == .set)
    let sentence = failure(.wrongType) { _ = try change.result.get() }
    #expect(sentence == #""audio.volume": holds a string, not an int"#)
    subscription.cancel()
  }

  @Test func `is a loop over a sequence, too`() async throws {
    let volume = try settings.handle(.volume)
    let doubled = volume.map(encode: { $0 / 2 }, decode: { $0 * 2 })
    let (plain, mapped) = (volume.changes(initial: true), doubled.changes)
    for value in 60...62 { volume.value = value }
    var seen: [Int] = []
    for await change in plain {
      seen.append(change.new)
      if change.new == 62 { break }
    }
    #expect(seen == [50, 60, 61, 62])
    var iterator = mapped.makeAsyncIterator()
    #expect(try await iterator.take(3).map(\.new) == [120, 122, 124])
    settings.close()
    let end = await iterator.next(isolation: #isolation)
    #expect(end == nil)
  }

  /// The next change from now on; earlier ones are not delivered.
  private func laterChange(of volume: Handle<Int>) async throws -> Int? {
    var changes = volume.changes.makeAsyncIterator()
    volume.value = 80
    return try await changes.take(1).first?.new
  }
}
