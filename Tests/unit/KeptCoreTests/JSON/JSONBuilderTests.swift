// The builder relies on what the scan has found. A text that changes between the two does no harm.

@testable import KeptValues
import Testing

@Suite struct JSONBuilderTests {
  private func findings(_ text: String) throws -> JSONFindings {
    let bytes = Array(text.utf8)
    return try bytes.withUnsafeBufferPointer { bytes in
      Result { () throws(StoreError) in try JSONScanner.scan(bytes) }
    }.get()
  }

  private func built(_ text: String, _ findings: JSONFindings) throws -> Value {
    let bytes = Array(text.utf8)
    return try bytes.withUnsafeBufferPointer { bytes in
      Result { () throws(StoreError) in try JSONBuilder.value(of: bytes, findings) }
    }.get()
  }

  @Test func `the scan finds counts and doubles in the order of the text`() throws {
    let findings = try findings(#" [1.5,{"a":[],"b":-2e3, "c": [[0 , 1]] }, {}]"#)
    #expect(findings.counts == [3, 3, 0, 1, 2, 0])
    #expect(findings.doubles == [1.5, -2000.0])
  }

  @Test func `an integer that the scan takes for a double zero keeps its sign`() throws {
    #expect(try built("[-0]", JSONFindings(counts: [1])) == [-0.0])
  }

  /// Texts as they were when they were scanned, and when they are built.
  @Test(arguments: [
    ("[1.5]", "[1.5"), ("[1.5]", "[1.5,2.5]"), ("[1.5]", "[]"), ("[1]", "{}"), ("[1]", "[[1]]"), ("[1]", ""),
    ("[1]", "[-]"), ("[1]", "[true"), ("[1]", "[\"abc"), ("[1]", "[\"a\\u12"), ("[1]", "[\"\\"), ("{\"a\":1}", "{"),
    ("{\"a\":1}", "{1:2}"), ("{\"a\":1}", "{\"a\":1"), ("{\"a\":1}", "{\"a\":1,,\"a\":2}"),
    ("{\"a\":{\"a\":1}}", "{\"$binary\":{\"base64\":"), ("[1]", "[,]"), ("[1]", "[1 1]"), ("{\"a\":1}", "{\"$date\":"),
  ])
  func `a text that is changed between the two readings is read to an end`(scanned: String, changed: String) throws {
    do {
      _ = try built(changed, findings(scanned)).json
    } catch let error as StoreError {
      #expect(error.code == .invalid)
      #expect(error.offset != nil)
    }
  }

  @Test func `any text in the place of another is read to an end`() throws {
    var random = SeededRandom(31)
    var generator = ValueGenerator(seed: 31)
    for _ in 0..<300 {
      var bytes: [UInt8] = []
      try generator.storedValue().appendJSON(to: &bytes)
      let found = try findings(String(decoding: bytes, as: UTF8.self))
      for _ in 0..<4 {
        bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      _ = bytes.withUnsafeBufferPointer { bytes in
        Result { () throws(StoreError) in try JSONBuilder.value(of: bytes, found) }
      }
    }
  }

  @Test func `the memory that is counted is enough for the value, and a small multiple of the text`() throws {
    let count = 10_000
    for element in ["0", "{}", "[]", "[0]", "\"\"", "{\"\":0}", "{\"a\":[0]}", "\"0123456789abcdef\"", "1.5"] {
      let text = "[" + String(repeating: element + ",", count: count) + element + "]"
      let memory = try findings(text).memory
      #expect(memory >= count * MemoryLayout<Value>.stride)
      #expect(memory <= 40 * text.utf8.count, "\(element)")
    }
    let deep = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
    #expect(try findings(deep).memory >= 63 * 64)
  }

  @Test func `the counted length is the written length`() throws {
    var generator = ValueGenerator(seed: 5)
    for _ in 0..<500 {
      let value = try generator.storedValue()
      #expect(value.jsonByteCount == value.json.utf8.count)
      #expect(value.mostJSONBytes >= value.jsonByteCount)
    }
  }
}
