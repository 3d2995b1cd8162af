// A key has one type for all its handles in a process, until one of them is destroyed, which destroys them all.

import Dispatch
import Kept
import Synchronization
import Testing

extension Keys {
  fileprivate static let volume = Key("audio.volume", default: 50)
  fileprivate static let theme = Key("theme", default: "light")
}

@Suite(.timeLimit(.minutes(30))) struct `Handles of one key` {
  let test = TestStore()
  var settings: Store { test.store }

  @Test func `of the same type show the same value`() throws {
    let (one, two) = (try settings.handle(.volume), try settings.handle("audio.volume", of: Int.self))
    one.value = 60
    #expect(two.value == 60)
    two << nil
    #expect(one.value == 50)
  }

  @Test func `of another type are a type conflict, whichever store of the location is asked`() throws {
    let (here, there) = (try Store.open("memory:one type"), try Store.open("memory:one type"))
    let volume = try here.handle(.volume)
    let sentence = failure(.typeConflict) { _ = try there.handle("audio.volume", of: String.self) }
    #expect(
      sentence == #""audio.volume": has handles of type Int in this process, so it cannot have one of type String; "#
        + "destroy those first")
    #expect(volume.value == 50)
    // Another location is not affected.
    #expect(try settings.handle("audio.volume", of: String.self).value == nil)
  }

  @Test func `end with the one that is destroyed, and the key may have another type`() throws {
    let (one, two) = (try settings.handle(.volume), try settings.handle(.volume))
    let mapped = one.map(encode: { (text: String) in text.count }, decode: { "\($0)" })
    one.value = 60
    try two.destroy()
    #expect(one.isDestroyed && two.isDestroyed && mapped.isDestroyed)
    #expect(try !settings.contains(.volume))
    let sentence = failure(.closed) { _ = try one.get() }
    #expect(sentence == #""audio.volume": its handle was destroyed; make a new one to use the key again"#)
    let text = try settings.handle("audio.volume", of: String.self)
    text.value = "loud"
    #expect(text.value == "loud" && !text.isDestroyed)
    _ = failure(.typeConflict) { _ = try settings.handle(.volume) }
  }

  @Test func `neither read nor write once they are destroyed`() throws {
    let volume = try settings.handle(.volume)
    try volume.destroy()
    settings[.volume] = 70
    #expect(volume.value == 50)
    volume.value = 80
    volume << 80
    volume << nil
    #expect(test.takeReported().map(\.code) == [.closed, .closed, .closed, .closed])
    _ = failure(.closed) { try volume.set(80) }
    _ = failure(.closed) { try volume.remove() }
    _ = failure(.closed) { try volume.destroy() }
    _ = failure(.closed) { _ = try volume.observe { _ in } }
    #expect(settings[.volume] == 70)
    #expect(try settings.handle(.volume).value == 70)
  }

  @Test func `receive nothing once they are destroyed`() async throws {
    let (notes, volume) = (ReceivedNotes<Int>(), try settings.handle(.volume))
    let subscription = try volume.observe { notes.add($0.new) }
    volume.observer = { notes.add($0.new) }
    var changes = volume.changes.makeAsyncIterator()
    let late = volume.changes
    try volume.destroy()
    let before = notes.all
    var observer = Received<Int>()
    let note = observer.note
    let other = try settings.observe(.volume) { note($0.new) }
    settings[.volume] = 70
    #expect(try await observer.take() == [70])
    settings.close()
    #expect(notes.all == before && !before.contains(70))
    while let change = await changes.next(isolation: #isolation) { #expect(change.new == 50) }
    for await _ in late { Issue.record("the sequence of a destroyed handle goes on") }
    subscription.cancel()
    other.cancel()
  }

  @Test func `stay as they are when destroying fails`() throws {
    let (here, there) = (try Store.open("memory:destroying fails"), try Store.open("memory:destroying fails"))
    let (one, two) = (try here.handle(.volume), try there.handle(.volume))
    one.value = 60
    here.close()
    _ = failure(.closed) { try one.destroy() }
    #expect(!two.isDestroyed && two.value == 60)
    two.value = 70
    try two.destroy()
    #expect(two.isDestroyed)
  }

  @Test func `are destroyed together, except some, and only those of this store object`() throws {
    let (here, there) = (try Store.open("memory:destroying all"), try Store.open("memory:destroying all"))
    let (volume, theme) = (try here.handle(.volume), try here.handle(.theme))
    let other = try there.handle("other", of: Int.self)
    volume.value = 60
    theme.value = "dark"
    other.value = 1
    try here.set(true, forKey: "unhandled")
    try here.destroyAll(except: .theme)
    #expect(volume.isDestroyed && !theme.isDestroyed && !other.isDestroyed)
    #expect(try here.keys() == ["other", "theme", "unhandled"])
    try here.destroyAll()
    #expect(theme.isDestroyed && theme.value == "light")
    #expect(try here.keys() == ["other", "unhandled"])
    #expect(try here.handle("theme", of: Int.self).value == nil)
  }

  @Test func `destroyed while other threads read and write are not written any more`() throws {
    for round in 0..<300 {
      let settings = try Store.open("memory:")
      let volume = try settings.handle(.volume)
      let begun = DispatchSemaphore(value: 0)
      let wrong = Atomic(0)
      DispatchQueue.concurrentPerform(iterations: 3) { thread in
        if thread == 0 {
          begun.wait()
          #expect(throws: Never.self) { try volume.destroy() }
          // In every second round the key belongs to another writer from here on.
          if round % 2 == 0 { #expect(throws: Never.self) { try settings.set("another's", forKey: "audio.volume") } }
        } else {
          begun.signal()
          for value in 1...200 {
            let read = thread == 1 ? try? volume.get() : nil
            if thread == 2 { _ = try? volume.set(value) }
            if let read, !(0...200).contains(read) { wrong.add(1, ordering: .relaxed) }
          }
        }
      }
      #expect(try settings.value(forKey: "audio.volume") == (round % 2 == 0 ? "another's" : nil))
      let count = wrong.load(ordering: .relaxed)
      #expect(count == 0)
    }
  }

  @Test func `destroyed by many threads at once are destroyed by one`() throws {
    for _ in 0..<100 {
      let volume = try settings.handle(.volume)
      let succeeded = Atomic(0)
      DispatchQueue.concurrentPerform(iterations: 4) { _ in
        if (try? volume.destroy()) != nil { succeeded.add(1, ordering: .relaxed) }
      }
      let count = succeeded.load(ordering: .relaxed)
      #expect(count == 1)
    }
  }

  @Test func `may be destroyed by their own observer`() async throws {
    let volume = try settings.handle(.volume)
    var received = Received<Bool>()
    let note = received.note
    volume.observer = { [weak volume] change in
      if change.new == 60 { note((try? volume?.destroy()) != nil) }
    }
    volume.value = 60
    #expect(try await received.take() == [true])
    #expect(volume.isDestroyed)
  }
}
