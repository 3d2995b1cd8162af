// Codable types as values: the stored form of each, and the round trip.

import FoundationEssentials
import Kept
import Testing

private struct Frame: Codable, Storable, Equatable { var x, y, width, height: Double }

private struct Everything: Codable, Storable, Equatable {
  var flag = true
  var small: Int8 = -8
  var large = UInt64.max
  var single: Float = 0.1
  var double = 0.1
  var text = "é"
  var bytes = Data([0, 255])
  var date = Date(timeIntervalSinceReferenceDate: 816_911_041.25)
  var link = URL(string: "https://example.com")
  var missing: Int?
  var list: [Int?] = [1, nil]
  var table: [String: Frame] = ["a": Frame(x: 1, y: 2, width: 3, height: 4)]
  var byNumber: [Int: Bool] = [7: true]
}

private enum Shape: Codable, Storable, Equatable {
  case point
  case circle(radius: Double)
}

@Suite struct CodableTests {
  private func expectRoundTrip<T: Storable & Equatable>(_ value: T) throws {
    #expect(try T(stored: value.stored()) == value)
    // And through the text that C and Python read and write.
    #expect(try T(stored: Value(json: value.stored().json)) == value)
  }

  @Test func `a Codable struct written by Swift is JSON object text`() throws {
    let settings = TestStore().store
    let key = Key<Frame?>("window.frame")
    settings[key] = Frame(x: 1, y: 2.5, width: 640, height: 480)
    #expect(try settings.json(forKey: "window.frame") == #"{"height":480.0,"width":640.0,"x":1.0,"y":2.5}"#)
    try settings.setJSON(#"{"height":1,"width":2,"x":3,"y":4}"#, forKey: "window.frame")
    #expect(settings[key] == Frame(x: 3, y: 4, width: 2, height: 1))
  }

  @Test func `every kind keeps itself inside a Codable type`() throws {
    try expectRoundTrip(Everything())
    guard case .dictionary(let members) = try Everything().stored() else {
      Issue.record("a struct is stored as a dictionary")
      return
    }
    #expect(members["large"] == .uint(.max))
    #expect(members["single"] == .double(Double(Float(0.1))))
    #expect(members["bytes"] == .bytes([0, 255]))
    #expect(members["date"] == .date(try Timestamp(seconds: 1_795_218_241, nanoseconds: 250_000_000)))
    #expect(members["link"] == "https://example.com")
    #expect(members["missing"] == nil)
    #expect(members["list"] == [1, .null])
    #expect(members["byNumber"] == ["7": true])
  }

  @Test func `NaN and the infinities are values like others`() throws {
    let frame = Frame(x: .nan, y: .infinity, width: -.infinity, height: -0.0)
    let back = try Frame(stored: Value(json: frame.stored().json))
    #expect(back.x.isNaN && back.y == .infinity && back.width == -.infinity)
    #expect(back.height.bitPattern == (-0.0).bitPattern)
  }

  @Test func `an enum with associated values reads back`() throws {
    try expectRoundTrip(Shape.point)
    try expectRoundTrip(Shape.circle(radius: 2))
    #expect(try Shape.circle(radius: 2).stored() == ["circle": ["radius": 2.0]])
  }

  @Test func `a struct without members is an empty dictionary`() throws {
    struct Empty: Codable, Storable, Equatable {}
    try expectRoundTrip(Empty())
    #expect(try Empty().stored() == [:])
  }

  @Test func `members of a newer version are ignored`() throws {
    let frame = try Frame(stored: ["x": 0, "y": 0, "width": 1, "height": 1, "depth": "new"])
    #expect(frame == Frame(x: 0, y: 0, width: 1, height: 1))
  }

  @Test func `members are found by the bytes of their names`() throws {
    struct Composed: Codable, Storable {
      var value: Int
      enum CodingKeys: String, CodingKey { case value = "\u{E9}" }
    }
    #expect(try Composed(stored: ["\u{E9}": 1, "e\u{301}": 2]).value == 1)
    _ = failure(.wrongType) { _ = try Composed(stored: ["e\u{301}": 2]) }
  }

  @Test func `a generic and a recursive type read back`() throws {
    struct Box<T: Codable & Sendable & Equatable>: Codable, Storable, Equatable { var content: T }
    indirect enum Tree: Codable, Storable, Equatable { case leaf, node(Tree, Tree) }
    try expectRoundTrip(Box(content: [Box(content: 1)]))
    try expectRoundTrip(Tree.node(.leaf, .node(.leaf, .leaf)))
  }

  @Test func `arrays of Codable values are arrays of dictionaries`() throws {
    let frames = [Frame(x: 0, y: 0, width: 1, height: 1)]
    try expectRoundTrip(frames)
    #expect(try frames.stored().kind == .array)
  }
}
