// How the tests of foreign formats state their expectations: the imported values, and the reported errors.

import Testing

@testable import KeptCore
@testable import KeptFormats

/// A text that was read, as lines that print well when they differ.
struct ForeignReading {
  /// `key = JSON` for a value, `key ~ text` for a text whose type depends on a declaration.
  var carried: [String] = []
  /// `place: reason`.
  var reported: [String] = []

  init(_ bytes: [UInt8], _ format: ImportFormat, _ naming: KeyNaming = KeyNaming()) throws {
    let result = bytes.withUnsafeBufferPointer { bytes in
      Result { () throws(StoreError) in try ForeignText(bytes, as: format, naming) }
    }
    let text = try result.get()
    carried = text.entries.map { entry in
      switch entry.content {
      case .value(let value): "\(entry.key) = \(value.json)"
      case .text(let text): "\(entry.key) ~ \(text.text)"
      }
    }
    reported = text.notCarried.map { "\($0.place): \($0.reason)" }
  }

  init(_ text: String, _ format: ImportFormat, _ naming: KeyNaming = KeyNaming()) throws {
    try self.init(Array(text.utf8), format, naming)
  }
}

/// The error of a text that is refused, which must have an offset in the text and a message.
func foreignRefusal(_ text: String, _ format: ImportFormat, _ naming: KeyNaming = KeyNaming()) -> StoreError? {
  foreignRefusal(Array(text.utf8), format, naming)
}

func foreignRefusal(_ bytes: [UInt8], _ format: ImportFormat, _ naming: KeyNaming = KeyNaming()) -> StoreError? {
  let error = #expect(throws: StoreError.self) { try ForeignReading(bytes, format, naming) }
  if let error {
    #expect(error.code == .invalid || error.code == .tooLarge)
    #expect(0...bytes.count ~= error.offset ?? -1, "\(error)")
    #expect(!error.message.isEmpty)
  }
  return error
}

/// Reads every prefix of a text, and every text with one byte removed: each is read or refused, and never yields a key
/// that the whole text does not have.
func expectNoHarmFromCuts(_ bytes: [UInt8], _ format: ImportFormat, refusesCuts: Bool) throws {
  _ = try ForeignReading(bytes, format)
  for length in 0..<bytes.count {
    let cut = Array(bytes[..<length])
    let refused = (try? ForeignReading(cut, format)) == nil
    if refused { _ = foreignRefusal(cut, format) }
    // Missing white space at the end loses nothing.
    if refusesCuts { #expect(refused || bytes[length...].allSatisfy { $0 <= 0x20 }, "cut at \(length)") }
    let holed = Array(bytes[..<length] + bytes[(length + 1)...])
    if (try? ForeignReading(holed, format)) == nil { _ = foreignRefusal(holed, format) }
  }
}
