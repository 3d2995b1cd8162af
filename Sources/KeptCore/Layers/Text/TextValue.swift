// The meaning of a text from the command line or the environment, by itself and as a requested type.

package import KeptSchema
package import KeptValues

/// The text that a text layer holds for a key.
///
/// A text in the form of a list, a dictionary, a quoted string or a property-list element has the type of that form.
/// Any other text has the requested type, if it can be read as that.
public struct TextValue: Sendable, Hashable {
  private let exact: ExactString

  public var text: String { exact.text }

  package init(_ text: String) { exact = ExactString(text) }

  /// The value as a type; nil if the text cannot be read as it.
  package func value(as type: DeclaredType) -> Value? { TextReading(text).value(as: type) }

  /// The value without a requested type: from the form of the text, a JSON number, `true` or `false`, else the text
  /// itself.
  package var natural: Value { TextReading(text).natural }

  /// All values that the text can represent: the natural value, then the other types, each value once.
  package var candidates: [Value] {
    let reading = TextReading(text)
    var values = [reading.natural]
    for type: DeclaredType in [.integer, .number, .boolean, .string, .date, .bytes] {
      if let value = reading.value(as: type), !values.contains(value) { values.append(value) }
    }
    return values
  }
}

/// A text, and the value that its form gives.
private struct TextReading {
  let text: String
  /// White space around the text is kept only for a string.
  let trimmed: String
  /// The value that the form of the text gives; nil for plain text.
  let formed: Value?

  init(_ text: String) {
    self.text = text
    trimmed = text.withoutOuterSpace
    formed = try? Self.formed(trimmed)
  }

  private static func formed(_ text: String) throws(StoreError) -> Value? {
    switch text.unicodeScalars.first {
    case "{", "[", "\"":
      do throws(StoreError) { return try Value(json: text) } catch {
        guard error.code != .failed else { throw error }
        return try PropertyListText.value(text)
      }
    case "(", "<": return try PropertyListText.value(text)
    default: return nil
    }
  }

  var natural: Value {
    if let formed { return formed }
    switch trimmed.utf8.first {
    case UInt8(ascii: "-")?, (UInt8(ascii: "0")...UInt8(ascii: "9"))?, UInt8(ascii: "t")?, UInt8(ascii: "f")?:
      // JSON without `$numberULong` has no integers above Int64.max.
      return (try? Value(json: trimmed)) ?? largeInteger ?? .string(text)
    default: return .string(text)
    }
  }

  private var largeInteger: Value? {
    guard let number = UInt64(trimmed), ExactString(number.description) == ExactString(trimmed) else { return nil }
    return .uint(number)
  }

  func value(as type: DeclaredType) -> Value? {
    if type == .string { return .string(formed?.asString ?? text) }
    return if let formed { Self.value(of: formed, as: type) } else { plain(as: type) }
  }

  private static func value(of formed: Value, as type: DeclaredType) -> Value? {
    switch (type, formed.kind) {
    case (.integer, _): formed.asInt64.map { .int($0) } ?? formed.asUInt64.map { .uint($0) }
    case (.number, _): formed.asDouble.map { .double($0) }
    case (.boolean, .bool), (.string, .string), (.bytes, .bytes), (.date, .date), (.array, .array),
      (.object, .dictionary):
      formed
    default: nil
    }
  }

  private func plain(as type: DeclaredType) -> Value? {
    switch type {
    case .boolean: boolean.map { .bool($0) }
    case .integer: NumberText.integer(trimmed)
    case .number: NumberText.double(trimmed).map { .double($0) }
    case .string: .string(text)
    case .date: (try? Timestamp(text: trimmed)).map { .date($0) }
    case .bytes: Base64.decode(trimmed).map { .bytes($0) }
    case .array, .object: nil
    }
  }

  /// Case-insensitive.
  private var boolean: Bool? {
    switch ExactString(trimmed.lowerCasedWord) {
    case "true", "yes", "on", "1": true
    case "false", "no", "off", "0": false
    default: nil
    }
  }
}
