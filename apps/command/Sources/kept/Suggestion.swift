// What a person may have meant.

import Kept

enum Suggestion {
  /// Why a key has no value, with what can be done.
  static func absent(_ key: KeyName, in settings: Store) throws(StoreError) -> String {
    if try settings.entry(for: key)?.value != nil {
      return "has a value that does not match its declaration, and no default; see kept explain"
    }
    if try settings.declaration(forKey: key.text) != nil { return "is declared, but has neither a value nor a default" }
    return "has no value; kept list shows the keys\(try similar(to: key, in: settings))"
  }

  /// `; did you mean …?`, or nothing, for a key without a value and without a declaration; nil for others.
  static func unknown(_ key: KeyName, in settings: Store) throws(StoreError) -> String? {
    guard try settings.declaration(forKey: key.text) == nil, try settings.value(forKey: key.text) == nil else {
      return nil
    }
    return try similar(to: key, in: settings)
  }

  /// `; did you mean …?` for a key that is close to a known one, else nothing.
  static func similar(to key: KeyName, in settings: Store) throws(StoreError) -> String {
    closest(
      to: key.text,
      among: try (settings.listedKeys(prefix: "") + settings.declarations().declarations.map(\.key)).map(\.text))
  }

  static func closest(to key: String, among known: [String]) -> String {
    let most = max(1, key.count / 4)
    var best: (key: String, distance: Int)?
    // Two letters that have changed places are one mistake.
    if let swapped = known.first(where: { isSwapped(key, $0) }) {
      return "; did you mean \"\(Shown.line(swapped))\"?"
    }
    for candidate in known where abs(candidate.count - key.count) <= most {
      let found = distance(Array(key), Array(candidate))
      if found <= most, found < best?.distance ?? .max { best = (candidate, found) }
    }
    return best.map { "; did you mean \"\(Shown.line($0.key))\"?" } ?? ""
  }

  /// Whether two characters of one text have changed places in the other, and all else is the same.
  private static func isSwapped(_ a: String, _ b: String) -> Bool {
    guard a.count == b.count else { return false }
    let different = zip(a, b).filter { $0 != $1 }
    return different.count == 2 && different[0] == (different[1].1, different[1].0)
  }

  /// The number of characters to insert, remove or replace.
  private static func distance(_ a: [Character], _ b: [Character]) -> Int {
    var row = Array(0...b.count)
    for (i, character) in a.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for (j, other) in b.enumerated() {
        let above = row[j + 1]
        row[j + 1] = min(above + 1, row[j] + 1, diagonal + (character == other ? 0 : 1))
        diagonal = above
      }
    }
    return row[b.count]
  }
}
