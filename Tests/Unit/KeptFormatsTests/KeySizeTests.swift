// The name of a section appears once in a text, and is the prefix of each of its keys: the size of the keys is bounded
// by the text.

import Testing

@testable import KeptCore
@testable import KeptFormats

@Suite struct `The keys of a text` {
  /// A text with a section of a long name, and with `settings` settings in it.
  private static func text(_ format: ImportFormat, section: Int, settings: Int) -> [UInt8] {
    let name = String(repeating: "s", count: section)
    let numbers = 0..<settings
    let text =
      switch format {
      case .dconf: "[\(name)]\n" + numbers.map { "\($0)=1\n" }.joined()
      case .ini: "[\(name)]\n" + numbers.map { "\($0)=1\n" }.joined()
      case .nestedJSON: "{\"\(name)\":{" + numbers.map { "\"\($0)\":1" }.joined(separator: ",") + "}}"
      default: numbers.map { "k\($0)=1\n" }.joined()
      }
    return Array(text.utf8)
  }

  private static func read(
    _ bytes: [UInt8], _ format: ImportFormat, prefix: String = ""
  ) throws(StoreError) -> [Incoming.Setting] {
    let result = bytes.withUnsafeBufferPointer { bytes in
      Result { () throws(StoreError) in try ForeignText(bytes, as: format, KeyNaming(prefix: prefix)).entries }
    }
    return try result.get()
  }

  @Test(arguments: [ImportFormat.dconf, .ini, .nestedJSON])
  func `that are many times as large as it are refused`(format: ImportFormat) throws {
    let bytes = Self.text(format, section: 1000, settings: 20_000)
    let error = #expect(throws: StoreError.self) { try Self.read(bytes, format) }
    #expect(error?.code == .tooLarge)
    #expect(error?.message.contains("split it, or shorten the names of its sections") == true)
  }

  @Test func `are refused with a long prefix, too`() throws {
    let bytes = Self.text(.env, section: 0, settings: 20_000)
    let prefix = String(repeating: "p", count: 1000)
    #expect(throws: StoreError.self) { try Self.read(bytes, .env, prefix: prefix) }
    #expect(try Self.read(bytes, .env, prefix: "p.").count == 20_000)
  }

  @Test func `count also where one of them is there again and again`() throws {
    let text = "[\(String(repeating: "s", count: 1000))]\n" + String(repeating: "a=1\n", count: 20_000)
    let bytes = Array(text.utf8)
    let error = #expect(throws: StoreError.self) { try Self.read(bytes, .ini) }
    #expect(error?.code == .tooLarge)
  }

  @Test(arguments: [ImportFormat.dconf, .ini, .nestedJSON])
  func `of a small text, and those of usual sections, are not`(format: ImportFormat) throws {
    #expect(try Self.read(Self.text(format, section: 1000, settings: 1000), format).count == 1000)
    #expect(try Self.read(Self.text(format, section: 50, settings: 50_000), format).count == 50_000)
  }
}
