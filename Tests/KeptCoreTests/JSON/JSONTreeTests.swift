// json-c is the tree and not the judge: what it says is checked, and what it could get wrong is not taken from it.

import Testing

@testable import KeptCore

@Suite struct JSONTreeTests {
  private func tree<T>(_ text: String, _ body: (borrowing JSONTree) throws -> T) throws -> T {
    let bytes = Array(text.utf8)
    let result = bytes.withUnsafeBufferPointer { bytes in
      Result { try body(try JSONTree(bytes)) }
    }
    return try result.get()
  }

  @Test(arguments: ["[1", "{", "\"\\ud800", "", "]", "{\"a\"}", "tru"])
  func `what json-c refuses is an error with json-c's reason`(text: String) {
    let error = #expect(throws: StoreError.self) { try tree(text) { _ in } }
    #expect(error?.code == .invalid)
    #expect(error?.offset != nil)
    #expect(error?.message.contains("json-c cannot read the JSON text: ") == true)
  }

  @Test(arguments: ["[]", "{}", "[1.5]"])
  func `a tree that the scan has not foreseen is an error`(text: String) {
    let error = #expect(throws: StoreError.self) {
      try tree(text) { tree in
        var walk = JSONWalk(JSONFindings())
        _ = try walk.value(tree.root)
      }
    }
    #expect(error?.code == .failed)
    #expect(error?.message.contains("otherwise than Kept") == true)
  }

  @Test func `doubles come from the scan, since json-c's depend on the host's locale and settings`() throws {
    let value = try tree("[1.5,{\"a\":1e3}]") { tree in
      var walk = JSONWalk(JSONFindings(containers: [0, 5], doubles: [2.5, 4.5]))
      return try walk.value(tree.root)
    }
    #expect(value == [2.5, ["a": 4.5]])
  }

  @Test func `the scan finds containers and doubles in the order of the text`() throws {
    let text = Array(#" [1.5,{"a":[],"b":-2e3}, {}]"#.utf8)
    let result = text.withUnsafeBufferPointer { text in Result { try JSONScanner.scan(text) } }
    let findings = try result.get()
    #expect(findings.containers == [1, 6, 11, 25])
    #expect(findings.doubles == [1.5, -2000.0])
  }

  @Test func `the counted length is the written length`() throws {
    var generator = ValueGenerator(seed: 5)
    for _ in 0..<500 {
      let value = try generator.storedValue()
      #expect(value.jsonByteCount == value.json.utf8.count)
    }
  }
}
