// Optionals, arrays and dictionaries: how nil is stored, and where inside them an error is.

import Kept
import Testing

@Suite struct ContainerTests {
  @Test func `arrays and dictionaries nest, with nil as null`() throws {
    let table: [String: [Int?]] = ["a": [1, nil], "b": []]
    #expect(try table.stored() == ["a": [1, .null], "b": []])
    #expect(try [String: [Int?]](stored: table.stored()) == table)
  }

  @Test func `an optional that holds a nil is refused, since it would come back as nil`() throws {
    #expect(try Int??.some(3).stored() == 3)
    #expect(try Int??.none.stored() == .null)
    _ = failure(.invalid) { _ = try Int??.some(nil).stored() }
  }

  @Test func `null is not read as a type that is not optional`() {
    #expect(failure(.wrongType) { _ = try [Int](stored: [1, .null]) } == "at [1]: holds null, not an int")
  }

  @Test func `an error says where inside the value it is`() {
    let rows: Value = ["rows": [["x": 1], ["x": "2"]]]
    #expect(
      failure(.wrongType) { _ = try [String: [[String: Int]]](stored: rows) }
        == "at .rows[1].x: holds a string, not an int")
    #expect(
      failure(.wrongType) { _ = try [String: Int](stored: ["a b": true]) }
        == "at [\"a b\"]: holds a bool, not an int")
    #expect(failure(.invalid) { _ = try [0, Int128.max].stored() }.hasPrefix("at [1]: the integer has"))
    #expect(failure(.invalid) { _ = try ["n": Int128.max].stored() }.hasPrefix("at .n: the integer has"))
  }

  @Test func `other kinds are neither arrays nor dictionaries`() {
    #expect(failure(.wrongType) { _ = try [Int](stored: ["a": 1]) } == "holds a dictionary, not an array")
    #expect(failure(.wrongType) { _ = try [String: Int](stored: [1]) } == "holds an array, not a dictionary")
    #expect(failure(.wrongType) { _ = try [Int](stored: 1) } == "holds an int, not an array")
  }

  /// "é" as one scalar and as two: two names in C, Python and JSON, one in a Swift dictionary.
  private let twins: Value = ["\u{E9}": 1, "e\u{301}": 2, "other": 3]

  @Test func `names that Swift holds to be equal are refused rather than one of them lost`() throws {
    #expect(failure(.wrongType) { _ = try [String: Int](stored: twins) }.contains("differ in their bytes"))
    // Reading the values without conversion loses nothing.
    let settings = TestStore().store
    let untyped = Key<Value?>("twins")
    settings[untyped] = twins
    #expect(settings[untyped] == twins)
    #expect(settings[Key<[String: Int]>("twins", default: [:])] == [:])
    #expect(settings[untyped] == twins)
  }

  @Test func `either spelling alone is accepted`() throws {
    let single: Value = ["e\u{301}": 2, "ü": 3]
    let dictionary = try [String: Int](stored: single)
    #expect(dictionary.count == 2)
    #expect(try dictionary.stored() == single)
  }

  @Test func `such names in a dictionary inside a Codable type are refused as well`() {
    struct Words: Codable, Storable { var counts: [String: Int] }
    #expect(
      failure(.wrongType) { _ = try Words(stored: ["counts": twins]) }
        .hasPrefix("at .counts: has two members whose names are both"))
  }

  @Test func `such names among members that a Codable struct ignores are accepted`() throws {
    struct Other: Codable, Storable { var other: Int }
    #expect(try Other(stored: twins).other == 3)
  }
}
