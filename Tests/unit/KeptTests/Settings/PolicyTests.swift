// Behaviour on which the reference libraries differ: one test for each choice of Kept.

import Dispatch
import KeptStorage
import KeptSystem
import Synchronization
import Testing

private enum Theme: String, Storable { case system, dark }
private struct Frame: Codable, Storable, Equatable { var width = 1 }

/// Writes only even numbers.
private struct Even: Storable, Equatable {
  var number: Int
  init(_ number: Int) { self.number = number }
  init(stored value: Value) throws(StoreError) { number = try Int(stored: value) }
  func stored() throws(StoreError) -> Value {
    guard number.isMultiple(of: 2) else { throw StoreError(.invalid, "is odd") }
    return .int(Int64(number))
  }
}

extension Keys {
  fileprivate static let volume = Key("audio.volume", default: 50)
  fileprivate static let theme = Key("theme", default: Theme.system)
  fileprivate static let frame = Key("frame", default: Frame())
  fileprivate static let name = Key<String?>("name")
}

/// The received elements, in order.
private final class Collected<Element: Sendable>: Sendable {
  private let elements = Mutex<[Element]>([])
  private let arrived = DispatchSemaphore(value: 0)

  var all: [Element] { elements.withLock { $0 } }

  func append(_ element: Element) {
    elements.withLock { $0.append(element) }
    arrived.signal()
  }

  /// The received elements, once there are `count`; call it with growing numbers.
  func all(atLeast count: Int) -> [Element] {
    while all.count < count { arrived.wait() }
    return all
  }
}

@Suite struct `A stored value` {
  let test = TestStore()
  var settings: Store { test.store }

  @Test func `of another kind is an error or the default, and stays as it is`() throws {
    try settings.set("loud", forKey: "audio.volume")
    let words = failure(.wrongType) { _ = try settings.value(for: .volume) }
    #expect(words == #""audio.volume": holds a string, not an int"#)
    #expect(test.takeReported().isEmpty)
    #expect(settings[.volume] == 50)
    #expect(Setting(.volume, in: settings).wrappedValue == 50)
    #expect(test.takeReported().map(\.description) == [words, words])
    #expect(try settings.value(forKey: "audio.volume") == "loud")
  }

  @Test func `as a number is one, of the same value; no Bool and no text is`() throws {
    let number = { (json: String) in try settings.setJSON(json, forKey: "n") }
    _ = try number("1")
    #expect(try settings.value(for: Key("n", default: 0.5)) == 1)
    _ = failure(.wrongType) { _ = try settings.value(for: Key("n", default: false)) }
    _ = try number("3.0")
    #expect(try settings.value(for: Key<Int8>("n", default: 0)) == 3)
    for json in ["3.5", "true", #""5""#, "1e300"] {
      _ = try number(json)
      _ = failure(.wrongType) { _ = try settings.value(for: Key("n", default: 0)) }
    }
    _ = try number("300")
    _ = failure(.wrongType) { _ = try settings.value(for: Key<UInt8>("n", default: 0)) }
  }

  @Test func `as text from the command line is parsed as the type asked for`() throws {
    let options = StoreOptions(arguments: ["program", "-audio.volume", "-7", "-name", "-7"])
    let settings = Store(storage: MemoryStorage(), options: options)
    #expect(settings[.volume] == -7)
    #expect(settings[.name] == "-7")
  }

  @Test func `that cannot be decoded is an error, and stays as it is`() throws {
    try settings.setJSON(#"{"width":"wide"}"#, forKey: "frame")
    _ = failure(.wrongType) { _ = try settings.value(for: .frame) }
    #expect(settings[.frame] == Frame())
    #expect(test.takeReported().map(\.key) == ["frame"])
    #expect(try settings.json(forKey: "frame") == #"{"width":"wide"}"#)
  }

  @Test func `as a raw value that the type does not know is an error or the default, also in arrays`() throws {
    try settings.set("neon", forKey: "theme")
    _ = failure(.wrongType) { _ = try settings.value(for: .theme) }
    #expect(settings[.theme] == .system)
    try settings.set(["dark", "neon"], forKey: "themes")
    let themes = Key("themes", default: [Theme.dark])
    _ = failure(.wrongType) { _ = try settings.value(for: themes) }
    #expect(settings[themes] == [.dark])
    #expect(try settings.value(forKey: "themes") == ["dark", "neon"])
  }
}

@Suite struct `A written value` {
  let test = TestStore()
  var settings: Store { test.store }

  @Test func `that cannot be encoded is an error, and the old value stays`() throws {
    let even = Key("even", default: Even(0))
    try settings.set(Even(2), for: even)
    _ = failure(.invalid) { try settings.set(Even(3), for: even) }
    settings[even] = Even(5)
    Setting(even, in: settings).wrappedValue = Even(7)
    #expect(settings[even] == Even(2))
    #expect(test.takeReported().map(\.code) == [.invalid, .invalid])
  }

  @Test func `as nil is removed`() throws {
    let setting = Setting(.name, in: settings)
    settings[.name] = "Ada"
    settings[.name] = nil
    #expect(try settings.keys() == [])
    setting.wrappedValue = "Ada"
    setting.wrappedValue = nil
    #expect(try settings.keys() == [])
    try setting.projectedValue.set("Ada")
    try setting.projectedValue.set(nil)
    #expect(try settings.keys() == [])
  }

  @Test func `that is the same again, or removed and absent, changes nothing`() throws {
    settings[.volume] = 70
    let received = Collected<Int>()
    let subscription = try settings.observe(.volume) { received.append($0.new) }
    let revision = try settings.currentRevision()
    settings[.volume] = 70
    try settings.remove(.name)
    settings[.name] = nil
    #expect(try settings.currentRevision() == revision)
    settings[.volume] = 71
    #expect(received.all(atLeast: 1) == [71])
    subscription.cancel()
  }
}

@Suite(.timeLimit(.minutes(30))) struct `An observer of one key` {
  let settings = TestStore().store

  /// Writes, and waits until the observer that subscribed last has been called.
  private func writeAndWait(_ value: Int) throws {
    let received = Collected<Int>()
    let last = try settings.observe(.volume) { received.append($0.new) }
    settings[.volume] = value
    #expect(received.all(atLeast: 1) == [value])
    last.cancel()
  }

  @Test func `receives the present value first, on its own thread, and only on request`() throws {
    let (asked, notAsked) = (Collected<(Int, Bool, Bool)>(), Collected<Int>())
    let here = LibraryThread.current
    let token = try settings.observe(.volume, initial: true) {
      asked.append(($0.new, $0.isInitial, LibraryThread.current == here))
    }
    #expect(asked.all.map(\.0) == [50])
    let other = try settings.observe(.volume) { notAsked.append($0.new) }
    settings[.volume] = 60
    #expect(asked.all(atLeast: 2).map(\.0) == [50, 60])
    #expect(asked.all.map(\.1) == [true, false] && asked.all.map(\.2) == [true, false])
    #expect(notAsked.all(atLeast: 1) == [60])
    token.cancel()
    other.cancel()
  }

  @Test func `receives nothing after its token was cancelled, twice or once, or dropped`() throws {
    let (cancelled, dropped) = (Collected<Int>(), Collected<Int>())
    let token = try settings.observe(.volume) { cancelled.append($0.new) }
    var held: Subscription? = try settings.observe(.volume) { dropped.append($0.new) }
    settings[.volume] = 60
    #expect(cancelled.all(atLeast: 1) == dropped.all(atLeast: 1))
    token.cancel()
    token.cancel()
    #expect(held != nil)
    held = nil
    try writeAndWait(70)
    #expect(cancelled.all == [60] && dropped.all == [60])
  }

  @Test func `is not called any more once it is cancelled, even in the round that is running`() throws {
    for round in 1...50 {
      let received = Collected<String>()
      let tokens = Mutex<[Subscription]>([])
      // The first one that is called cancels the other.
      let first = try settings.observe(.volume) { _ in
        tokens.withLock { $0 }.last?.cancel()
        received.append("first")
      }
      let second = try settings.observe(.volume) { _ in
        tokens.withLock { $0 }.first?.cancel()
        received.append("second")
      }
      tokens.withLock { $0 = [first, second] }
      try writeAndWait(round)
      #expect(received.all(atLeast: 1).count == 1)
      tokens.withLock { $0 = [] }
    }
  }

  @Test func `receives the values of concurrent writers in the order of their commits`() throws {
    let received = Collected<Key<Int>.Change>()
    let settings = settings
    let token = try settings.observe(.volume) { received.append($0) }
    onThreads(8) { writer in for step in 0..<100 { settings[.volume] = writer * 1000 + step + 100 } }
    let changes = received.all(atLeast: 800)
    let isInOrder = changes.map(\.revision) == Array(1...800)
    #expect(isInOrder && changes.last?.new == settings[.volume])
    #expect(zip(changes, changes.dropFirst()).allSatisfy { $0.new == $1.old })
    token.cancel()
  }

  @Test func `with dots receives its changes, also its removal`() throws {
    let received = Collected<Key<Int>.Event>()
    let token = try settings.observe(.volume) { received.append($0.event) }
    settings[.volume] = 1
    try settings.remove(.volume)
    #expect(received.all(atLeast: 2) == [.set, .removed])
    token.cancel()
  }
}
