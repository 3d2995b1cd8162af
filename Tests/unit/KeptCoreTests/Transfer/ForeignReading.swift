// How the tests of other programs' JSON state their expectations: the imported values, and the reported errors.

@testable import KeptValues
import Testing

@testable import KeptCore

/// A text that was read, as lines that print well when they differ.
struct ForeignReading {
  /// `key = JSON`.
  var carried: [String] = []
  /// `place: reason`.
  var reported: [String] = []

  init(_ bytes: [UInt8], prefix: String = "", separator: String? = nil) throws {
    let result = bytes.withUnsafeBufferPointer { bytes in
      Result { () throws(StoreError) in try ForeignJSON(bytes, prefix: prefix, separator: separator) }
    }
    let text = try result.get()
    carried = text.settings.map { "\($0.key) = \($0.value.json)" }
    reported = text.notCarried.map { "\($0.place): \($0.reason)" }
  }

  init(_ text: String, prefix: String = "", separator: String? = nil) throws {
    try self.init(Array(text.utf8), prefix: prefix, separator: separator)
  }

  /// Reads objects as parts of keys.
  static func nested(_ text: String) throws -> ForeignReading { try ForeignReading(text, separator: ".") }
}

/// The error of a text that is refused, which must have an offset in the text and a message.
func foreignRefusal(_ text: String, separator: String? = nil) -> StoreError? {
  foreignRefusal(Array(text.utf8), separator: separator)
}

func foreignRefusal(_ bytes: [UInt8], separator: String? = nil) -> StoreError? {
  let error = #expect(throws: StoreError.self) { try ForeignReading(bytes, separator: separator) }
  if let error {
    #expect(error.code == .invalid || error.code == .tooLarge)
    #expect(0...bytes.count ~= error.offset ?? -1, "\(error)")
    #expect(!error.message.isEmpty)
  }
  return error
}

/// Reads every prefix of a text, and every text with one byte removed: each is read or refused, and never yields a key
/// that the whole text does not have.
func expectNoHarmFromCuts(_ text: String, separator: String? = nil) throws {
  let bytes = Array(text.utf8)
  _ = try ForeignReading(bytes, separator: separator)
  for length in 0..<bytes.count {
    let cut = Array(bytes[..<length])
    let refused = (try? ForeignReading(cut, separator: separator)) == nil
    if refused { _ = foreignRefusal(cut, separator: separator) }
    // Missing white space at the end loses nothing.
    #expect(refused || bytes[length...].allSatisfy { $0 <= 0x20 }, "cut at \(length)")
    let holed = Array(bytes[..<length] + bytes[(length + 1)...])
    if (try? ForeignReading(holed, separator: separator)) == nil { _ = foreignRefusal(holed, separator: separator) }
  }
}
