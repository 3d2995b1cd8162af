// Handles of a type other than the stored one: conversions, enums, coders, elements, and their combinations.

import Foundation
import Kept
import Testing

private enum Theme: String, Storable { case light, dark }
private enum Level: Int { case low = 1, high }
private struct Frame: Codable, Equatable { var x, y: Int }
private struct Point: Codable, Equatable, Storable { var x, y: Int }

extension Keys {
  fileprivate static let volume = Key("audio.volume", default: 50)
  fileprivate static let theme = Key("theme", default: Theme.light)
  fileprivate static let themes = Key<[Theme]>("themes", default: [])
}

@Suite(.timeLimit(.minutes(30))) struct `A mapped handle` {
  let test = TestStore()
  var settings: Store { test.store }

  @Test func `reads and writes through its conversions`() throws {
    let volume = try settings.handle(.volume)
    let doubled = volume.map(encode: { $0 / 2 }, decode: { $0 * 2 })
    let text = doubled.map(encode: { (text: String) in text.count }, decode: { "\($0)" })
    #expect(doubled.value == 100 && text.value == "100")
    doubled.value = 120
    #expect(volume.value == 60 && text.value == "120")
    text << "eight..."
    #expect(volume.value == 4 && doubled.value == 8)
    try text.remove()
    #expect(doubled.value == 100 && doubled.key == "audio.volume")
    #expect("\(text)" == #"Handle<String>(key: "audio.volume")"#)
    #expect(test.takeReported().isEmpty)
  }

  @Test func `of the same type as its key reads no value past its conversions`() throws {
    let folder = try SharedFolder()
    let volume = try folder.store().handle(.volume)
    let doubled = volume.map(encode: { $0 / 2 }, decode: { $0 * 2 })
    for value in 1...3 {
      volume.value = value
      #expect(volume.value == value && doubled.value == 2 * value)
    }
  }

  @Test func `of an enum has its cases, and an unknown raw value is an error or the default`() throws {
    let theme = try settings.handle(.theme)
    let level: Handle<Level?> = try settings.handle("level", through: .rawValue)
    theme << .dark
    level << .high
    #expect(try settings.value(forKey: "theme") == "dark" && settings.value(forKey: "level") == 2)
    #expect(theme.value == .dark && level.value == .high)
    try settings.set("sepia", forKey: "theme")
    try settings.set(3, forKey: "level")
    #expect(theme.value == .light && level.value == nil && level.defaulted(to: .low).value == .low)
    #expect(test.takeReported().map(\.code) == [.wrongType, .wrongType, .wrongType])
    #expect(failure(.wrongType) { _ = try theme.get() } == #""theme": holds a string that is not a Theme"#)
    #expect(failure(.wrongType) { _ = try level.get() } == "holds an Int that is not a Level")
    #expect(try settings.value(forKey: "theme") == "sepia" && settings.value(forKey: "level") == 3)
  }

  @Test func `of an array of an enum survives an unknown raw value inside it`() throws {
    let themes = try settings.handle(.themes)
    let levels: Handle<[Level]?> = try settings.handle("levels", through: .elements(.rawValue))
    themes.value = [.dark, .light]
    levels.value = [.high, .low]
    #expect(try settings.value(forKey: "levels") == [2, 1])
    try settings.set(["dark", "sepia"], forKey: "themes")
    try settings.set([1, 3], forKey: "levels")
    #expect(themes.value == [] && levels.value == nil)
    #expect(failure(.wrongType) { _ = try themes.get() } == #""themes": at [1]: holds a string that is not a Theme"#)
    _ = failure(.wrongType) { _ = try levels.get() }
    #expect(try settings.value(forKey: "themes") == ["dark", "sepia"])
  }

  @Test func `of a Codable type is a readable object, or the bytes of a format`() throws {
    let point = try settings.handle("point", of: Point.self)
    point.value = Point(x: 1, y: 2)
    #expect(try settings.json(forKey: "point") == #"{"x":1,"y":2}"#)
    let (json, list): (Handle<Frame?>, Handle<Frame?>) =
      (try settings.handle("json", through: .json), try settings.handle("list", through: .propertyList))
    json.value = Frame(x: 1, y: 2)
    list.value = Frame(x: 3, y: 4)
    #expect(json.value == Frame(x: 1, y: 2) && list.value == Frame(x: 3, y: 4))
    let bytes = settings[Key<Data?>("json")]
    #expect(try JSONDecoder().decode(Frame.self, from: #require(bytes)) == Frame(x: 1, y: 2))
    #expect(settings[Key<Data?>("list")]?.prefix(6) == Data("bplist".utf8))
    json << nil
    #expect(try settings.keys() == ["list", "point"])
  }

  @Test func `of arrays of a Codable type, and by coders of one's own`() throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let frames: Handle<[Frame]?> = try settings.handle("frames", through: .elements(.json(encoder: encoder)))
    frames.value = [Frame(x: 1, y: 2), Frame(x: 3, y: 4)]
    #expect(frames.value?.last == Frame(x: 3, y: 4))
    #expect(settings[Key<[Data]>("frames", default: [])][0] == Data(#"{"x":1,"y":2}"#.utf8))
    let words = try settings.handle(
      "words",
      through: .custom(
        encode: { (words: [String]) in words.joined(separator: " ") },
        decode: { $0.split(separator: " ").map(String.init) }))
    words.value = ["one", "two"]
    #expect(settings[Key<String?>("words")] == "one two" && words.value == ["one", "two"])
  }

  @Test func `that fails to encode or decode leaves the stored value`() throws {
    let number: Handle<Double?> = try settings.handle("number", through: .json)
    number.value = 1
    #expect(throws: EncodingError.self) { try number.set(.nan) }
    number.value = .infinity
    #expect(number.value == 1)
    #expect(test.takeReported().map(\.key) == ["number"])
    try settings.set(.bytes([1, 2, 3]), forKey: "number")
    #expect(number.value == nil)
    #expect(throws: DecodingError.self) { try number.get() }
    #expect(try settings.value(forKey: "number") == .bytes([1, 2, 3]))
  }

  @Test func `of an array converts each element`() throws {
    let halves = try settings.handle(
      "halves",
      through: .elements(
        Transformer(
          transform: { (value: Double) in Int(value * 2) }, untransform: { Double($0) / 2 })))
    halves.value = [0.5, 1, 1.5]
    #expect(try settings.value(forKey: "halves") == [1, 2, 3])
    #expect(halves.value == [0.5, 1, 1.5])
    try settings.set([1, "two"], forKey: "halves")
    #expect(halves.value == nil)
    #expect(failure(.wrongType) { _ = try halves.get() } == #""halves": at [1]: holds a string, not an int"#)
  }

  @Test func `delivers what cannot be decoded with the error that was thrown`() async throws {
    let frame: Handle<Frame?> = try settings.handle("frame", through: .json)
    var received = Received<Handle<Frame?>.Change>()
    let subscription = try frame.observe(received.note)
    frame.value = Frame(x: 1, y: 2)
    try settings.set(.bytes([1, 2, 3]), forKey: "frame")
    frame.value = Frame(x: 3, y: 4)
    try frame.remove()
    let changes = try await received.take(4)
    #expect(changes.map(\.new) == [Frame(x: 1, y: 2), nil, Frame(x: 3, y: 4), nil])
    #expect(changes.map(\.old) == [nil, Frame(x: 1, y: 2), nil, Frame(x: 3, y: 4)])
    #expect(changes.map { $0.error?.underlying is DecodingError } == [false, true, false, false])
    #expect(changes.map(\.event) == [.set, .set, .set, .removed])
    subscription.cancel()
  }
}
