// Large amounts of memory are requested first, and refused with a message if they are not available.

import CPlatform
@testable import KeptValues
import Testing

@Suite struct MemoryTests {
  /// More than any machine can map.
  private static let tooMuch = 1 << 60

  private func refusal(_ body: () throws -> Void) -> StoreError? { #expect(throws: StoreError.self) { try body() } }

  @Test(arguments: [tooMuch, Int.max]) func `an allocation that fails says what it was for`(count: Int) {
    let error = refusal { try Memory.ask(for: count, to: "read a test") }
    #expect(error?.code == .failed)
    #expect(error?.message.contains("not enough memory to read a test") == true)
    #expect(error?.message.contains("; free some") == true)
  }

  @Test func `small or existing memory is not refused`() throws {
    try Memory.ask(for: 0, to: "test")
    try Memory.ask(for: Memory.small, to: "test")
    try Memory.ask(for: 8 << 20, to: "test")
  }

  @Test func `an array grows by twice as much, and keeps what it has`() throws {
    var numbers: [Int] = []
    for number in 0..<10_000 {
      try Memory.makeRoom(in: &numbers, to: "test")
      #expect(numbers.count < numbers.capacity)
      numbers.append(number)
    }
    #expect(numbers == Array(0..<10_000))
    #expect(numbers.capacity < 40_000)
  }

  @Test func `memory that is used up bit by bit is asked for in time`() throws {
    var allowance = Allowance()
    for _ in 0..<1000 { try allowance.take(1 << 10, to: "test") }
    let error = refusal { try allowance.take(Self.tooMuch, to: "test") }
    #expect(error?.code == .failed)
  }

  @Test func `text for C is whole, however long, and ends with a NUL`() throws {
    let piece = String(repeating: "é", count: 1000)
    for count in [0, 1, 100] {
      let text = try CText.made { text throws(StoreError) in
        for _ in 0..<count { text.write(piece) }
      }
      defer { free(text) }
      #expect(String(cString: text) == String(repeating: piece, count: count))
    }
    let json = try Value.array([1, "a\0b"]).newCText()
    defer { free(json) }
    #expect(String(cString: json) == "[1,\"a\\u0000b\"]")
  }

  @Test func `text for C that is refused is given back`() {
    let error = refusal {
      _ = try CText.made { text throws(StoreError) in
        text.write("some")
        try text.reserve(Self.tooMuch)
      }
    }
    #expect(error?.code == .failed)
    #expect(refusal { _ = try CText.made { _ throws(StoreError) in throw StoreError(.busy, "x") } }?.code == .busy)
  }
}
