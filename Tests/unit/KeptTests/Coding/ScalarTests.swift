// Text, bytes, and types that are stored as text.

import FoundationEssentials
import Kept
import Testing

@Suite struct ScalarTests {
  @Test(arguments: ["", "a\0b", "é", "e\u{301}", "🏳️‍🌈", "\u{10FFFF}"])
  func `text reads back byte for byte`(_ text: String) throws {
    #expect(Array(try String(stored: text.stored()).utf8) == Array(text.utf8))
  }

  @Test func `bytes read back, also of a slice of data`() throws {
    let data = Data(0...255)
    #expect(try Data(stored: data.stored()) == data)
    #expect(data[10..<12].stored() == .bytes([10, 11]))
    #expect(try Data(stored: Data().stored()) == Data())
    #expect(failure(.wrongType) { _ = try Data(stored: "AAEC") } == "holds a string, not bytes")
  }

  @Test(arguments: [
    "https://example.com/a?b=c#d", "mailto:a@example.com", "data:,x", "urn:isbn:0", "file:///tmp/a%20b",
  ])
  func `a URL of any scheme is its text`(_ text: String) throws {
    let url = try #require(URL(string: text))
    #expect(try url.stored() == .string(text))
    #expect(try URL(stored: .string(text)) == url)
  }

  @Test(arguments: ["/tmp/a", "/tmp/a b/\u{FC}", "/", "/tmp/folder/"])
  func `a path is read as a file's URL`(_ path: String) throws {
    let url = try URL(stored: .string(path))
    #expect(url.isFileURL && url == URL(filePath: path, directoryHint: .inferFromPath))
    #expect(url.path(percentEncoded: false) == path)
    #expect(try URL(stored: url.stored()) == url)
  }

  @Test func `a URL that would be read as a file's is refused`() throws {
    for text in ["/a/b", "//host/b"] {
      let url = try #require(URL(string: text))
      #expect(failure(.invalid) { _ = try url.stored() }.contains("the path of a file"))
    }
    let based = try #require(URL(string: "/a/b", relativeTo: URL(string: "https://example.com/c")))
    #expect(try based.stored() == "https://example.com/a/b")
    #expect(failure(.wrongType) { _ = try URL(stored: "/a\0b") } == "holds a string that is not a URL")
  }

  @Test func `a UUID is its text, and other text is not a UUID`() throws {
    let uuid = UUID()
    #expect(uuid.stored() == .string(uuid.uuidString))
    #expect(try UUID(stored: .string(uuid.uuidString.lowercased())) == uuid)
    #expect(failure(.wrongType) { _ = try UUID(stored: "1234") } == "holds a string that is not a UUID")
    #expect(failure(.wrongType) { _ = try URL(stored: "") } == "holds a string that is not a URL")
    #expect(failure(.wrongType) { _ = try UUID(stored: 1) } == "holds an int, not a string")
  }
}
