// Checks of conditions, with their error messages, shared by every storage. They are not inlined: each storage would
// have a copy.

import KeptValues

extension Condition {
  /// Checks `revision(key, expected)`; `found` is 0 for a key without a value.
  @inline(never)
  static func check(_ key: KeyName, expected: Revision, found: Revision) throws(StoreError) {
    guard expected != found else { return }
    let wanted = expected == 0 ? "to be absent" : "at revision \(expected)"
    let actual = found == 0 ? "it is absent" : "it is at revision \(found)"
    throw StoreError(.conflict, key: key.text, "expected \(wanted), but \(actual); read it again")
  }

  /// Checks `unchanged(key, after: base)`.
  @inline(never)
  static func check(_ key: KeyName, unchangedAfter base: Revision, found: Revision) throws(StoreError) {
    guard found > base else { return }
    throw StoreError(
      .conflict, key: key.text, "was changed in revision \(found), after it was read at revision \(base); try again")
  }

  /// Checks `unchangedPrefix(prefix, after: base)`.
  @inline(never)
  static func check(_ prefix: ExactString, unchangedAfter base: Revision, found: Revision) throws(StoreError) {
    guard found > base else { return }
    throw StoreError(
      .conflict,
      "a key that begins with \"\(prefix)\" was changed in revision \(found), after the keys were listed at revision "
        + "\(base); try again")
  }

  /// Checks `schemaVersion(expected)`.
  @inline(never)
  static func check(schemaVersion expected: UInt32, found: UInt32) throws(StoreError) {
    guard found != expected else { return }
    throw StoreError(.conflict, "expected schema version \(expected), but the store has \(found); try again")
  }
}
