// Nested JSON as flat JSON. The library splits every object of nested JSON; here those stay whole that are declared as
// objects or as secret. Values are copied as they are written, so that the library reads and reports them.

import Kept

/// A nested JSON object as a flat one, with a member for each key.
public struct FlatJSON {
  public private(set) var json = Array("{".utf8)
  private var found: FoundSettings
  private var cursor: JSONCursor
  private let whole: Set<ExactString>
  private var room: Int

  /// The notes about objects that are split.
  public var notes: [FoundSettings.Note] { found.notes }

  /// nil if the text is not an object of JSON.
  ///
  /// Throws `tooLarge` if the names of its keys are far larger than it.
  /// - Parameter whole: keys that are not split.
  public init?(_ text: PlainText, whole: Set<ExactString>) throws(StoreError) {
    (cursor, self.whole) = (JSONCursor(text), whole)
    found = FoundSettings(size: text.bytes.count)
    // The name of an object is once in the text, and in front of each of its keys.
    room = 9 * text.bytes.count + 1 << 20
    guard try copyMembers(below: nil, isNoted: false), cursor.isAtEnd else { return nil }
    json.append(UInt8(ascii: "}"))
  }

  /// Copies the members of an object; false if it is not one.
  private mutating func copyMembers(below outer: String?, isNoted: Bool) throws(StoreError) -> Bool {
    guard cursor.skip("{") else { return false }
    if cursor.skip("}") { return true }
    repeat {
      guard let member = cursor.name() else { return false }
      let name = FoundSettings.join(outer, member)
      if cursor.isObject, name.utf8.count <= Limits.keyBytes, !whole.contains(ExactString(name)) {
        if !isNoted { try found.note(name, FoundSettings.isSplit) }
        guard try copyMembers(below: name, isNoted: true) else { return false }
      } else {
        try copy(cursor.skipValue(), name)
      }
    } while cursor.skip(",")
    return cursor.skip("}")
  }

  private mutating func copy(_ value: Range<Int>, _ name: String) throws(StoreError) {
    let member = "\(json.count > 1 ? "," : "")\(Value.string(name).json):"
    room -= member.utf8.count + value.count
    guard room >= 0 else {
      throw StoreError(.tooLarge, "the keys are far larger than the text; shorten the names of objects, or split it")
    }
    json += Array(member.utf8) + cursor.bytes[value]
  }
}
