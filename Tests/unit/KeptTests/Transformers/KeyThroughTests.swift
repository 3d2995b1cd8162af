// Keys and settings with a transformer: every way to read, write, observe and declare them.

import Foundation
import Kept
import Synchronization
import Testing

private struct Frame: Codable, Equatable {
  var width = 1
  var height = 2
  static let zero = Frame(width: 0, height: 0)
}
/// Neither Storable nor Codable.
private struct Tag: Equatable { var text: String }
private enum Level: Int { case low = 1, high }
private struct Refused: Error, Equatable { let text: String }

extension Transformer<Tag, String> {
  fileprivate static var marked: Transformer {
    Transformer(
      transform: { tag in
        guard !tag.text.isEmpty else { throw Refused(text: tag.text) }
        return "#" + tag.text
      },
      untransform: { text in
        guard text.hasPrefix("#") else { throw Refused(text: text) }
        return Tag(text: String(text.dropFirst()))
      })
  }
}

extension Keys {
  fileprivate static let frame = Key("window.frame", default: Frame.zero, through: .json)
  fileprivate static let tag = Key<Tag?>("tag", through: .marked)
  fileprivate static let twice = Key(
    "twice", default: 10, through: Transformer<Int, Int>(transform: { $0 / 2 }, untransform: { $0 * 2 }))
}

@Suite(.timeLimit(.minutes(30))) struct `A key through a transformer` {
  let test = TestStore()
  var settings: Store { test.store }

  @Test func `reads and writes what the transformer makes of the value, also of a number in memory`() throws {
    let folder = try SharedFolder()
    for store in [settings, try folder.store()] {
      for value in [2, 4, 6] {
        store[.twice] = value
        #expect(try store.value(forKey: "twice") == .int(Int64(value / 2)))
        #expect(try store[.twice] == value && store.value(for: .twice) == value)
        #expect(try store.handle(.twice).value == value && Setting(.twice, in: store).wrappedValue == value)
      }
      #expect(try store.remove(.twice) && store[.twice] == 10)
      store[.tag] = Tag(text: "a")
      #expect(store[.tag] == Tag(text: "a"))
      #expect(try store.value(forKey: "tag") == "#a")
    }
  }

  @Test func `has raw values that its type need not be Storable for`() throws {
    let level = Key("level", default: Level.low, through: .rawValue, .range(0...9))
    settings[level] = .high
    #expect(try settings.value(forKey: "level") == 2)
    try settings.set(3, forKey: "level")
    #expect(settings[level] == .low)
    #expect(failure(.wrongType) { _ = try settings.value(for: level) } == #""level": holds an Int that is not a Level"#)
    #expect(test.takeReported().map(\.code) == [.wrongType])
    #expect(try settings.value(forKey: "level") == 3)
  }

  @Test func `is stored as the bytes of a format, the same bytes each time`() throws {
    let map = Key("map", default: [:], through: Transformer<[String: Int], Data>.json)
    let pairs = (0..<40).map { ("name \($0)", $0) }
    for _ in 0..<40 { settings[map] = Dictionary(uniqueKeysWithValues: pairs.shuffled()) }
    #expect(try settings.currentRevision() == 1, "the same value again changes nothing")
    #expect(settings[map] == Dictionary(uniqueKeysWithValues: pairs))
    settings[.frame] = Frame()
    #expect(settings[Key<Data?>("window.frame")] == Data(#"{"height":2,"width":1}"#.utf8))
    let list = Key<Frame?>("list", through: .propertyList)
    settings[list] = Frame()
    #expect(settings[list] == Frame() && settings[Key<Data?>("list")]?.prefix(6) == Data("bplist".utf8))
  }

  @Test func `converts each element of an array`() throws {
    let tags = Key("tags", default: [], through: .elements(Transformer<Tag, String>.marked))
    settings[tags].append(Tag(text: "a"))
    settings[tags].append(Tag(text: "b"))
    #expect(try settings.value(forKey: "tags") == ["#a", "#b"])
    try settings.set(["#a", "b"], forKey: "tags")
    #expect(throws: Refused(text: "b")) { try settings.handle(tags).get() }
    #expect(settings[tags] == [])
  }

  @Test func `is a property with a key, or inline`() throws {
    let settings = settings
    struct Window {
      @Setting(.frame) var frame
      @Setting("page", through: .json) var page = Frame()
      @Setting("note", through: .marked) var note: Tag?
    }
    let frame = Setting(.frame, in: settings)
    frame.wrappedValue.width = 5
    #expect(settings[.frame] == Frame(width: 5, height: 0))
    frame.projectedValue.reset()
    #expect(frame.wrappedValue == .zero && frame.projectedValue.isDefault)
    let page = Setting(wrappedValue: Frame(), "page", through: .json, in: settings, persistDefault: .whenAbsent)
    #expect(page.wrappedValue == Frame())
    #expect(settings[Key<Data?>("page")] != nil, "the default was written back through the transformer")
    let own = Setting(wrappedValue: Frame(width: 7), .frame, in: settings)
    #expect(own.wrappedValue.width == 7)
    let note = Setting<Tag?>("note", through: .marked, in: settings)
    note.wrappedValue = Tag(text: "x")
    #expect(try settings.value(forKey: "note") == "#x" && note.projectedValue.get() == Tag(text: "x"))
    note.wrappedValue = nil
    #expect(try !settings.contains("note"))
    _ = Window.self
  }

  @Test func `throws what the transformer throws, unchanged from a handle and as the cause elsewhere`() throws {
    try settings.set("a", forKey: "tag")
    do {
      _ = try settings.value(for: .tag)
      Issue.record("it was read")
    } catch {
      #expect(error.code == .wrongType && error.key == "tag" && error.underlying as? Refused == Refused(text: "a"))
    }
    do {
      try settings.set(Tag(text: ""), for: .tag)
      Issue.record("it was written")
    } catch {
      #expect(error.code == .invalid && error.key == "tag" && error.underlying as? Refused == Refused(text: ""))
    }
    let tag = try settings.handle(.tag)
    #expect(throws: Refused(text: "a")) { try tag.get() }
    #expect(throws: Refused(text: "")) { try tag.set(Tag(text: "")) }
    #expect(settings[.tag] == nil && tag.value == nil)
    settings[.tag] = Tag(text: "")
    let reported = test.takeReported()
    #expect(reported.map(\.code) == [.wrongType, .wrongType, .invalid])
    #expect(reported.allSatisfy { $0.underlying is Refused && $0.key == "tag" })
    #expect(try settings.value(forKey: "tag") == "a", "the stored value stays")
    try settings.set(3, forKey: "tag")
    #expect(failure(.wrongType) { _ = try tag.get() } == #""tag": holds an int, not a string"#)
  }

  @Test func `keeps a place inside the value in the sentence`() throws {
    try settings.set(.bytes(Array(#"{"width":"x","height":1}"#.utf8)), forKey: "window.frame")
    #expect(failure(.wrongType) { _ = try settings.value(for: .frame) }.hasPrefix(#""window.frame": at .width"#))
    #expect(settings[.frame] == .zero)
  }

  @Test func `delivers the values to observers, and the error as it was thrown for what cannot be decoded`()
    async throws
  {
    var changes = settings.changes(of: .tag, initial: true).makeAsyncIterator()
    settings[.tag] = Tag(text: "a")
    try settings.set("b", forKey: "tag")
    settings[.tag] = nil
    var received: [Key<Tag?>.Change] = []
    while received.count < 4, let change = await changes.next(isolation: #isolation) { received.append(change) }
    #expect(received.map(\.new) == [nil, Tag(text: "a"), nil, nil])
    #expect(received.map(\.old) == [nil, nil, Tag(text: "a"), nil])
    #expect(received.map { $0.error?.underlying as? Refused } == [nil, nil, Refused(text: "b"), nil])
    #expect(received.map(\.event) == [.initial, .set, .set, .removed])
    #expect(throws: Refused(text: "b")) { try received[2].result.get() }
  }

  @Test func `removes for nil without asking the transformer, and reads as its lazy default`() throws {
    let asked = Atomic(0)
    let made = Atomic(0)
    let counting = Transformer<Frame?, Data>(
      transform: { frame in
        asked.add(1, ordering: .relaxed)
        return try JSONEncoder().encode(frame)
      },
      untransform: { try JSONDecoder().decode(Frame?.self, from: $0) })
    let key = Key(
      "frame",
      default: {
        made.add(1, ordering: .relaxed)
        return Frame(width: 3)
      }(), through: counting)
    settings[key] = Frame()
    #expect(settings[key] == Frame() && made.load(ordering: .relaxed) == 0)
    settings[key] = nil
    #expect(try !settings.contains(key) && asked.load(ordering: .relaxed) == 1)
    #expect(settings[key] == Frame(width: 3) && settings[key] == Frame(width: 3))
    #expect(made.load(ordering: .relaxed) == 1)
  }

  @Test func `is changed as one step, and in a transaction that fails as a whole`() throws {
    #expect(try settings.updateValue(.frame) { $0.width += 4 } == Frame(width: 4, height: 0))
    #expect(throws: StoreError.self) {
      try settings.transaction { transaction in
        transaction[.frame] = Frame()
        #expect(transaction[.frame] == Frame())
        transaction[.tag] = Tag(text: "")
      }
    }
    #expect(settings[.frame] == Frame(width: 4, height: 0))
    #expect(try !settings.contains(.tag))
  }

  @Test func `is declared as its stored type, with the rules and the default of that`() throws {
    let level = Key("level", default: Level.low, through: .rawValue, .range(1...2), summary: "how much")
    for _ in 1...3 { try settings.declare(.frame, .tag, level) }
    #expect(
      try settings.declaration(of: .frame)?.json
        == #"{"default":{"$binary":{"base64":"eyJoZWlnaHQiOjAsIndpZHRoIjowfQ==","subType":"00"}},"type":"bytes"}"#)
    #expect(try settings.declaration(of: .tag)?.json == #"{"type":"string"}"#)
    #expect(
      try settings.declaration(of: level)?.json
        == #"{"default":1,"maximum":2,"minimum":1,"summary":"how much","type":"integer"}"#)
    #expect(settings[.frame] == .zero)
    _ = failure(.wrongType) { try settings.set("text", forKey: "window.frame") }
    let refusing = Key("refusing", default: Tag(text: ""), through: .marked)
    #expect(failure(.invalid) { try settings.declare(refusing) }.hasPrefix(#""refusing": "#))
  }

  @Test func `is handled as the type that is stored`() throws {
    _ = try settings.handle(.frame)
    let same: Handle<Frame?> = try settings.handle("window.frame", through: .json)
    #expect(same.value == nil)
    _ = failure(.typeConflict) { _ = try settings.handle("window.frame", of: String.self) }
    #expect(Handle(Key("window.frame", default: 1), in: settings) == nil)
    #expect(Handle(.frame, in: settings)?.value == .zero)
  }

  @Test func `round-trips through launch arguments`() throws {
    var launch = LaunchArguments()
    try launch.set(Frame(), for: .frame)
    try launch.set(Tag(text: "a"), for: .tag)
    try launch.set(8, for: .twice)
    #expect(launch.arguments.suffix(4) == ["-tag", "<string>#a</string>", "-twice", "<integer>4</integer>"])
    let layered = try LayeredStore(launch.arguments)
    #expect(layered.store[.frame] == Frame() && layered.store[.tag] == Tag(text: "a") && layered.store[.twice] == 8)
    let plain = try LayeredStore(["-twice", "4", "-tag", "a", "-label", "5"])
    #expect(plain.store[.twice] == 8 && plain.store[.tag] == nil)
    let label = Key<Tag?>("label", through: Transformer(transform: \.text, untransform: { Tag(text: $0) }))
    #expect(plain.store[label] == Tag(text: "5"), "a text of the command line has the type asked for")
    #expect(throws: StoreError.self) { try plain.store.value(for: .tag) }
  }

  @Test func `registers a default through the transformer`() throws {
    try settings.register(Frame(), for: .frame)
    #expect(settings[.frame] == Frame())
    #expect(try settings.layer(of: .frame) == .registered)
  }

  @Test func `moves what cannot be decoded to quarantine, if that was asked for`() throws {
    let frame = Key("frame", default: Frame.zero, through: .json, persistDefault: .both)
    try settings.set(.bytes([1, 2]), forKey: "frame")
    _ = failure(.wrongType) { _ = try settings.value(for: frame) }
    #expect(try settings.value(forKey: "frame") == .bytes([1, 2]))
    #expect(settings[frame] == .zero)
    #expect(try settings.value(forKey: "frame.quarantined") == .bytes([1, 2]))
    #expect(settings[Key<Data?>("frame")] == Data(#"{"height":0,"width":0}"#.utf8))
  }

  @Test func `of a secret says nothing of what the transformer says, and copies it nowhere`() throws {
    let token = Key("token", default: Tag(text: "none"), through: .marked, secret: true, persistDefault: .both)
    try settings.set("hunter2", forKey: "token")
    let sentence = failure(.wrongType) { _ = try settings.value(for: token) }
    #expect(sentence == #""token": cannot be converted; the value is secret, so the reason is not shown"#)
    #expect(settings[token] == Tag(text: "none"))
    #expect(try settings.keys() == ["token"])
    let received = test.takeReported()
    #expect(received.map(\.code) == [.wrongType, .unsupported] && received[0].underlying as? Refused != nil)
    #expect(!received.map(\.description).joined().contains("hunter2"))
  }
}
