// Settings as properties: in every kind of type, with a key or inline, and their projected value.

import Dispatch
import Kept
import Synchronization
import Testing

private enum Theme: String, Storable { case system, dark }
private struct Frame: Codable, Storable, Equatable { var width = 1 }

extension Keys {
  fileprivate static let volume = Key("audio.volume", default: 50)
  fileprivate static let theme = Key("theme", default: Theme.system)
  fileprivate static let frame = Key<Frame?>("window.frame")
}

private struct Panel {
  @Setting(.volume) var volume
  @Setting(.theme) var theme
  @Setting(.frame) var frame
  init(store: Store) {
    _volume = Setting(.volume, in: store)
    _theme = Setting(.theme, in: store)
    _frame = Setting(.frame, in: store)
  }
}

private final class Player {
  @Setting(.volume) var volume
  init(store: Store) { _volume = Setting(.volume, in: store) }
  func reset() { $volume.reset() }
}

private actor Mixer {
  @Setting(.volume) var volume
  init(store: Store) { _volume = Setting(.volume, in: store) }
  func louder() { volume += 1 }
}

@MainActor private final class Window {
  @Setting(.volume) var volume
  @Setting("window.title") var title = "untitled"
  init(store: Store) { _volume = Setting(.volume, in: store) }
}

/// A Sendable class holds the setting itself, as a constant.
private final class Shared: Sendable {
  let volume: Setting<Int>
  init(store: Store) { volume = Setting(.volume, in: store) }
}

/// Or a handle.
private final class Holder: Sendable {
  let volume: Handle<Int>
  init(store: Store) throws { volume = try store.handle(.volume) }
}

@Suite(.timeLimit(.minutes(30))) struct `A property that is a setting` {
  let test = TestStore()
  var settings: Store { test.store }

  @Test func `reads and writes its key, without changing what holds it`() throws {
    let panel = Panel(store: settings)
    #expect(panel.volume == 50 && panel.theme == .system && panel.frame == nil)
    panel.volume = 70
    panel.theme = .dark
    panel.frame = Frame(width: 9)
    #expect(settings[.volume] == 70 && settings[.theme] == .dark && settings[.frame] == Frame(width: 9))
    panel.frame = nil
    #expect(try settings.keys() == ["audio.volume", "theme"])
    settings[.volume] = 30
    #expect(panel.volume == 30)
  }

  @Test func `is inline with a name and a default, or nil`() throws {
    let settings = settings
    struct Inline {
      @Setting("audio.volume") var volume = 50
      @Setting("name") var name: String?
      @Setting("theme") var theme = Theme.dark
      init(_ store: Store) {
        _volume = Setting(wrappedValue: 60, "audio.volume", in: store)
        _name = Setting("name", in: store)
        _theme = Setting(wrappedValue: .dark, .theme, in: store)
      }
    }
    let inline = Inline(settings)
    #expect(inline.volume == 60 && inline.name == nil)
    #expect(inline.theme == .dark, "the property's default comes before the key's")
    inline.name = "Ada"
    inline.volume += 1
    #expect(try settings.value(forKey: "name") == "Ada" && settings.value(forKey: "audio.volume") == 61)
    inline.name = nil
    #expect(try settings.keys() == ["audio.volume"])
  }

  @Test func `has a default of its own, evaluated once for each wrapper`() throws {
    let count = Atomic(0)
    let settings = settings
    @Sendable func next() -> Int { count.add(1, ordering: .relaxed).newValue }
    let first = Setting(wrappedValue: next(), .volume, in: settings)
    let second = Setting(wrappedValue: next(), .volume, in: settings)
    #expect(count.load(ordering: .relaxed) == 0)
    #expect([first, first, second, second, first].map(\.wrappedValue) == [1, 1, 2, 2, 1])
    #expect(settings[.volume] == 50)
    try settings.register(70, for: .volume)
    #expect(first.wrappedValue == 70, "the registered value comes before it")
  }

  @Test func `gives the default for a value of another type, and says so`() throws {
    let panel = Panel(store: settings)
    try settings.set("loud", forKey: "audio.volume")
    #expect(panel.volume == 50)
    #expect(test.takeReported().map(\.code) == [.wrongType])
    #expect(try settings.value(forKey: "audio.volume") == "loud")
    settings.close()
    panel.volume = 3
    #expect(panel.volume == 50)
    #expect(test.takeReported().map(\.code) == [.closed, .closed])
  }

  @Test func `resets, and delivers the default for an absent value`() async throws {
    let panel = Panel(store: settings)
    let (stream, feed) = AsyncStream.makeStream(of: Int.self)
    var received = stream.makeAsyncIterator()
    panel.volume = 70
    let subscription = try panel.$volume.observe(initial: true) { feed.yield($0.new) }
    var changes = panel.$volume.changes.makeAsyncIterator()
    panel.$volume.reset()
    #expect(await received.next(isolation: #isolation) == 70)
    #expect(await received.next(isolation: #isolation) == 50)
    #expect(await changes.next(isolation: #isolation)?.new == 50)
    #expect(panel.volume == 50)
    panel.$volume.reset()
    settings.close()
    panel.$volume.reset()
    #expect(test.takeReported().map(\.code) == [.closed])
    subscription.cancel()
  }

  @Test func `is observed on a queue, with the property's own default`() async throws {
    let setting = Setting(wrappedValue: 5, .volume, in: settings)
    let (stream, feed) = AsyncStream.makeStream(of: Int.self)
    var received = stream.makeAsyncIterator()
    let subscription = try setting.projectedValue.observe(queue: .global()) { feed.yield($0.old) }
    setting.wrappedValue = 6
    #expect(await received.next(isolation: #isolation) == 5)
    subscription.cancel()
  }

  @Test func `says whether it is the default`() throws {
    let volume = Setting(.volume, in: settings).projectedValue
    #expect(volume.isDefault)
    try settings.register(70, for: .volume)
    #expect(volume.isDefault)
    try volume.set(50)
    #expect(!volume.isDefault, "it is stored")
    try settings.set("loud", forKey: "audio.volume")
    #expect(volume.isDefault)
    #expect(test.takeReported().isEmpty)
    settings.close()
    #expect(volume.isDefault)
    #expect(test.takeReported().map(\.code) == [.closed])
  }

  @Test func `throws on request, and nowhere else`() throws {
    let panel = Panel(store: settings)
    try panel.$volume.set(70)
    #expect(try panel.$volume.get() == 70)
    #expect(panel.$volume.key.name == "audio.volume" && panel.$volume.store === settings)
    try settings.set("loud", forKey: "audio.volume")
    _ = failure(.wrongType) { _ = try panel.$volume.get() }
    settings.close()
    _ = failure(.closed) { try panel.$volume.set(1) }
    #expect(test.takeReported().isEmpty)
  }
}

@Suite struct `A setting that is given its store in init` {
  let settings = TestStore().store

  @Test func `works in structs, classes, actors, on the main actor, and in Sendable classes`() async {
    let settings = settings
    let player = Player(store: settings)
    player.volume = 1
    let mixer = Mixer(store: settings)
    await mixer.louder()
    await MainActor.run {
      let window = Window(store: settings)
      window.volume += 1
      #expect(window.volume == 3)
    }
    let shared = Shared(store: settings)
    shared.volume.wrappedValue += 1
    #expect(settings[.volume] == 4)
    let volumes = await (mixer.volume, Task.detached { shared.volume.wrappedValue }.value)
    #expect(volumes == (4, 4))
    player.reset()
    #expect(shared.volume.projectedValue.isDefault)
  }

  @Test func `is a handle in a Sendable class, for any thread and on the main actor`() async throws {
    let holder = try Holder(store: settings)
    await Task.detached { holder.volume.value = 60 }.value
    await MainActor.run { holder.volume.value += 1 }
    #expect(settings[.volume] == 61)
  }

  @Test func `has its own store, and no other`() {
    let other = TestStore().store
    Player(store: other).volume = 9
    #expect(Player(store: settings).volume == 50 && other[.volume] == 9)
  }

  @Test func `a copy of what holds it is the same setting`() {
    let panel = Panel(store: settings)
    let copy = panel
    copy.volume = 33
    #expect(panel.volume == 33)
  }

  @Test func `stores its own default where it is asked to`() throws {
    let setting = Setting(wrappedValue: 8, .volume, in: settings, persistDefault: .whenAbsent)
    #expect(setting.wrappedValue == 8)
    #expect(settings[.volume] == 8)
    #expect(Setting(wrappedValue: 4, "inline", in: settings, persistDefault: .whenAbsent).wrappedValue == 4)
    #expect(try settings.value(forKey: "inline") == 4)
  }
}
