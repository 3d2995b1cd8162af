// Publishers of handles: in the handle's type, through its conversions, until it is destroyed.

import Kept
import OpenCombine
import Stores
import Testing

private struct Unreadable: Error {}

@Suite(.timeLimit(.minutes(30))) struct `A publisher of a handle` {
  let test = TestStore()
  var settings: Store { test.store }
  private let values = Notes<Int>()

  @Test func `publishes what the handle reads, through its conversions`() throws {
    let volume = try settings.handle(.volume)
    let doubled = volume.map(encode: { $0 / 2 }, decode: { $0 * 2 })
    let changes = Notes<Int>()
    let tokens = [
      doubled.publisher.sink { [values] in values.add($0) },
      doubled.changesPublisher.sink { changes.add($0.old) },
    ]
    volume.value = 60
    doubled.value = 140
    test.wait { values.all.count == 3 && changes.all.count == 2 }
    #expect(values.all == [100, 120, 140])
    #expect(changes.all == [100, 120])
    for token in tokens { token.cancel() }
  }

  @Test func `delivers the error of a conversion as it was thrown, and goes on`() throws {
    let even = Transformer<Int, Int>(
      transform: { $0 }, untransform: { if $0.isMultiple(of: 2) { $0 } else { throw Unreadable() } })
    let volume = try settings.handle("volume", through: even)
    let (results, plain) = (Notes<Result<Int?, any Error>>(), Notes<Int?>())
    let tokens = [
      volume.changesPublisher.sink { results.add($0.result) },
      volume.publisher.sink { plain.add($0) },
    ]
    for number: Int64 in [2, 3, 4] { try settings.set(.int(number), forKey: "volume") }
    test.wait { results.all.count == 3 && plain.all.count == 4 }
    #expect(try results.all[0].get() == 2)
    #expect(throws: Unreadable.self) { try results.all[1].get() }
    #expect(try results.all[2].get() == 4)
    #expect(plain.all == [nil, 2, nil, 4])
    #expect(test.takeReported().count == 1)
    for token in tokens { token.cancel() }
  }

  @Test func `finishes when the handle is destroyed, without another key's values`() throws {
    let volume = try settings.handle(.volume)
    let probe = Probe<Int>(onSubscription: { $0.request(.unlimited) })
    volume.publisher.subscribe(probe)
    settings[.volume] = 60
    test.wait { probe.values.count == 2 }
    try volume.destroy()
    #expect(probe.completions == 1)
    settings[.volume] = 70
    try test.settle()
    // The removal may have been delivered or not.
    #expect(!probe.values.contains(70))
    #expect(probe.completions == 1)
  }

  @Test func `finishes at once when the handle was destroyed before, and the error handler gets the reason`() throws {
    let volume = try settings.handle(.volume)
    let (values, changes) = (volume.publisher, volume.changesPublisher)
    try volume.destroy()
    let probe = Probe<Int>(onSubscription: { $0.request(.unlimited) })
    values.subscribe(probe)
    #expect(probe.values.isEmpty)
    #expect(probe.completions == 1)
    let other = Probe<Handle<Int>.Change>()
    changes.subscribe(other)
    #expect(other.completions == 1)
    #expect(test.takeReported().map(\.code) == [.closed, .closed])
  }
}
