// The place of an error in a text.

import Kept

enum Caret {
  /// The line with the error and a caret under the place; for a text of several lines also the number of the line.
  ///
  /// A text that is hidden, or has one of the words of `hiding`, is not shown; then it is the numbers of the line and
  /// the column.
  static func under(
    _ offset: Int?, of text: String, isHidden: Bool = false, hiding words: [String] = []
  ) -> String {
    let lineBreak = UInt8(ascii: "\n")
    var bytes = Array(text.utf8)
    guard let offset = offset.map({ min($0, bytes.count) }), !bytes.isEmpty else { return "" }
    // A mistake at the end is in the last line.
    while bytes.last == lineBreak { bytes.removeLast() }
    return place(min(offset, bytes.count), bytes, isHidden: isHidden || words.contains(where: text.has))
  }

  private static func place(_ offset: Int, _ bytes: [UInt8], isHidden: Bool) -> String {
    let lineBreak = UInt8(ascii: "\n")
    let start = bytes[..<offset].lastIndex(of: lineBreak).map { $0 + 1 } ?? 0
    let end = bytes[offset...].firstIndex(of: lineBreak) ?? bytes.count
    let line = bytes[..<start].count { $0 == lineBreak } + 1
    let text = String(decoding: bytes[start..<offset], as: UTF8.self)
    if isHidden { return " (line \(line), column \(text.unicodeScalars.count + 1))" }
    let before = tail(of: Shown.line(text), columns: 48)
    let after = Shown.cut(Shown.line(String(decoding: bytes[offset..<end], as: UTF8.self)), to: 28)
    let isOneLine = start == 0 && end == bytes.count
    let number = isOneLine ? "" : " (line \(line))"
    return "\(number)\n  \(before)\(after)\n  \(String(repeating: " ", count: Shown.width(before)))^"
  }

  /// The last columns of a text, after `…` if there are more.
  private static func tail(of text: String, columns: Int) -> String {
    var tail = text[...]
    // A scalar takes a column or two; those before the last few cannot be in the tail.
    if tail.unicodeScalars.count > 2 * columns { tail = tail.suffix(columns) }
    while Shown.width(String(tail)) > columns { tail = tail.dropFirst() }
    return tail.count == text.count ? text : "…" + tail
  }
}

extension StoreError {
  /// The error with the place in the text that it is about; `subject` goes before it.
  func shown(
    in text: String?, _ subject: String = "", isHidden: Bool = false, hiding words: [String] = []
  ) -> StoreError {
    guard let text, offset != nil else { return StoreError(code, key: key, offset: offset, subject + message) }
    let place = Caret.under(offset, of: text, isHidden: isHidden, hiding: words)
    return StoreError(code, key: key, "\(subject)\(message)\(place)")
  }
}
