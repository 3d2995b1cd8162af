// Defects of other libraries with transformed, destroyed and cancelled values, and Kept's behaviour.

import Dispatch
import Kept
import Synchronization
import Testing

extension Keys {
  fileprivate static let volume = Key("audio.volume", default: 50)
}

@Suite(.timeLimit(.minutes(30))) struct `Defects that a handle avoids` {
  let test = TestStore()
  var settings: Store { test.store }

  @Test func `transformed observers receive the value of the change, not an earlier one`() async throws {
    let volume = try settings.handle(.volume)
    let text = volume.map(encode: { (text: String) in text.count }, decode: { "\($0)%" })
    var received = Received<String>()
    let note = received.note
    text.observer = { note($0.new) }
    for value in 60...63 { volume.value = value }
    try volume.remove()
    #expect(try await received.take(5) == ["60%", "61%", "62%", "63%", "50%"])
    text.invalidate()
  }

  @Test func `making a transformed handle leaves the observer of the other in place`() async throws {
    let volume = try settings.handle(.volume)
    var received = Received<Int>()
    let note = received.note
    volume.observer = { note($0.new) }
    let text = volume.map(encode: { (text: String) in text.count }, decode: { "\($0)%" })
    text.value = "four"
    #expect(try await received.take() == [4])
    volume.invalidate()
  }

  @Test func `a transformed handle is removed and destroyed like any other`() throws {
    let name = try settings.handle("name", of: String.self)
    let letters = name.map(.custom(encode: { String($0) }, decode: { Array($0) })).defaulted(to: ["?"])
    letters.value = ["a", "b"]
    #expect(name.value == "ab")
    let removed = try letters.remove()
    #expect(removed && letters.value == ["?"] && name.value == nil && !letters.isDestroyed)
    letters.value = ["c"]
    try letters.destroy()
    #expect(letters.isDestroyed && name.isDestroyed)
    #expect(try settings.keys() == [])
  }

  @Test func `destroyed handles write nothing, transformed or not`() throws {
    let volume = try settings.handle(.volume)
    let text = volume.map(encode: { (text: String) in text.count }, decode: { "\($0)%" })
    try volume.destroy()
    volume.value = 60
    text.value = "four"
    _ = failure(.closed) { try text.set("four") }
    _ = failure(.closed) { try text.remove() }
    #expect(volume.value == 50 && text.value == "50%")
    #expect(try settings.keys() == [])
  }

  @Test func `a listener that was cancelled in the round that is running is not called`() throws {
    let (queue, volume) = (DispatchQueue(label: "observers"), try settings.handle(.volume))
    let notes = ReceivedNotes<Int>()
    let tokens = Mutex<[Subscription]>([])
    let subscriptions = try (0..<2).map { own in
      try volume.observe(queue: queue) { _ in
        notes.add(own)
        tokens.withLock { $0[1 - own] }.cancel()
      }
    }
    tokens.withLock { $0 = subscriptions }
    volume.value = 60
    while notes.all.isEmpty { queue.sync {} }
    queue.sync {}
    #expect(notes.all.count == 1)
    tokens.withLock { $0 = [] }
  }

  @Test func `an observer that was taken out of its slot is not called with queued changes`() throws {
    let (queue, volume) = (DispatchQueue(label: "observers"), try settings.handle(.volume))
    let notes = ReceivedNotes<Int>()
    queue.suspend()
    volume.observerQueue = queue
    volume.observer = { notes.add($0.new) }
    volume.value = 60
    volume.invalidate()
    queue.resume()
    queue.sync {}
    #expect(notes.all.isEmpty)
  }

  @Test func `changes by many threads are delivered in the order of their commits`() async throws {
    let volume = try settings.handle(.volume)
    var received = Received<Int>()
    let note = received.note
    let subscription = try volume.observe { note($0.new) }
    DispatchQueue.concurrentPerform(iterations: 4) { writer in
      for value in 1...250 { volume.value = writer * 1000 + value }
    }
    let last = try await received.take(1000).last
    #expect(last == settings[.volume])
    subscription.cancel()
  }
}
