// What a layer file may contain, and which keys it locks.

import Foundation
@testable import KeptValues
import Testing

@testable import KeptCore

private func contents(_ json: String, _ layer: Layer = .managed) throws -> LayerContents {
  try LayerContents(Value(json: json), layer: layer)
}

@Suite struct `The contents of a layer file` {
  @Test func `are values, locked keys and locked prefixes`() throws {
    let values = #"{"audio.volume":30,"day":{"$date":"2026-11-20T00:00:00Z"}}"#
    let contents = try contents(#"{"values":\#(values),"locked":["theme"],"lockedPrefixes":["net."]}"#)
    let day = try Value(json: #"{"$date":"2026-11-20T00:00:00Z"}"#)
    #expect(try contents.values == [key("audio.volume"): 30, key("day"): day])
    for locked in ["audio.volume", "day", "theme", "net.", "net.proxy", "net.proxy.port"] {
      #expect(contents.locks(try key(locked)), "\(locked)")
    }
    for free in ["audio", "audio.volume.left", "themes", "them", "net", "netz", "Net.proxy"] {
      #expect(!contents.locks(try key(free)), "\(free)")
    }
  }

  @Test(arguments: ["{}", #"{"values":{}}"#, #"{"values":{},"locked":[],"lockedPrefixes":[]}"#])
  func `may be left out`(json: String) throws { #expect(try contents(json) == LayerContents()) }

  @Test func `lock nothing in the system layer`() throws {
    let contents = try contents(#"{"values":{"a":1}}"#, .system)
    #expect(try contents.values == [key("a"): 1])
    #expect(!contents.locks(try key("a")))
  }

  @Test func `lock by bytes, not by what looks the same`() throws {
    let contents = try contents("{\"locked\":[\"caf\u{E9}\"],\"lockedPrefixes\":[\"\u{E9}.\"]}")
    for locked in ["caf\u{E9}", "\u{E9}.x"] { #expect(contents.locks(try key(locked)), "\(locked)") }
    for free in ["cafe\u{301}", "e\u{301}.x"] { #expect(!contents.locks(try key(free)), "\(free)") }
  }

  @Test func `lock by the shortest of prefixes that begin with each other`() throws {
    let contents = try contents(#"{"lockedPrefixes":["b.c.","a","b.","ab","b.","z"]}"#)
    #expect(contents.lockedPrefixes == ["a", "b.", "z"])
    for locked in ["a", "abc", "b.", "b.c.d", "b.d", "zz"] { #expect(contents.locks(try key(locked)), "\(locked)") }
    for free in ["b", "c", "B.", "y"] { #expect(!contents.locks(try key(free)), "\(free)") }
  }

  @Test func `lock every key by an empty prefix`() throws {
    #expect(try contents(#"{"lockedPrefixes":[""]}"#).locks(try key("anything")))
  }

  @Test func `are stored as a store would`() throws {
    #expect(try contents(#"{"values":{"a":{"$numberULong":"7"}}}"#).values == [key("a"): .int(7)])
  }

  private static let refused: [(String, Layer, String)] = [
    ("[]", .managed, "holds an array"),
    ("null", .system, "holds null"),
    ("30", .system, "holds a number"),
    (#"{"value":{}}"#, .managed, "\"value\""),
    (#"{"$literal":{"$schema":"x"}}"#, .system, "\"$schema\""),
    (#"{"locked":[]}"#, .system, "only the managed layer"),
    (#"{"lockedPrefixes":[]}"#, .system, "only the managed layer"),
    (#"{"values":[]}"#, .managed, "\"values\" is an array"),
    (#"{"values":null}"#, .managed, "\"values\" is null"),
    (#"{"values":{"a":null}}"#, .managed, "leave the key out"),
    (#"{"values":{"":1}}"#, .managed, "in \"values\""),
    (#"{"locked":{}}"#, .managed, "\"locked\" is an object"),
    (#"{"locked":"a"}"#, .managed, "\"locked\" is a string"),
    (#"{"locked":[1]}"#, .managed, "\"locked\" holds a number"),
    (#"{"locked":[""]}"#, .managed, "in \"locked\""),
    (#"{"locked":["a\u0000"]}"#, .managed, "NUL"),
    (#"{"lockedPrefixes":["a\u0000"]}"#, .managed, "NUL"),
    (#"{"lockedPrefixes":[true]}"#, .managed, "\"lockedPrefixes\" holds a bool"),
  ]

  @Test(arguments: refused)
  func `are refused with the member named`(json: String, layer: Layer, words: String) throws {
    let error = #expect(throws: StoreError.self) { try contents(json, layer) }
    #expect(error?.code == .invalid)
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
  }

  @Test func `are refused with a key that is too long`() throws {
    let long = String(repeating: "k", count: 1025)
    for json in ["{\"values\":{\"\(long)\":1}}", "{\"locked\":[\"\(long)\"]}", "{\"lockedPrefixes\":[\"\(long)\"]}"] {
      let error = #expect(throws: StoreError.self) { try contents(json) }
      #expect(error?.code == .invalid)
    }
  }

  @Test func `name the key whose value cannot be stored`() throws {
    let error = #expect(throws: StoreError.self) {
      try LayerContents(["values": ["a.b": ["k\0": 1]]], layer: .system)
    }
    #expect(error?.key == "a.b")
  }
}
