// The name of an object appears once in a text, and is the prefix of each of its keys: the size of the keys is bounded
// by the text.

@testable import KeptValues
import Testing

@Suite struct `The keys of a text` {
  /// A text with an object of a long name, and with `settings` settings in it.
  private static func text(name: Int, settings: Int) -> String {
    let members = (0..<settings).map { "\"\($0)\":1" }.joined(separator: ",")
    return "{\"\(String(repeating: "s", count: name))\":{\(members)}}"
  }

  @Test func `that are many times as large as it are refused`() throws {
    let error = foreignRefusal(Self.text(name: 1000, settings: 20_000), separator: ".")
    #expect(error?.code == .tooLarge)
    #expect(error?.message.contains("split the text, or shorten the names of its objects") == true)
  }

  @Test func `are refused with a long prefix, too`() throws {
    let text = "{\((0..<20_000).map { "\"k\($0)\":1" }.joined(separator: ","))}"
    #expect(throws: StoreError.self) { try ForeignReading(text, prefix: String(repeating: "p", count: 1000)) }
    #expect(try ForeignReading(text, prefix: "p.").carried.count == 20_000)
  }

  @Test func `of a small text, and those of usual objects, are not`() throws {
    #expect(try ForeignReading.nested(Self.text(name: 1000, settings: 1000)).carried.count == 1000)
    #expect(try ForeignReading.nested(Self.text(name: 50, settings: 50_000)).carried.count == 50_000)
  }
}
