// One value as the text that people read and write: `kept get` prints it, and `kept set` takes it.

public import KeptSchema
public import KeptValues

extension Value {
  /// The text of a value of a declared type, or of one that is not declared.
  ///
  /// A string is the text itself, a date is RFC 3339, and bytes are base64. Anything else is canonical JSON, and so is
  /// each value without a type. In C: `kept_json_to_text`. In Python: `kept.text_of_value(value, type)`.
  public func text(as type: DeclaredType?) -> String {
    switch (type, self) {
    case (.string, .string(let text)): text
    case (.date, .date(let time)): time.description
    case (.bytes, .bytes(let bytes)): Base64.text(bytes)
    default: json
    }
  }

  /// Reads a text that a person has written, as a declared type, or as JSON if there is none.
  ///
  /// It takes what ``text(as:)`` gives, and other forms: those of the arguments and the environment, and JSON. A string
  /// is always the text as it is. Rules of a declaration are not checked. Throws `invalid`, with the offset if the text
  /// is JSON with an error. In C: `kept_text_to_json`. In Python: `kept.value_of_text(text, type)`.
  public init(text: String, as type: DeclaredType?) throws(StoreError) {
    switch type {
    case nil:
      do throws(StoreError) { self = try Value(json: text) } catch {
        guard case .uint(let number)? = NumberText.integer(text) else { throw error }
        self = .uint(number)
      }
    case .string?: self = .string(text)
    case .array?, .object?:
      self = try Value(json: text)
      guard DeclaredType(kind) == type else {
        let isArray = type == .array
        throw Self.unfit(text, isArray ? "an array" : "an object", "JSON such as \(isArray ? "[1, 2]" : #"{"a": 1}"#)")
      }
    case .integer?, .number?: self = try Self.number(text, type == .integer)
    case let type?:
      guard let value = TextValue(text).value(as: type) else {
        let (kind, example) =
          switch type {
          case .boolean: ("a boolean", "true or false")
          case .date: ("a date", "UTC such as 2026-11-20T23:44:01Z")
          default: ("bytes", "base64")
          }
        throw Self.unfit(text, kind, example)
      }
      self = value
    }
  }

  private static func number(_ text: String, _ isInteger: Bool) throws(StoreError) -> Value {
    let (kind, example) = isInteger ? ("an integer", "a number such as 70") : ("a number", "one such as 0.5")
    do throws(StoreError) {
      let value = try Value(json: text)
      let integer: Value? = value.asInt64.map { .int($0) } ?? value.asUInt64.map { .uint($0) }
      if let stored = isInteger ? integer : value.asDouble.map({ .double($0) }) { return stored }
      guard case .double(let double) = value, double.rounded() != double else { throw unfit(text, kind, example) }
      let (below, above) = (Int64(exactly: double.rounded(.down)), Int64(exactly: double.rounded(.up)))
      guard let below, let above else { throw unfit(text, "a whole number", example) }
      throw unfit(text, "a whole number", "\(below) or \(above)")
    } catch {
      // JSON lacks some forms of numbers, such as +5.
      guard error.offset != nil else { throw error }
      if let value = TextValue(text).value(as: isInteger ? .integer : .number) { return value }
      let isNumber = text.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || $0 == UInt8(ascii: "-") }
      guard isNumber, !text.isEmpty else { throw unfit(text, kind, example) }
      throw StoreError(.invalid, "takes \(kind), and \"\(Excerpt.of(text))\" cannot be stored as one: \(error.message)")
    }
  }

  private static func unfit(_ text: String, _ kind: String, _ example: String) -> StoreError {
    StoreError(.invalid, "takes \(kind), not \"\(Excerpt.of(text))\"; use \(example)")
  }
}
