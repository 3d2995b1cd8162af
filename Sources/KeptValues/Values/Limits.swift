// Size limits. Exceeding one is an error with a message, never a truncation.

/// The published limits of every store.
public enum Limits: Sendable {
  /// The longest key, in bytes of UTF-8.
  public static let keyBytes = 1024
  /// The longest tag of a writer, in bytes of UTF-8.
  public static let tagBytes = 1024
  /// The largest value: the bytes of a string or of bytes, the canonical JSON of an array or a dictionary.
  public static let valueBytes = 16 << 20
  /// The longest JSON text that is read: the longest string, with a six-byte escape for each byte, and its quotes.
  ///
  /// An array or a dictionary may contain white space up to this length.
  public static let jsonTextBytes = 6 * valueBytes + 2
  /// How many arrays and dictionaries may be nested.
  public static let nesting = 64
  /// How many schemas may be nested in a declaration.
  ///
  /// Parsing and checking them takes some kilobytes of stack for each, and callers may have little.
  public static let schemaNesting = 12

  /// Throws `tooLarge` if a tag has more bytes than allowed.
  package static func checkTag(_ bytes: Int) throws(StoreError) {
    guard bytes > tagBytes else { return }
    throw StoreError(.tooLarge, "the tag has \(bytes) bytes, but at most \(tagBytes) are allowed; shorten it")
  }
}
