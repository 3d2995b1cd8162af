// What a person may have meant.

import Kept

enum Suggestion {
  /// Why a key has no value, with what can be done.
  static func absent(_ key: KeyName, in settings: Store) throws(StoreError) -> String {
    if try settings.entry(for: key)?.value != nil {
      return "has a value that does not match its declaration, and no default; see kept explain"
    }
    if try settings.declaration(forKey: key.text) != nil {
      return "is declared, but has neither a value nor a default\(try renamed(key, in: settings))"
    }
    return "has no value; kept list shows the keys\(try similar(to: key, in: settings))"
  }

  /// A key that may have been meant, or nothing, for a key without a value.
  static func unknown(_ key: KeyName, in settings: Store) throws(StoreError) -> String {
    guard try settings.value(forKey: key.text) == nil else { return "" }
    return try settings.declaration(forKey: key.text) == nil
      ? similar(to: key, in: settings) : renamed(key, in: settings)
  }

  /// Prints the key that may have been meant, if there is one, for a key without a value.
  static func printUnknown(_ key: KeyName, _ finding: String, in settings: Store) throws(StoreError) {
    let other = try unknown(key, in: settings)
    guard !other.isEmpty else { return }
    let isDeclared = try settings.declaration(forKey: key.text) != nil
    Failure.print("\(Excerpt.of(key.text)): \(finding)\(isDeclared ? "" : ", and is not declared")\(other)")
  }

  /// The new name of a key, or `; did you mean …?` for one that is close to a known one, else nothing.
  static func similar(to key: KeyName, in settings: Store) throws(StoreError) -> String {
    let renamed = try renamed(key, in: settings)
    guard renamed.isEmpty else { return renamed }
    return closest(
      to: key.text,
      among: try (settings.listedKeys(prefix: "") + settings.declarations().declarations.map(\.key)).map(\.text))
  }

  /// `; it is now …` for the former name of a declared key, else nothing.
  static func renamed(_ key: KeyName, in settings: Store) throws(StoreError) -> String {
    renamed(to: try settings.declarations().newNames[key])
  }

  /// Prints the new name of a key that has a value and is the former name of a declared one.
  static func printRenamed(_ key: KeyName, in settings: Store) throws(StoreError) {
    let other = try renamed(key, in: settings)
    if !other.isEmpty { Failure.print("\(Excerpt.of(key.text)): is a former name\(other)") }
  }

  static func renamed(to new: KeyName?) -> String { new.map { "; it is now \"\(Shown.line($0.text))\"" } ?? "" }

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

extension DeclarationList {
  /// The keys that have each former name.
  var newNames: [KeyName: KeyName] {
    // Few declarations have the word, and parsing all takes longer.
    let renamed = declarations.filter { $0.declaration.json.has("\"renamedFrom\":") }
    return Dictionary(renamed.compactMap { key, new in new.formerName.map { ($0, key) } }) { first, _ in first }
  }
}
