// Publishers of keys, settings and handles: what they publish, and how they handle values of the wrong type.

import Dispatch
import Kept
import OpenCombine
import Stores
import Testing

private struct Player {
  @Setting(.volume) var volume = 30

  init(store: Store) { _volume = Setting(wrappedValue: 30, .volume, in: store) }
}

@Suite(.timeLimit(.minutes(30))) struct `A publisher` {
  let test = TestStore()
  var settings: Store { test.store }
  private let volumes = Notes<Int>()

  @Test func `of values gives the present one before the subscribing returns, and then each new one`() throws {
    settings[.volume] = 60
    let token = settings.publisher(for: .volume).sink { [volumes] in volumes.add($0) }
    #expect(volumes.all == [60])
    settings[.volume] = 70
    settings[.volume] = 70
    try settings.remove(.volume)
    try settings.register(55, for: .volume)
    test.wait { volumes.all.count == 4 }
    try test.settle()
    #expect(volumes.all == [60, 70, 50, 55])
    token.cancel()
  }

  @Test func `of changes delivers later changes: old, new and event`() {
    let changes = Notes<Key<Int>.Change>()
    settings[.volume] = 60
    let token = settings.changesPublisher(for: .volume).sink { changes.add($0) }
    #expect(changes.all.isEmpty)
    settings[.volume] = 70
    _ = try? settings.remove(.volume)
    test.wait { changes.all.count == 2 }
    #expect(changes.all.map(\.old) == [60, 70])
    #expect(changes.all.map(\.new) == [70, 50])
    #expect(changes.all.map(\.event) == [.set, .removed])
    #expect(changes.all.map(\.revision) == [2, 3])
    token.cancel()
  }

  @Test func `of changes begins with the present one if it is asked to`() {
    let changes = Notes<Key<Int>.Change>()
    let token = settings.changesPublisher(for: .volume, initial: true).sink { changes.add($0) }
    #expect(changes.all.map(\.isInitial) == [true])
    #expect(changes.all.map(\.new) == [50])
    token.cancel()
  }

  @Test func `of a setting has the property's own default`() throws {
    let player = Player(store: settings)
    let changes = Notes<Int>()
    let tokens = [
      player.$volume.publisher.sink { [volumes] in volumes.add($0) },
      player.$volume.changesPublisher.sink { changes.add($0.new) },
    ]
    player.volume = 60
    player.$volume.reset()
    test.wait { volumes.all.count == 3 && changes.all.count == 2 }
    #expect(volumes.all == [30, 60, 30])
    #expect(changes.all == [60, 30])
    for token in tokens { token.cancel() }
  }

  @Test func `receives what another process writes and removes`() throws {
    let folder = try SharedFolder()
    let store = try Store.open(folder.location)
    store.callbackQueue = test.queue
    let origins = Notes<Notice.Origin>()
    let tokens = [
      store.publisher(for: .volume).sink { [volumes] in volumes.add($0) },
      store.changesPublisher(for: .volume).sink { origins.add($0.origin) },
    ]
    try folder.writeElsewhere("audio.volume", "70")
    test.wait { volumes.all.count == 2 && origins.all.count == 1 }
    #expect(volumes.all == [50, 70])
    #expect(origins.all == [.otherProcess])
    for token in tokens { token.cancel() }
    store.close()
  }

  @Test func `is called where the store calls its observers, and at first where it is subscribed to`() {
    let isInitial = Notes<Bool>()
    let queue = test.queue
    let token = settings.changesPublisher(for: .volume, initial: true).sink { change in
      dispatchPrecondition(condition: change.isInitial ? .notOnQueue(queue) : .onQueue(queue))
      isInitial.add(change.isInitial)
    }
    settings[.volume] = 60
    test.wait { isInitial.all.count == 2 }
    #expect(isInitial.all == [true, false])
    token.cancel()
  }

  @Test func `serves each subscriber by itself, from its arrival`() {
    let publisher = settings.publisher(for: .volume)
    let first = publisher.sink { [volumes] in volumes.add($0) }
    settings[.volume] = 60
    let late = Notes<Int>()
    let second = publisher.sink { late.add($0) }
    settings[.volume] = 70
    test.wait { volumes.all.count == 3 && late.all.count == 2 }
    #expect(volumes.all == [50, 60, 70])
    #expect(late.all == [60, 70])
    first.cancel()
    second.cancel()
  }
}

@Suite(.timeLimit(.minutes(30))) struct `What a publisher makes of a value of the wrong type` {
  let test = TestStore()
  var settings: Store { test.store }
  private let volumes = Notes<Int>()

  @Test func `in its changes it is the default with the reason, and the next value follows`() throws {
    let changes = Notes<Key<Int>.Change>()
    let probe = Probe<Key<Int>.Change>(onSubscription: { $0.request(.unlimited) }) { change, _ in
      changes.add(change)
      return .none
    }
    settings.changesPublisher(for: .volume).subscribe(probe)
    settings[.volume] = 60
    try settings.set("loud", forKey: "audio.volume")
    settings[.volume] = 70
    test.wait { changes.all.count == 3 }
    #expect(changes.all.map(\.new) == [60, 50, 70])
    #expect(changes.all.map { $0.error?.code } == [nil, .wrongType, nil])
    #expect(probe.completions == 0)
    #expect(test.takeReported().isEmpty, "it was delivered to the subscriber")
    #expect(try settings.value(forKey: "audio.volume") == .int(70))
  }

  @Test func `in its values it is the default, and the error handler receives the reason`() throws {
    try settings.set("loud", forKey: "audio.volume")
    let token = settings.publisher(for: .volume).sink { [volumes] in volumes.add($0) }
    #expect(volumes.all == [50])
    #expect(test.takeReported().map(\.code) == [.wrongType])
    settings[.volume] = 70
    try settings.set([true], forKey: "audio.volume")
    test.wait { volumes.all.count == 3 }
    #expect(volumes.all == [50, 70, 50])
    #expect(test.takeReported().map { "\($0)" } == [#""audio.volume": holds an array, not an int"#])
    #expect(try settings.value(forKey: "audio.volume") == [true])
    token.cancel()
  }
}
