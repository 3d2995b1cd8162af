// Values that are text in more than one format.

import Formats
import Kept

enum ForeignText {
  /// A number; the words for infinity and NaN are those of C.
  static func double(_ text: String) throws(Obstacle) -> Double {
    let word = Array(text.utf8)[...].trimmed
    guard let number = Double(word.text) else { throw Obstacle("is not a number") }
    let isName = word.contains(UInt8(ascii: "n")) || word.contains(UInt8(ascii: "N"))
    let digits = word.prefix { $0 | 0x20 != UInt8(ascii: "e") }
    let isZero = !digits.contains { UInt8(ascii: "1")...UInt8(ascii: "9") ~= $0 }
    guard isName || (number.isFinite && (number != 0 || isZero)) else {
      throw Obstacle("is not a number that a double can hold")
    }
    return number
  }

  /// A point in time, of local time such as `2001-12-14T21:59:43` and the digits of its fraction; only nine are used.
  ///
  /// nil if the calendar of the years 0 to 9999 does not have it.
  static func time(_ local: String, fraction: String, minutesEast: Int) -> Timestamp? {
    let digits = String(Substring(fraction.utf8.prefix(9)))
    guard let time = try? Timestamp(text: "\(local)\(digits.isEmpty ? "" : ".\(digits)")Z") else { return nil }
    return try? Timestamp(seconds: time.seconds - Int64(minutesEast) * 60, nanoseconds: time.nanoseconds)
  }

  static func bytes(_ text: String) throws(Obstacle) -> Value {
    let base64 = String(decoding: text.utf8.filter { !$0.isSpace }, as: UTF8.self)
    let form = #"{"$binary":{"base64":\#(Value.string(base64).json),"subType":"00"}}"#
    guard let value = try? Value(json: form) else { throw Obstacle("is not base64") }
    return value
  }
}
