// Errors: a code that programs test, and a message that people read.

/// Why a call failed.
///
/// In C: `kept_error`. In Python each code is an exception class.
public struct StoreError: Error, Sendable, CustomStringConvertible {
  /// The kind of failure.
  public let code: Code
  /// The key that the error is about, if there is one.
  public let key: String?
  /// The byte offset at which a JSON text is invalid, counted from 0.
  public let offset: Int?
  /// The request, the finding and the remedy, without the key.
  public let message: String
  /// The error that a conversion of the program threw, unchanged.
  ///
  /// Unlike Kept's own messages, it may contain a value.
  public let underlying: (any Error)?

  public init(
    _ code: Code, key: String? = nil, offset: Int? = nil, _ message: String, underlying: (any Error)? = nil
  ) {
    self.code = code
    self.key = key
    self.offset = offset
    self.message = message
    self.underlying = underlying
  }

  /// The complete message: the key, the message, and the byte offset if there is one, safe for a terminal and a log.
  public var description: String {
    let subject = key.map { "\"\(DisplayText.line(Self.shortened($0)))\": " } ?? ""
    let place = offset.map { " (at byte \($0))" } ?? ""
    return DisplayText.lines(subject + message + place)
  }

  /// The same failure, for a key.
  package func about(_ key: String) -> StoreError {
    StoreError(code, key: self.key ?? key, offset: offset, message, underlying: underlying)
  }

  /// The same failure with another message.
  package func said(_ words: (String) -> String) -> StoreError {
    StoreError(code, key: key, offset: offset, words(message), underlying: underlying)
  }

  /// Truncates a long key, because a message must fit into the caller's `kept_error`.
  package static func shortened(_ key: String) -> String {
    key.utf8.count <= 80 ? key : String(key.unicodeScalars.prefix(60)) + "…"
  }
}

extension StoreError {
  /// The kind of a failure.
  ///
  /// Open: later versions may add codes, so a `switch` needs a `default`.
  ///
  /// The raw values are the `KEPT_…` statuses of the C header.
  public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The value is stored, but a higher layer hides it: a warning.
    public static let shadowed = Code(rawValue: 1)
    /// The key is declared, but the stored value does not fit, and reads as absent: a warning.
    public static let misfit = Code(rawValue: 3)
    /// The value that was set is declared as deprecated: a warning, which the error handler receives.
    public static let deprecated = Code(rawValue: 4)
    /// The store is open, but it was damaged, and values may be missing or older than the last commit: a warning that
    /// must be acknowledged.
    public static let salvaged = Code(rawValue: 2)
    /// No layer has a value for the key.
    public static let absent = Code(rawValue: -1)
    /// The key holds a value of another kind; it is untouched.
    public static let wrongType = Code(rawValue: -2)
    /// The key is declared with another type.
    public static let typeConflict = Code(rawValue: -3)
    /// An argument, a JSON text or a constraint is invalid.
    public static let invalid = Code(rawValue: -4)
    /// An administrator has locked the key.
    public static let locked = Code(rawValue: -5)
    /// The expected revision is no longer the current one.
    public static let conflict = Code(rawValue: -6)
    /// Another writer held the store for longer than the timeout.
    public static let busy = Code(rawValue: -7)
    /// The disk or the quota is full; the old state is intact.
    public static let noSpace = Code(rawValue: -8)
    /// The file system does not permit the operation.
    public static let denied = Code(rawValue: -9)
    /// The stored data is damaged.
    public static let corrupt = Code(rawValue: -10)
    /// The store cannot be reached now; this does not mean that it is empty.
    public static let unavailable = Code(rawValue: -11)
    /// The store, transaction or subscription was closed.
    public static let closed = Code(rawValue: -12)
    /// The transaction was begun in the parent of this process.
    public static let forked = Code(rawValue: -13)
    /// The value or the text is over a limit.
    public static let tooLarge = Code(rawValue: -14)
    /// This storage, or this version, does not support the operation.
    public static let unsupported = Code(rawValue: -15)
    /// Any other failure; the message describes it.
    public static let failed = Code(rawValue: -16)

    /// The name of the code, such as `wrong type`.
    // Not a table: it would be created at its first use (EagerInitialization).
    public var description: String {
      switch rawValue {
      case 0: "ok"
      case 1: "shadowed"
      case 2: "salvaged"
      case 3: "misfit"
      case 4: "deprecated"
      case -1: "absent"
      case -2: "wrong type"
      case -3: "type conflict"
      case -4: "invalid"
      case -5: "locked"
      case -6: "conflict"
      case -7: "busy"
      case -8: "no space"
      case -9: "denied"
      case -10: "corrupt"
      case -11: "unavailable"
      case -12: "closed"
      case -13: "forked"
      case -14: "too large"
      case -15: "unsupported"
      case -16: "failed"
      default: "unknown status"
      }
    }

    /// For this module alone: an operator cannot be re-exported, and Kept declares its own.
    package static func ~= (code: Code, error: any Error) -> Bool { (error as? StoreError)?.code == code }
  }
}
