// How large things may be. Each is an error with a sentence beyond, never a truncation.

/// The published limits of every store.
public enum Limits: Sendable {
  /// The longest key, in bytes of UTF-8.
  public static let keyBytes = 1024
  /// The largest value: the bytes of a string or of bytes, the canonical JSON of an array or a dictionary.
  public static let valueBytes = 16 << 20
  /// The longest JSON text that is read: the longest string, each byte of it an escape of six, and its quotes.
  ///
  /// An array or a dictionary may hold white space up to this length.
  public static let jsonTextBytes = 6 * valueBytes + 2
  /// How many arrays and dictionaries may stand inside each other.
  public static let nesting = 64
  /// How many schemas may stand inside each other in a declaration.
  ///
  /// Reading and checking them takes some kilobytes of stack for each, and callers may have little.
  public static let schemaNesting = 12
}
