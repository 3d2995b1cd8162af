// What an examination of a store finds.

package import KeptValues

/// Something that an examination of a store has found: a fact, or a problem with its remedy.
///
/// In C: `kept_findings_json`. In Python: `kept.Finding`.
public struct Finding: Sendable {
  public enum Severity: String, Comparable, Sendable {
    /// A fact, such as the place of the store.
    case note
    /// A problem that does not keep programs from using the store.
    case attention
    /// Something cannot be read, or the store cannot be opened.
    case damage

    public static func < (a: Severity, b: Severity) -> Bool {
      a == .note && b != .note || a == .attention && b == .damage
    }
  }

  public var severity: Severity
  /// One sentence; not escaped for a terminal.
  public var what: String
  /// What can be done about it, with the command for it, quoted for a shell.
  public var remedy: String?
  /// The key that it is about.
  public var key: String?
  /// Whether `kept doctor --repair` ends it: by removing the value and the declaration of the key, or by acknowledging
  /// the salvage.
  public var isRepairable: Bool

  public init(
    _ severity: Severity, _ what: String, remedy: String? = nil, key: String? = nil, isRepairable: Bool = false
  ) {
    (self.severity, self.what, self.remedy, self.key) = (severity, what, remedy, key)
    self.isRepairable = isRepairable
  }

  package var asValue: Value {
    var members: [(ExactString, Value)] = [
      ("severity", .string(severity.rawValue)), ("what", .string(what)), ("repairable", .bool(isRepairable)),
    ]
    if let remedy { members.append(("remedy", .string(remedy))) }
    if let key { members.append(("key", .string(key))) }
    return .dictionary(ValueDictionary(members))
  }
}
