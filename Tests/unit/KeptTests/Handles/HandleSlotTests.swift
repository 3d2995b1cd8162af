// The observer in a handle's slot: present from the start, and the same with the handle's type and without.

import Dispatch
import Kept
import Testing

extension Keys {
  fileprivate static let volume = Key("audio.volume", default: 50)
}

@Suite(.timeLimit(.minutes(30))) struct `The observer in the slot of a handle` {
  let settings = TestStore().store

  @Test func `exists from the start, however the handle is made`() async throws {
    var received = Received<String>()
    let note = received.note
    let first = try settings.handle("n", of: Int.self, observer: { note("name \($0.new ?? 0)") })
    first.value = 1
    #expect(try await received.take() == ["name 1"])
    first.invalidate()
    let made = Handle(Key<Int?>("n"), in: settings, observer: { note("init \($0.new ?? 0)") })
    let second = try #require(made)
    first.value = 2
    #expect(try await received.take() == ["init 2"])
    second.invalidate()
    let third = first.defaulted(to: 7, observer: { note("defaulted \($0.new)") })
    try first.remove()
    #expect(try await received.take() == ["defaulted 7"])
    third.invalidate()
    let fourth = third.map(encode: { Int($0) ?? 0 }, decode: { "\($0)" }, observer: { note("mapped " + $0.new) })
    first.value = 3
    #expect(try await received.take() == ["mapped 3"])
    fourth.invalidate()
    let half = Transformer<Int, Int>(transform: { $0 * 2 }, untransform: { $0 / 2 })
    let fifth = first.map(half, observer: { note("half \($0.new ?? 0)") })
    first.value = 8
    #expect(try await received.take() == ["half 4"])
    fifth.invalidate()
    let list: Handle<[Int]?> = try settings.handle(
      "list", through: .json, observer: { note("list \($0.new?.count ?? 0)") })
    list.value = [1, 2]
    #expect(try await received.take() == ["list 2"])
    list.invalidate()
  }

  @Test func `is one slot, with the handle's type and without`() async throws {
    var received = Received<String>()
    let (note, volume) = (received.note, try settings.handle(.volume))
    let erased = volume.erased()
    #expect(erased.observer == nil)
    erased.observer = { note("\($0.old) → \($0.new)") }
    #expect(volume.observer != nil && erased.observer != nil)
    volume.value = 60
    #expect(try await received.take() == ["50 → 60"])
    volume.observer = { note("typed \($0.new)") }
    volume.value = 61
    #expect(try await received.take() == ["typed 61"])
    // An observer that is read from the slot can be called and put back.
    let former = try #require(erased.observer)
    erased.observer = { change in
      former(change)
      note("and \(change.new)")
    }
    volume.value = 62
    #expect(try await received.take(2) == ["typed 62", "and 62"])
    let queue = DispatchQueue(label: "erased")
    erased.observerQueue = queue
    #expect(volume.observerQueue === queue && erased.observerQueue === queue)
    erased.invalidate()
    #expect(volume.observer == nil && erased.observer == nil)
  }
}
