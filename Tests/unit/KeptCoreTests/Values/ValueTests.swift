// Equality of values and of names.

@testable import KeptValues
import Testing

@Suite struct ValueTests {
  @Test func `1, 1.0, true and "1" are four values`() {
    let values: [Value] = [1, 1.0, true, "1", .uint(1), .bytes([1]), [1], .null]
    #expect(Set(values).count == values.count)
    for (index, value) in values.enumerated() {
      #expect(values.firstIndex(of: value) == index)
    }
  }

  @Test func `every value equals itself, with one hash`() throws {
    let date = try Timestamp(seconds: 1)
    for value: Value in [
      .null, false, 1, .uint(.max), 1.5, .double(.nan), "é", .bytes([]), .date(date), [1, [2]], ["a": ["b": .null]],
    ] {
      let twin = try value == .null ? .null : Value(json: value.json)
      #expect(value == twin)
      #expect(value.hashValue == twin.hashValue)
    }
  }

  @Test func `doubles are compared by their bits`() {
    #expect(Value.double(.nan) == .double(.nan))
    #expect(Value.double(.nan) != .double(.signalingNaN))
    #expect(Value.double(0.0) != .double(-0.0))
    #expect(Set([Value.double(.nan), .double(.nan), 0.0, -0.0]).count == 3)
  }

  @Test func `text is compared by its bytes`() {
    #expect("\u{e9}" == "e\u{301}")  // equal in Swift
    #expect(Value.string("\u{e9}") != .string("e\u{301}"))
    #expect(Set([Value.string("\u{e9}"), .string("e\u{301}")]).count == 2)
    #expect(Value.string("K") != .string("\u{212a}"))
    #expect(Value.string("a") != .string("a\0"))
  }

  @Test func `each kind has its name and its way out`() throws {
    let date = try Timestamp(seconds: 0)
    let values: [Value] = [.null, true, 1, .uint(.max), 1.5, "a", .bytes([1]), .date(date), [1], ["a": 1]]
    #expect(values.map(\.kind) == Value.Kind.allCases)
    #expect(values.map(\.kind.description) == Value.Kind.allCases.map(\.rawValue))
    #expect(values.compactMap(\.asBool) == [true])
    #expect(values.compactMap(\.asString) == ["a"])
    #expect(values.compactMap(\.asBytes) == [[1]])
    #expect(values.compactMap(\.asDate) == [date])
    #expect(values.compactMap(\.asArray) == [[1]])
    #expect(values.compactMap(\.asDictionary) == [["a": 1]])
    #expect(
      values.map(\.described).joined(separator: ", ").hasPrefix(
        "null, a bool, an int, a uint, a double, a string, bytes"))
  }
}

@Suite struct ValueDictionaryTests {
  @Test func `of two pairs with one key the later one stays`() {
    let dictionary = ValueDictionary([("b", 1), ("a", 2), ("b", 3)])
    #expect(dictionary.map(\.key) == ["a", "b"])
    #expect(dictionary["b"] == 3)
    #expect(ValueDictionary([("a", 1), ("a", 2)])["a"] == 2)
    for count in [2, 16, 17, 40] {
      let twice = (0..<count).map { (ExactString("\($0 * 7 % (count / 2))"), Value.int(Int64($0))) }
      let expected = Dictionary(twice) { _, later in later }
      let dictionary = ValueDictionary(twice)
      #expect(dictionary.map(\.key) == expected.keys.sorted())
      #expect(dictionary.allSatisfy { $0.value == expected[$0.key] })
    }
  }

  @Test func `members stay sorted by bytes whatever is set and removed`() {
    var random = SeededRandom(3)
    var dictionary = ValueDictionary()
    var twin: [ExactString: Value] = [:]
    for _ in 0..<2000 {
      let key = ExactString(["é", "e\u{301}", "a", "B", "𝄞", ""][Int(random.next() % 6)] + "\(random.next() % 20)")
      let value: Value? = random.next() % 3 == 0 ? nil : .int(Int64(random.next() % 100))
      dictionary[key] = value
      twin[key] = value
      #expect(dictionary[key] == value)
    }
    #expect(dictionary.map(\.key) == twin.keys.sorted())
    #expect(dictionary.map(\.value) == twin.keys.sorted().map { twin[$0] })
    #expect(dictionary == ValueDictionary(twin.map { ($0.key, $0.value) }))
  }

  @Test func `mapping keeps the keys and passes errors on`() throws {
    let dictionary: ValueDictionary = ["a": 1, "b": 2]
    #expect(dictionary.mapValues { [$0] } == ["a": [1], "b": [2]])
    #expect(throws: StoreError.self) {
      try dictionary.mapValues { _ in throw StoreError(.failed, "no") }
    }
  }
}

@Suite struct ValueNameTests {
  @Test func `names are ordered by their bytes`() {
    let names: [ExactString] = ["", "A", "Z", "a", "a\u{0}", "aa", "b", "e\u{301}", "\u{e9}", "\u{ffff}", "𝄞"]
    #expect(names.reversed().sorted() == names)
    #expect(Set(names).count == names.count)
  }

  @Test func `a prefix is one of bytes`() {
    #expect(ExactString("e\u{301}x").hasPrefix("e"))
    #expect(!ExactString("\u{e9}x").hasPrefix("e"))
    #expect(ExactString("abc").hasPrefix(""))
    #expect(!ExactString("abc").hasPrefix("abcd"))
  }

  @Test(arguments: [
    "a", " ", "a.b.c", "é", "\n", "$x", String(repeating: "k", count: 1024), String(repeating: "é", count: 512),
  ])
  func `a key of 1 to 1024 bytes is one`(text: String) throws {
    #expect(try KeyName(text).text == text)
    #expect(try KeyName(text).description == text)
  }

  @Test(arguments: [
    ("", "the key is empty"), ("a\0b", "a NUL at byte 1"), ("\0", "a NUL at byte 0"),
    (String(repeating: "k", count: 1025), "1025 bytes"), (String(repeating: "é", count: 513), "1026 bytes"),
  ])
  func `any other text is not a key`(text: String, fragment: String) {
    let error = #expect(throws: StoreError.self) { try KeyName(text) }
    #expect(error?.code == .invalid)
    #expect(error?.message.contains(fragment) == true)
  }

  @Test func `an NFC key and its NFD form are two keys, in the order of their bytes`() throws {
    let (nfc, nfd) = (try KeyName("\u{e9}"), try KeyName("e\u{301}"))
    #expect(nfc != nfd)
    #expect(nfd < nfc)
    #expect(Set([nfc, nfd]).count == 2)
  }
}
