// How keys are declared: by their types, constraints, defaults and summaries; and which keys cannot be declared.

import Foundation
import Kept
import Testing

private enum Theme: String, CaseIterable, Storable { case system, dark }
private enum Open: String, Storable { case system, dark }
private enum Level: Int, CaseIterable, Codable, Storable { case low = 1, high = 9 }
private struct Frame: Codable, Storable, Equatable { var width = 1 }
private struct Steps: OptionSet, Storable { let rawValue: Int }

/// Several cases, distinguished when they are decoded.
private enum Either: Codable, Storable {
  case number(Int)
  case text(String)
  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let number = try? container.decode(Int.self)
    self = try number.map { .number($0) } ?? .text(container.decode(String.self))
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .number(let number): try container.encode(number)
    case .text(let text): try container.encode(text)
    }
  }
}
private enum Shape: Codable, Storable, Equatable {
  case circle(radius: Double)
  case square(side: Double)
}
private struct Celsius: Codable, Storable {
  var degrees: Double
  init(degrees: Double) { self.degrees = degrees }
  init(from decoder: any Decoder) throws { degrees = try decoder.singleValueContainer().decode(Double.self) }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(degrees)
  }
}
private struct Pair: Codable, Storable {
  init() {}
  init(from decoder: any Decoder) throws { _ = try decoder.unkeyedContainer() }
  func encode(to encoder: any Encoder) throws { _ = encoder.unkeyedContainer() }
}

/// Neither Codable nor with a raw value: it declares its type itself, or not.
private struct Colour: Storable {
  init(stored value: Value) throws(StoreError) { _ = try String(stored: value) }
  func stored() -> Value { "red" }
  static var schema: Schema? { .string }
}
private struct Blob: Storable {
  init() {}
  init(stored value: Value) {}
  func stored() -> Value { [1, 2] }
}
private struct Unwritable: Codable, Storable {
  struct Refusal: Error {}
  init() {}
  init(from decoder: any Decoder) throws { _ = try decoder.container(keyedBy: Names.self) }
  enum Names: CodingKey { case a }
  func encode(to encoder: any Encoder) throws { throw Refusal() }
}

extension Keys {
  fileprivate static let volume = Key(
    "audio.volume", default: 50, .range(0...100), summary: "Loudness in percent")
  fileprivate static let theme = Key("theme", default: Theme.system)
  fileprivate static let token = Key<String?>("token", .length(4...Int.max), .pattern("^[a-z]+$"), secret: true)
}

@Suite struct `What a key is declared as` {
  let settings = TestStore().store

  private func expect(
    _ key: Key<some Storable>, _ json: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    #expect(try settings.declare(key).isEmpty, sourceLocation: sourceLocation)
    #expect(try settings.declaration(of: key)?.json == json, sourceLocation: sourceLocation)
    #expect(try settings.undeclare(key), sourceLocation: sourceLocation)
    #expect(try settings.declaration(of: key) == nil, sourceLocation: sourceLocation)
  }

  @Test func `is its type and its default`() throws {
    try expect(Key("a", default: true), #"{"default":true,"type":"boolean"}"#)
    try expect(Key("a", default: 5), #"{"default":5,"type":"integer"}"#)
    try expect(Key("a", default: 0.5), #"{"default":0.5,"type":"number"}"#)
    try expect(Key("a", default: Float(2)), #"{"default":2.0,"type":"number"}"#)
    try expect(Key("a", default: "x"), #"{"default":"x","type":"string"}"#)
    try expect(Key("a", default: Frame()), #"{"default":{"width":1},"type":"object"}"#)
    try expect(Key("a", default: Celsius(degrees: 3)), #"{"default":3.0,"type":"number"}"#)
    try expect(Key<Data?>("a"), #"{"type":"bytes"}"#)
    try expect(Key<Date?>("a"), #"{"type":"date"}"#)
    try expect(Key<Timestamp?>("a"), #"{"type":"date"}"#)
    try expect(Key<UUID?>("a"), #"{"type":"string"}"#)
    try expect(Key<URL?>("a"), #"{"type":"string"}"#)
    try expect(Key<Frame?>("a"), #"{"type":"object"}"#)
    try expect(Key<Shape?>("a"), #"{"type":"object"}"#)
    try expect(Key<Pair?>("a"), #"{"type":"array"}"#)
    try expect(Key<Colour?>("a"), #"{"type":"string"}"#)
    try expect(Key<Steps?>("a"), #"{"type":"integer"}"#)
  }

  @Test func `has the bounds of a narrow integer, and the cases of an enum`() throws {
    try expect(Key<Int8?>("a"), #"{"maximum":127,"minimum":-128,"type":"integer"}"#)
    try expect(Key<UInt16?>("a"), #"{"maximum":65535,"minimum":0,"type":"integer"}"#)
    try expect(Key<UInt64?>("a"), #"{"minimum":0,"type":"integer"}"#)
    try expect(Key<Int128?>("a"), #"{"type":"integer"}"#)
    try expect(Key<Theme?>("a"), #"{"enum":["system","dark"],"type":"string"}"#)
    try expect(Key<Open?>("a"), #"{"type":"string"}"#)
    try expect(Key<Level?>("a"), #"{"enum":[1,9],"type":"integer"}"#)
  }

  @Test func `goes into arrays and dictionaries, where a nil is a null`() throws {
    try expect(Key<[Int]?>("a"), #"{"items":{"type":"integer"},"type":"array"}"#)
    try expect(Key("a", default: ["x"]), #"{"default":["x"],"items":{"type":"string"},"type":"array"}"#)
    try expect(
      Key<[String: [Bool]]?>("a"),
      #"{"additionalProperties":{"items":{"type":"boolean"},"type":"array"},"type":"object"}"#)
    try expect(Key<[Value]?>("a"), #"{"type":"array"}"#)
    try expect(
      Key("a", default: [Int?.none]),
      #"{"default":[null],"items":{"type":["integer","null"]},"type":"array"}"#)
  }

  @Test func `has its constraints`() throws {
    try expect(
      .volume, #"{"default":50,"maximum":100,"minimum":0,"summary":"Loudness in percent","type":"integer"}"#)
    try expect(.token, #"{"minLength":4,"pattern":"^[a-z]+$","secret":true,"type":"string"}"#)
    try expect(Key("a", default: 0.5, .minimum(0)), #"{"default":0.5,"minimum":0.0,"type":"number"}"#)
    try expect(Key<UInt8?>("a", .maximum(9)), #"{"maximum":9,"minimum":0,"type":"integer"}"#)
    try expect(Key<Data?>("a", .length(0...3)), #"{"maxLength":3,"type":"bytes"}"#)
    try expect(Key("a", default: "x", .choices(["x", "y"])), #"{"default":"x","enum":["x","y"],"type":"string"}"#)
    try expect(Key<Theme?>("a", .choices([.dark])), #"{"enum":["dark"],"type":"string"}"#)
    try expect(
      Key<[String]?>("a", .each(.length(1...4))),
      #"{"items":{"maxLength":4,"minLength":1,"type":"string"},"type":"array"}"#)
    try expect(
      Key<[String: Int]?>("a", .each(.minimum(1))),
      #"{"additionalProperties":{"minimum":1,"type":"integer"},"type":"object"}"#)
  }

  @Test func `has its rare constraints`() throws {
    try expect(
      Key("a", default: 0.5, .exclusiveMinimum(0), .exclusiveMaximum(1)),
      #"{"default":0.5,"exclusiveMaximum":1.0,"exclusiveMinimum":0.0,"type":"number"}"#)
    try expect(Key<UInt8?>("a", .multipleOf(5)), #"{"maximum":255,"minimum":0,"multipleOf":5,"type":"integer"}"#)
    try expect(Key("a", default: "x", .constant("x")), #"{"const":"x","default":"x","type":"string"}"#)
    try expect(Key<String?>("a", .format("email")), #"{"format":"email","type":"string"}"#)
    try expect(
      Key("a", default: 1, .deprecated, .replacedBy("b"), .since("1.2"), .renamedFrom("c")),
      #"{"default":1,"deprecated":true,"renamedFrom":"c","replacedBy":"b","since":"1.2","type":"integer"}"#)
    try expect(
      Key<[Int]?>("a", .count(1...4), .uniqueElements(), .each(.constant(7))),
      #"{"items":{"const":7,"type":"integer"},"maxItems":4,"minItems":1,"type":"array","uniqueItems":true}"#)
    try expect(
      Key<[Int?]?>("a", .each(.constant(7))),
      #"{"items":{"enum":[7,null],"type":["integer","null"]},"type":"array"}"#)
    try expect(
      Key<[String: Int]?>("a", .count(0...2), .names(.pattern("^[a-z]+$"))),
      #"{"additionalProperties":{"type":"integer"},"maxProperties":2,"#
        + #""propertyNames":{"pattern":"^[a-z]+$","type":"string"},"type":"object"}"#)
  }

  @Test func `is what its default is, where the type does not say`() throws {
    try expect(Key("a", default: Blob()), #"{"default":[1,2],"type":"array"}"#)
    try expect(Key("a", default: Either.number(1)), #"{"default":1,"type":"integer"}"#)
    try expect(Key<Value>("a", default: "x"), #"{"default":"x","type":"string"}"#)
  }

  @Test func `has the default as it was when it was declared`() throws {
    settings[.volume] = 10
    let settings = settings
    let quieter = Key("quieter", default: settings[.volume] / 2)
    try settings.declare(quieter)
    settings[.volume] = 20
    #expect(settings[quieter] == 5, "and that comes before the key's own")
    try settings.declare(quieter)
    #expect(try settings.declaration(of: quieter)?.defaultValue == 10)
  }
}

@Suite struct `A key that cannot be declared` {
  let test = TestStore()
  var settings: Store { test.store }

  @Test func `says why, and declares no other with it`() throws {
    let words = failure(.unsupported) { try settings.declare(.volume, Key<Either?>("either")) }
    #expect(words.hasPrefix("\"either\": cannot be declared: neither Optional<Either> nor a default"))
    _ = failure(.unsupported) { try settings.declare(Key<Blob?>("blob")) }
    _ = failure(.unsupported) { try settings.declare(Key<Value?>("any")) }
    #expect(try settings.declarations().declarations.isEmpty)
  }

  @Test func `has an invalid name, a default that cannot be stored, or one that breaks its rules`() throws {
    _ = failure(.invalid) { try settings.declare(Key("", default: 1)) }
    let unwritable = failure(.invalid) { try settings.declare(Key("a", default: Unwritable())) }
    #expect(unwritable == #""a": cannot be encoded: Refusal()"#)
    #expect(failure(.invalid) { try settings.declare(Key("a", default: 5, .maximum(4))) }.hasPrefix("\"a\": "))
    _ = failure(.invalid) { try settings.declare(Key("a", default: "x", .pattern("("))) }
    _ = failure(.invalid) { try settings.declare(Key("a", default: 1, .choices([]))) }
    _ = failure(.invalid) { try settings.declare(Key("a", default: 1, .minimum(3), .maximum(2))) }
    _ = failure(.invalid) { try settings.declare(Key<String?>("a", .length(-3...2))) }
    _ = failure(.invalid) { try settings.declare(Key<[Int]?>("a", .count(-3...2))) }
    _ = failure(.invalid) { try settings.declare(Key("a", default: 1, .multipleOf(0))) }
    _ = failure(.invalid) { try settings.declare(Key("a", default: 1, .exclusiveMinimum(1))) }
    _ = failure(.invalid) { try settings.declare(Key<Double?>("a", .exclusiveMaximum(.infinity))) }
    #expect(try settings.declarations().declarations.isEmpty)
  }

  @Test func `is one of two that do not agree`() throws {
    let words = failure(.typeConflict) { try settings.declare(Key<Int?>("a"), Key<Bool?>("a")) }
    #expect(words.hasPrefix("\"a\": "))
    _ = failure(.invalid) { try settings.declare(Key("a", default: 1), Key("a", default: 2)) }
    try settings.declare(.volume, .volume)
    #expect(try settings.declarations().declarations.map(\.key.text) == ["audio.volume"])
    _ = failure(.typeConflict) { try settings.declare(Key<String?>("audio.volume")) }
  }
}
