// What the members of a JSON object are.

import Kept

/// The names of the members of an object, and whether one is an object that could be split.
struct JSONShape {
  private(set) var names: [ExactString] = []
  private(set) var isNested = false

  /// nil if a text does not begin as an object with a name and a colon, or without members.
  init?(_ text: PlainText) {
    var cursor = JSONCursor(text)
    guard cursor.skip("{") else { return nil }
    if cursor.skip("}") { return }
    while let name = cursor.name() {
      names.append(ExactString(name))
      if cursor.isObject { isNested = true }
      _ = cursor.skipValue()
      guard cursor.skip(",") else { break }
    }
    if names.isEmpty { return nil }
  }
}
