// Variables of the environment that set no declared key, in a store with declarations: the declared key that each was
// probably meant for.

import KeptValues

/// A variable of a handle's environment layer whose key is not declared, although others are.
struct UndeclaredVariable: Sendable {
  /// The key that it sets.
  let key: KeyName
  /// The declared key that it was probably meant for.
  let meant: KeyName?

  init(_ key: KeyName, among declared: [KeyName]) {
    self.key = key
    meant = Self.closest(to: key, among: declared)
  }

  /// The warning for a program.
  func warning(prefix: String) -> StoreError {
    let name = EnvironmentLayer.shortened(EnvironmentName.name(of: key, prefix: prefix))
    guard let meant else {
      return StoreError(
        .invalid, key: key.text,
        "the environment variable \(name) sets this key, which is not declared; declare it, or correct the name")
    }
    return StoreError(
      .invalid, key: meant.text,
      "the environment variable \(name) sets another key, which is not declared; the name for this key is "
        + EnvironmentLayer.shortened(EnvironmentName.name(of: meant, prefix: prefix)))
  }

  /// The note in an explanation of a key that the variable sets, or was probably meant for; nil for another key.
  func problem(of key: KeyName, prefix: String) -> String? {
    if key == meant { return warning(prefix: prefix).message }
    guard key == self.key else { return nil }
    guard let meant else { return "the key is not declared" }
    let name = EnvironmentLayer.shortened(EnvironmentName.name(of: meant, prefix: prefix))
    return "the key is not declared; did you mean \"\(StoreError.shortened(meant.text))\" (\(name))?"
  }

  /// The key that differs only in capitals and separators, else one with a slip of the pen.
  private static func closest(to key: KeyName, among declared: [KeyName]) -> KeyName? {
    let text = letters(of: key)
    // As many letters may be wrong.
    let most = text.count < 4 ? 0 : text.count < 8 ? 1 : 2
    var best: (key: KeyName, distance: Int)?
    for candidate in declared {
      let other = letters(of: candidate)
      guard abs(text.count - other.count) <= most else { continue }
      let distance = distance(text, other)
      if distance <= most, distance < best?.distance ?? .max { best = (candidate, distance) }
    }
    return best?.key
  }

  /// The bytes without dots, dashes and underscores, in lower case.
  private static func letters(of key: KeyName) -> [UInt8] {
    key.text.utf8.compactMap { byte in
      switch byte {
      case UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"): nil
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte | 0x20
      default: byte
      }
    }
  }

  /// The number of bytes to insert, remove, replace or exchange with the next one.
  private static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
    if a == b { return 0 }
    var (before, row) = ([Int](), Array(0...b.count))
    for i in a.indices {
      var next = [i + 1]
      for j in b.indices {
        var least = min(row[j + 1] + 1, next[j] + 1, row[j] + (a[i] == b[j] ? 0 : 1))
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { least = min(least, before[j - 1] + 1) }
        next.append(least)
      }
      (before, row) = (row, next)
    }
    return row[b.count]
  }
}
