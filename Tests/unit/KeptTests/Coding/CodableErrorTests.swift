// Errors of Codable types: the place in the value, the kinds, and the code.

import FoundationEssentials
import Kept
import Testing

private struct Point: Codable, Storable { var x: Int }
private struct Drawing: Codable, Storable {
  var title: String
  var points: [Point]
}

@Suite struct CodableErrorTests {
  private func sentence(_ value: Value) -> String { failure(.wrongType) { _ = try Drawing(stored: value) } }

  @Test func `an undecodable value names the place, the kind found and the type asked for`() {
    #expect(sentence("text") == "holds a string, not a dictionary")
    #expect(sentence([:]) == "has no member \"title\"")
    #expect(sentence(["title": 1, "points": []]) == "at .title: holds an int, not a string")
    #expect(sentence(["title": "", "points": .null]) == "at .points: holds null, not an array")
    #expect(
      sentence(["title": "", "points": [["x": 1], ["x": "2"]]]) == "at .points[1].x: holds a string, not an int")
    #expect(sentence(["title": "", "points": [[:]]]) == "at .points[0]: has no member \"x\"")
  }

  @Test func `a number out of range inside a Codable type is refused`() {
    struct Small: Codable, Storable { var byte: UInt8 }
    #expect(
      failure(.wrongType) { _ = try Small(stored: ["byte": 256]) }
        == "at .byte: holds an int that UInt8 cannot hold exactly")
    _ = failure(.wrongType) { _ = try Small(stored: ["byte": true]) }
  }

  @Test func `the decoder itself throws DecodingError with the coding path`() {
    #expect {
      try ValueDecoder().decode(Drawing.self, from: ["title": "", "points": [["x": true]]])
    } throws: { error in
      guard case DecodingError.typeMismatch(let type, let context) = error else { return false }
      return type == Int.self && context.codingPath.map(\.stringValue) == ["points", "Index 0", "x"]
        && context.codingPath[1].intValue == 0
    }
    #expect {
      try ValueDecoder().decode([Int].self, from: [.null])
    } throws: { error in
      if case DecodingError.valueNotFound = error { true } else { false }
    }
  }

  @Test func `what a type's own init throws comes through its decoder unchanged, and as a sentence through a key`() {
    struct Refusal: Error {}
    struct Never: Codable, Storable {
      init(from decoder: any Decoder) throws { throw Refusal() }
      init() {}
      func encode(to encoder: any Encoder) throws { throw Refusal() }
    }
    #expect(throws: Refusal.self) { try ValueDecoder().decode([Never].self, from: [1]) }
    #expect(throws: Refusal.self) { try ValueEncoder().encode([Never()]) }
    #expect(failure(.wrongType) { _ = try Never(stored: 1) } == "cannot be decoded: Refusal()")
    #expect(failure(.invalid) { _ = try Never().stored() } == "cannot be encoded: Refusal()")
  }

  @Test func `a date that no store can hold is refused with its path`() {
    struct Event: Codable, Storable { var dates: [Date] }
    let event = Event(dates: [Date(timeIntervalSinceReferenceDate: 0), Date(timeIntervalSinceReferenceDate: .nan)])
    #expect(failure(.invalid) { _ = try event.stored() }.hasPrefix("at .dates[1]: the date is NaN"))
  }

  @Test func `64 containers inside each other are encoded, the 65th is refused`() throws {
    indirect enum Nest: Encodable {
      case core, layer(Nest)
      func encode(to encoder: any Encoder) throws {
        var elements = encoder.unkeyedContainer()
        if case .layer(let inner) = self { try elements.encode(inner) }
      }
    }
    func nest(_ containers: Int) -> Nest { (1..<containers).reduce(.core) { nest, _ in .layer(nest) } }
    let deepest = try ValueEncoder().encode(nest(64))
    #expect(try deepest.checkedForStore() == deepest)
    for depth in [65, 66, 10_000] {
      #expect {
        try ValueEncoder().encode(nest(depth))
      } throws: { error in
        guard case EncodingError.invalidValue(_, let context) = error else { return false }
        return (context.underlyingError as? StoreError)?.code == .tooLarge
      }
    }
  }

  @Test func `an object that contains itself is refused, not followed for ever`() {
    final class Loop: Encodable {
      var next: Loop?
    }
    let loop = Loop()
    loop.next = loop
    #expect(throws: EncodingError.self) { try ValueEncoder().encode(loop) }
    loop.next = nil
  }
}
