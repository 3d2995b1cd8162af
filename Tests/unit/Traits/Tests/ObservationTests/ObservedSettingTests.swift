// Settings with the Observation framework: any change of the value notifies its trackers, which then read the new
// value.

import Dispatch
import Kept
import Observation
import Stores
import Testing

@Suite(.timeLimit(.minutes(30))) struct `An observed setting` {
  let test = TestStore()
  var settings: Store { test.store }

  @Test func `notifies of a value that is set by itself, by the store, by a handle and by a property`() throws {
    let volume = settings.observed(.volume)
    let handle = try settings.handle(.volume)
    let property = Setting(.volume, in: settings)
    let settings = settings
    let writers: [(Int) -> Void] = [
      { volume.value = $0 }, { settings[.volume] = $0 }, { handle.value = $0 }, { property.wrappedValue = $0 },
    ]
    for (number, write) in writers.enumerated() {
      let tracked = Tracked { volume.value }
      write(number)
      tracked.waitForChange()
      #expect(volume.value == number)
    }
  }

  @Test func `notifies of a removal, and of a default that is registered or taken back`() throws {
    let volume = settings.observed(.volume)
    settings[.volume] = 70
    let set = Tracked { volume.value }
    #expect(set.value == 70)
    try settings.remove(.volume)
    set.waitForChange()
    let removed = Tracked { volume.value }
    #expect(removed.value == 50)
    try settings.register(55, for: .volume)
    removed.waitForChange()
    let registered = Tracked { volume.value }
    #expect(registered.value == 55)
    #expect(!registered.isChanged)
  }

  @Test func `notifies of what another process writes`() throws {
    let folder = try SharedFolder()
    let store = try Store.open(folder.location)
    let volume = store.observed(.volume)
    let tracked = Tracked { volume.value }
    #expect(tracked.value == 50)
    try folder.writeElsewhere("audio.volume", "70")
    tracked.waitForChange()
    #expect(volume.value == 70)
    store.close()
  }

  @Test func `notifies of what another store at the same location writes`() throws {
    let folder = try SharedFolder()
    let (store, other) = (try Store.open(folder.location), try Store.open(folder.location))
    let volume = store.observed(.volume)
    let tracked = Tracked { volume.value }
    other[.volume] = 70
    tracked.waitForChange()
    #expect(volume.value == 70)
    store.close()
    other.close()
  }

  @Test func `notifies of no other key, and not of the same value again`() throws {
    let volume = settings.observed(.volume)
    settings[.volume] = 70
    let tracked = Tracked { volume.value }
    settings[.volume] = 70
    settings[Key("title", default: "")] = "Untitled"
    try test.settle()
    #expect(!tracked.isChanged)
  }

  @Test func `notifies of a value of the wrong type, which reads as the default and is reported`() throws {
    let volume = settings.observed(.volume)
    settings[.volume] = 70
    let right = Tracked { volume.value }
    #expect(test.takeReported().isEmpty)
    try settings.set("loud", forKey: "audio.volume")
    right.waitForChange()
    let wrong = Tracked { volume.value }
    #expect(wrong.value == 50)
    #expect(test.takeReported().map(\.code) == [.wrongType])
    #expect(try settings.value(forKey: "audio.volume") == "loud")
    settings[.volume] = 80
    wrong.waitForChange()
    #expect(volume.value == 80)
  }

  @Test func `has the default of its property`() {
    let volume = Setting(wrappedValue: 30, .volume, in: settings).projectedValue.observed()
    let tracked = Tracked { volume.value }
    #expect(tracked.value == 30)
    settings[.volume] = 70
    tracked.waitForChange()
    #expect(volume.value == 70)
  }

  @Test func `reads as the default when its store is closed, and the error handler receives the reason`() throws {
    let (volume, late) = (settings.observed(.volume), settings.observed(.volume))
    settings[.volume] = 70
    let tracked = Tracked { volume.value }
    #expect(tracked.value == 70)
    settings.close()
    #expect(volume.value == 50)
    #expect(late.value == 50)
    volume.value = 80
    #expect(volume.value == 50)
    let reported = test.takeReported()
    #expect(reported.count >= 4 && reported.allSatisfy { $0.code == .closed })
    #expect(!tracked.isChanged)
  }

  @Test func `of a key with an invalid name reads as the default`() {
    let nothing = settings.observed(Key("", default: 1))
    #expect(nothing.value == 1)
    #expect(Set(test.takeReported().map(\.code)) == [.invalid])
  }

  @Test func `observes no longer than it lives, and releases its store`() throws {
    weak var store: Store?
    let changed = Notes<Void>()
    do {
      let settings = Store(storage: MemoryStorage())
      store = settings
      var volume: ObservedSetting? = settings.observed(.volume)
      let tracked = Tracked({ volume?.value }, onChange: { changed.add(()) })
      #expect(tracked.value == 50)
      volume = nil
      settings[.volume] = 70
      settings.close()
    }
    #expect(changed.all.isEmpty)
    #expect(store == nil)
  }

  @Test func `costs its store nothing before it is read`() throws {
    weak var store: Store?
    do {
      let settings = Store(storage: MemoryStorage())
      store = settings
      let volume = settings.observed(.volume)
      volume.value = 70
      #expect(settings[.volume] == 70)
    }
    #expect(store == nil)
  }
}
