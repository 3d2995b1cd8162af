// Where changes of an observed setting are delivered, and that none is lost.

import Dispatch
import Kept
import Observation
import Stores
import Synchronization
import Testing

@Observable @MainActor private final class Player {
  @ObservationIgnored let volume: ObservedSetting<Int>
  var isMuted = false
  var loudness: Int { isMuted ? 0 : volume.value }

  init(store: Store) { volume = store.observed(.volume) }
}

private actor Mixer {
  private var volume: ObservedSetting<Int>?

  func follow(_ store: Store) -> Int {
    let volume = store.observed(.volume)
    self.volume = volume
    return volume.value
  }
}

@Suite(.timeLimit(.minutes(30))) struct `A change of an observed setting` {
  let test = TestStore()
  var settings: Store { test.store }

  @Test func `is delivered on the store's thread to a setting that was made on no actor`() {
    let (queue, volume) = (test.queue, settings.observed(.volume))
    let tracked = Tracked({ volume.value }, onChange: { dispatchPrecondition(condition: .onQueue(queue)) })
    settings[.volume] = 70
    tracked.waitForChange()
  }

  @Test @MainActor func `is delivered on the actor on which the setting was made`() async {
    let isMain = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: isMain, value: true)
    let (volume, settings) = (settings.observed(.volume), settings)
    let places = AsyncStream.makeStream(of: Bool?.self)
    withObservationTracking {
      _ = volume.value
    } onChange: {
      places.continuation.yield(DispatchQueue.getSpecific(key: isMain))
    }
    await Task.detached { settings[.volume] = 70 }.value
    var changed = places.stream.makeAsyncIterator()
    #expect(await changed.next(isolation: #isolation) == true)
    #expect(volume.value == 70)
  }

  @Test @MainActor func `passes through the model that holds it`() async {
    let player = Player(store: settings)
    let changed = AsyncStream.makeStream(of: Void.self)
    var changes = changed.stream.makeAsyncIterator()
    func track() -> Int {
      withObservationTracking {
        player.loudness
      } onChange: {
        changed.continuation.yield()
      }
    }
    #expect(track() == 50)
    settings[.volume] = 70
    await changes.next(isolation: #isolation)
    #expect(track() == 70)
    player.isMuted = true
    await changes.next(isolation: #isolation)
    #expect(track() == 0)
  }

  // All delivery paths are created before the read ends, and are used: what remains are changes after it.
  @Test @MainActor func `between the reading and the end of the tracking is not lost on that actor`() async throws {
    let (test, settings) = (test, settings)
    let volume = settings.observed(.volume)
    #expect(volume.value == 50)
    let changed = AsyncStream.makeStream(of: Void.self)
    let (read, settled) = withObservationTracking {
      let read = volume.value
      let isWritten = DispatchSemaphore(value: 0)
      DispatchQueue.global().async {
        settings[.volume] = 70
        isWritten.signal()
      }
      #expect(isWritten.isSignalled)
      return (read, Result { try test.settle() })
    } onChange: {
      changed.continuation.yield()
    }
    try settled.get()
    #expect(read == 50)
    var changes = changed.stream.makeAsyncIterator()
    await changes.next(isolation: #isolation)
    #expect(volume.value == 70)
  }

  @Test @MainActor func `wakes a reader that has not read it, whenever it comes`() async {
    let (volume, settings) = (settings.observed(.volume), settings)
    let changed = AsyncStream.makeStream(of: Void.self)
    var changes = changed.stream.makeAsyncIterator()
    func track() -> Int {
      withObservationTracking {
        volume.value
      } onChange: {
        changed.continuation.yield()
      }
    }
    for number in 1...200 {
      DispatchQueue.global().async { settings[.volume] = number }
      while track() != number { await changes.next(isolation: #isolation) }
    }
    #expect(volume.value == 200)
  }

  @Test @MainActor func `comes out of a sequence of observations, and the last one always`() async {
    let volume = settings.observed(.volume)
    let settings = settings
    var values = Observations { volume.value }.makeAsyncIterator()
    #expect(await values.next(isolation: #isolation) == 50)
    let writing = Task.detached { for number in 51...300 { settings[.volume] = number } }
    var last = 50
    while last != 300, let value = await values.next(isolation: #isolation) {
      #expect(value >= last)
      last = value
    }
    #expect(last == 300)
    await writing.value
  }

  @Test func `of eight threads that read and write is delivered until there is none`() {
    let (volume, settings) = (settings.observed(.volume), settings)
    let changed = Atomic(0)
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for number in 1...100 {
        if thread < 4 {
          settings[.volume] = thread * 1000 + number
        } else {
          withObservationTracking {
            _ = volume.value
          } onChange: {
            changed.add(1, ordering: .relaxed)
          }
        }
      }
    }
    let last = Tracked { volume.value }
    settings[.volume] = -1
    last.waitForChange()
    #expect(volume.value == -1)
    #expect(changed.load(ordering: .relaxed) > 0)
  }

  @Test func `may be followed by anything: reading, writing, closing`() {
    let (volume, settings) = (settings.observed(.volume), settings)
    let read = Notes<Int>()
    let first = Tracked({ volume.value }) {
      read.add(volume.value)
      volume.value = 80
    }
    settings[.volume] = 70
    first.waitForChange()
    test.wait { settings[.volume] == 80 }
    #expect(read.all == [70])
    let second = Tracked({ volume.value }) { settings.close() }
    settings[.volume] = 90
    second.waitForChange()
    #expect(volume.value == 50)
  }

  @Test func `does not keep an actor that holds the setting`() async {
    weak var gone: Mixer?
    do {
      let mixer = Mixer()
      gone = mixer
      #expect(await mixer.follow(settings) == 50)
    }
    #expect(gone == nil)
    settings[.volume] = 70
  }
}
