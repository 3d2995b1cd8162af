// How much of its past a store keeps.

/// How much of its past a store keeps.
///
/// When there is more, the oldest changes are forgotten. They are looked for now and then, so up to 8,192 more may be
/// there at a time. If one of them is 0, no history is kept. It is stored in the store, for all programs.
/// In C: the text of `kept_set_history_limits`. In Python: the dictionary `settings.history_limits`.
public struct HistoryLimits: Sendable, Equatable {
  /// The changes of one key.
  public var changesPerKey: Int
  /// The changes of the whole store.
  public var changes: Int
  /// The age in days.
  public var days: Int
  /// The bytes of all keys and values in it.
  public var bytes: Int

  /// The limits of a store for which none were set: 100 changes a key, 10,000 a store, 90 days, and 4 MiB.
  public init(changesPerKey: Int = 100, changes: Int = 10_000, days: Int = 90, bytes: Int = 4 << 20) {
    (self.changesPerKey, self.changes, self.days, self.bytes) = (changesPerKey, changes, days, bytes)
  }

  /// Keeps no history, and forgets what there is.
  public static let off = HistoryLimits(changes: 0)

  /// Whether anything is kept.
  public var isOn: Bool { changes > 0 && changesPerKey > 0 && days > 0 && bytes > 0 }
}

extension HistoryLimits {
  /// The limits in a store; the default ones if there are none, or if another program wrote them.
  package init(stored text: String?) {
    self.init()
    if let text, let given = try? HistoryLimits(json: text) { self = given }
  }

  /// Reads limits from a JSON object with any of `changesPerKey`, `changes`, `days` and `bytes`.
  ///
  /// Throws `invalid` for text that is not JSON, for other members, and for numbers that are not 0 to 2,147,483,647.
  public init(json: String) throws(StoreError) {
    self.init()
    let value = try Value(json: json)
    guard case .dictionary(let members) = value else {
      throw StoreError(.invalid, "the limits of the history must be an object, such as {\"days\":30}")
    }
    for member in members {
      let name = member.key.text
      guard ["changesPerKey", "changes", "days", "bytes"].contains(name) else {
        throw StoreError(
          .invalid, "the history has no limit \"\(name)\"; the limits are changesPerKey, changes, days and bytes")
      }
      guard case .int(let number) = member.value, 0...Int64(Int32.max) ~= number else {
        throw StoreError(.invalid, "the limit \"\(name)\" of the history must be an integer from 0 to 2147483647")
      }
      switch name {
      case "changesPerKey": changesPerKey = Int(number)
      case "changes": changes = Int(number)
      case "days": days = Int(number)
      default: bytes = Int(number)
      }
    }
  }

  /// The limits as an object: `changesPerKey`, `changes`, `days` and `bytes`.
  public var json: String {
    func number(_ count: Int) -> Value { .int(Int64(clamping: max(0, min(count, Int(Int32.max))))) }
    let members: [(ExactString, Value)] = [
      ("changesPerKey", number(changesPerKey)), ("changes", number(changes)), ("days", number(days)),
      ("bytes", number(bytes)),
    ]
    return Value.dictionary(ValueDictionary(members)).json
  }

  /// The time before which changes are too old, in milliseconds since 1970, as `time` is.
  package func oldest(at time: Int64) -> Int64 { time.subtractingReportingOverflow(age).partialValue }

  /// The time before which changes are forgotten; it is not after ``oldest(at:)``.
  ///
  /// By a clock that was set far ahead, everything looks too old at once. So a clock that says that the last change is
  /// too old does not count until it has gone on for a day, with changes; until then that change tells the time.
  ///
  /// - Parameter last: the time of the last change up to ``dayBefore(_:)``.
  package func oldest(at time: Int64, last: Int64) -> Int64 {
    let oldest = oldest(at: time)
    return last >= oldest ? oldest : self.oldest(at: last)
  }

  /// A day before a time, or less if changes are kept for less than two days.
  package func dayBefore(_ time: Int64) -> Int64 {
    time.subtractingReportingOverflow(min(86_400_000, age / 2)).partialValue
  }

  private var age: Int64 { Int64(min(days, 1 << 31)) * 86_400_000 }
}
