// Manual uses of Codable: nested containers, superclasses, single values, user info.

import Kept
import Testing

private final class Animal: Encodable {
  let name = "Rex"
}

/// Writes a point into a nested dictionary and its history into nested arrays, in an order of its own.
private struct ByHand: Codable, Equatable {
  var x = 1
  var history = [[1, 2], [3]]

  enum Outer: String, CodingKey { case point, history }
  enum Inner: String, CodingKey { case x }

  init() {}

  init(from decoder: any Decoder) throws {
    let outer = try decoder.container(keyedBy: Outer.self)
    x = try outer.nestedContainer(keyedBy: Inner.self, forKey: .point).decode(Int.self, forKey: .x)
    var rows = try outer.nestedUnkeyedContainer(forKey: .history)
    history = []
    while !rows.isAtEnd {
      var row = try rows.nestedUnkeyedContainer()
      var numbers: [Int] = []
      while !row.isAtEnd { numbers.append(try row.decode(Int.self)) }
      history.append(numbers)
    }
  }

  func encode(to encoder: any Encoder) throws {
    var outer = encoder.container(keyedBy: Outer.self)
    var point = outer.nestedContainer(keyedBy: Inner.self, forKey: .point)
    var rows = outer.nestedUnkeyedContainer(forKey: .history)
    for numbers in history {
      var row = rows.nestedUnkeyedContainer()
      for number in numbers { try row.encode(number) }
    }
    // After its parent has continued.
    try point.encode(x, forKey: .x)
  }
}

private class Base: Codable {
  var id = 1
  init() {}
}

private final class Derived: Base {
  var name = "d"
  enum CodingKeys: CodingKey { case name }

  override init() { super.init() }

  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    name = try container.decode(String.self, forKey: .name)
    try super.init(from: container.superDecoder())
  }

  override func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .name)
    try super.encode(to: container.superEncoder())
  }
}

private struct UnderBoth: Encodable {
  func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: StringKey.self)
    try members.encode(1, forKey: StringKey("a"))
    _ = encoder.unkeyedContainer()
  }
}

private struct StringKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }
  init(_ text: String) { stringValue = text }
  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

@Suite struct CodingContainerTests {
  @Test func `nested containers may be filled after their parents`() throws {
    let value = try ValueEncoder().encode(ByHand())
    #expect(value == ["point": ["x": 1], "history": [[1, 2], [3]]])
    #expect(try ValueDecoder().decode(ByHand.self, from: value) == ByHand())
  }

  @Test func `a superclass is stored under super`() throws {
    let derived = Derived()
    derived.id = 7
    derived.name = "e"
    let value = try ValueEncoder().encode(derived)
    #expect(value == ["name": "e", "super": ["id": 7]])
    let back = try ValueDecoder().decode(Derived.self, from: value)
    #expect(back.id == 7 && back.name == "e")
  }

  @Test func `a superclass in an array is its next element`() throws {
    struct Listed: Codable, Equatable {
      init() {}
      init(from decoder: any Decoder) throws {
        var elements = try decoder.unkeyedContainer()
        _ = try elements.decode(Int.self)
        _ = try ByHand(from: elements.superDecoder())
        #expect(elements.isAtEnd)
      }
      func encode(to encoder: any Encoder) throws {
        var elements = encoder.unkeyedContainer()
        try elements.encode(5)
        try ByHand().encode(to: elements.superEncoder())
        #expect(elements.count == 2)
      }
    }
    let value = try ValueEncoder().encode(Listed())
    #expect(value == [5, ["point": ["x": 1], "history": [[1, 2], [3]]]])
    #expect(try ValueDecoder().decode(Listed.self, from: value) == Listed())
  }

  @Test func `a type that codes as a single value is that value`() throws {
    struct Celsius: Codable, Equatable {
      var degrees: Double
      init(_ degrees: Double) { self.degrees = degrees }
      init(from decoder: any Decoder) throws { degrees = try decoder.singleValueContainer().decode(Double.self) }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(degrees)
      }
    }
    #expect(try ValueEncoder().encode(Celsius(21.5)) == 21.5)
    #expect(try ValueEncoder().encode([Celsius(1)]) == [1.0])
    #expect(try ValueDecoder().decode(Celsius.self, from: 21) == Celsius(21))
  }

  @Test func `scalars by themselves are values too`() throws {
    #expect(try ValueEncoder().encode(5) == 5)
    #expect(try ValueEncoder().encode(Int128(5)) == 5)
    #expect(try ValueEncoder().encode(String?.none) == .null)
    #expect(try ValueDecoder().decode(Int?.self, from: .null) == nil)
    #expect(try ValueDecoder().decode([UInt16].self, from: [65535]) == [65535])
  }

  @Test func `user info reaches the types`() throws {
    struct Reader: Codable {
      var text: String
      init() { text = "" }
      init(from decoder: any Decoder) throws { text = decoder.userInfo[.greeting] as? String ?? "none" }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(encoder.userInfo[.greeting] as? String)
      }
    }
    var encoder = ValueEncoder()
    encoder.userInfo[.greeting] = "hello"
    #expect(try encoder.encode(["a": Reader()]) == ["a": "hello"])
    var decoder = ValueDecoder()
    decoder.userInfo[.greeting] = "hi"
    #expect(try decoder.decode([Reader].self, from: [1]).first?.text == "hi")
  }

  @Test func `an array gives its elements one by one, and a null in its place`() throws {
    struct Row: Decodable {
      var numbers: [Int] = []
      init(from decoder: any Decoder) throws {
        var elements = try decoder.unkeyedContainer()
        #expect(elements.count == 3)
        #expect(try elements.decodeNil() == false)
        #expect(throws: DecodingError.self) { try elements.decode(String.self) }
        // What could not be read is still the next element.
        numbers.append(try elements.decode(Int.self))
        #expect(try elements.decodeNil())
        numbers.append(try elements.decode(Int.self))
        #expect(elements.isAtEnd)
        #expect(throws: DecodingError.self) { try elements.decode(Int.self) }
        #expect(throws: DecodingError.self) { try elements.decodeNil() }
      }
    }
    #expect(try ValueDecoder().decode(Row.self, from: [1, .null, 2]).numbers == [1, 2])
  }

  @Test func `one thing encoded as two is an error, not a crash`() {
    struct Twice: Encodable {
      func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(1)
        try container.encode(2)
      }
    }
    #expect(throws: EncodingError.self) { try ValueEncoder().encode(UnderBoth()) }
    #expect(throws: EncodingError.self) { try ValueEncoder().encode(["a": [UnderBoth()]]) }
    #expect(throws: EncodingError.self) { try ValueEncoder().encode(Twice()) }
  }

  @Test func `containers of every shape nest in an array, and each knows its path`() throws {
    struct Mixed: Codable, Equatable {
      init() {}
      init(from decoder: any Decoder) throws {
        #expect(decoder.codingPath.map(\.stringValue) == ["mixed"])
        var elements = try decoder.unkeyedContainer()
        #expect(elements.codingPath.count == 1)
        let members = try elements.nestedContainer(keyedBy: StringKey.self)
        #expect(members.codingPath.map(\.intValue) == [nil, 0])
        #expect(try members.decode(Int.self, forKey: StringKey("a")) == 1)
        #expect(try Int(from: members.superDecoder(forKey: StringKey("b"))) == 2)
        #expect(try members.decodeNil(forKey: StringKey("c")))
        #expect(members.allKeys.map(\.stringValue) == ["a", "b", "c"])
        let single = try elements.superDecoder().singleValueContainer()
        #expect(single.decodeNil())
        #expect(throws: DecodingError.self) { try elements.nestedContainer(keyedBy: StringKey.self) }
        #expect(throws: DecodingError.self) { try elements.nestedUnkeyedContainer() }
      }
      func encode(to encoder: any Encoder) throws {
        #expect(encoder.codingPath.map(\.stringValue) == ["mixed"])
        var elements = encoder.unkeyedContainer()
        #expect(elements.codingPath.count == 1)
        var members = elements.nestedContainer(keyedBy: StringKey.self)
        #expect(members.codingPath.map(\.intValue) == [nil, 0])
        try members.encode(1, forKey: StringKey("a"))
        try 2.encode(to: members.superEncoder(forKey: StringKey("b")))
        try members.encodeNil(forKey: StringKey("c"))
        try elements.encodeNil()
      }
    }
    let value = try ValueEncoder().encode(["mixed": Mixed()])
    #expect(value == ["mixed": [["a": 1, "b": 2, "c": .null], .null]])
    #expect(try ValueDecoder().decode([String: Mixed].self, from: value) == ["mixed": Mixed()])
  }

  @Test func `of two members with one name the later counts`() throws {
    struct Again: Encodable {
      func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: StringKey.self)
        try members.encode(1, forKey: StringKey("a"))
        try members.encode(2, forKey: StringKey("a"))
      }
    }
    #expect(try ValueEncoder().encode(Again()) == ["a": 2])
  }
}

extension CodingUserInfoKey {
  fileprivate static let greeting = CodingUserInfoKey(rawValue: "greeting").unsafelyUnwrapped
}
