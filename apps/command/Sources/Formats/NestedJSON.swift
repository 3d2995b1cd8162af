// Nested JSON with marks. The library splits every object of nested JSON; here those stay whole that are declared as
// objects or as secret, in the form {"$literal":{…}}. All else is copied as it is written, so that the library reads
// and reports it.

import Kept

/// A nested JSON object, with marks on the objects that stay whole.
public struct NestedJSON {
  public private(set) var json: [UInt8] = []
  private var found: FoundSettings
  private var cursor: JSONCursor
  private let whole: Set<ExactString>
  /// The end of what has been copied.
  private var copied = 0

  /// The notes about objects that are split.
  public var notes: [FoundSettings.Note] { found.notes }

  /// nil if the text is not an object of JSON.
  /// - Parameter whole: keys that are not split.
  public init?(_ text: PlainText, whole: Set<ExactString>) throws(StoreError) {
    (cursor, self.whole) = (JSONCursor(text), whole)
    found = FoundSettings(size: text.bytes.count)
    guard try readMembers(below: nil, isNoted: false), cursor.isAtEnd else { return nil }
    json += text.bytes[copied...]
  }

  /// Reads the members of an object; false if it is not one.
  private mutating func readMembers(below outer: String?, isNoted: Bool) throws(StoreError) -> Bool {
    guard cursor.skip("{") else { return false }
    if cursor.skip("}") { return true }
    repeat {
      guard let member = cursor.name() else { return false }
      let name = FoundSettings.join(outer, member)
      if !cursor.isObject || name.utf8.count > Limits.keyBytes || name.utf8.contains(0) {
        _ = cursor.skipValue()
      } else if whole.contains(ExactString(name)) {
        let start = cursor.position
        json += cursor.bytes[copied..<start] + Array(#"{"$literal":"#.utf8)
        copied = cursor.skipValue().upperBound
        json += cursor.bytes[start..<copied] + [UInt8(ascii: "}")]
      } else {
        if !isNoted { try found.note(name, FoundSettings.isSplit) }
        guard try readMembers(below: name, isNoted: true) else { return false }
      }
    } while cursor.skip(",")
    return cursor.skip("}")
  }
}
