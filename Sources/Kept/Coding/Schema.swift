// The schema of a type's stored values, in the keywords of JSON Schema. A key of that type is declared with it.

import KeptSchema
import KeptValues

/// The schema of a type's values in the store.
///
/// A type that implements ``Storable/stored()`` itself provides it as ``Storable/schema``:
///
/// ```swift
/// extension Colour: Storable { static var schema: Schema? { .string } }
/// ```
public struct Schema: Sendable, Hashable {
  private var words: ValueDictionary
  /// Whether null is allowed in place of it inside an array or a dictionary.
  var allowsNull = false

  private init(_ words: ValueDictionary) { self.words = words }
  private init(type: DeclaredType) { words = ["type": .string(type.description)] }

  public static let boolean = Schema(type: .boolean)
  public static let integer = Schema(type: .integer)
  public static let number = Schema(type: .number)
  public static let string = Schema(type: .string)
  public static let bytes = Schema(type: .bytes)
  public static let date = Schema(type: .date)
  public static let array = Schema(type: .array)
  public static let object = Schema(type: .object)

  /// An array with elements of one schema; nil for any elements.
  public static func array(of elements: Schema?) -> Schema { array.saying("items", elements?.inside) }

  /// An object with members of one schema; nil for any members.
  public static func object(of members: Schema?) -> Schema { object.saying("additionalProperties", members?.inside) }

  /// The schema for the kind of a value; nil for null, which does not determine one.
  init?(kindOf value: Value) {
    guard let type = DeclaredType(value.kind) else { return nil }
    self.init(type: type)
  }

  /// The value of a keyword; nil if it is absent.
  subscript(word: ExactString) -> Value? {
    get { words[word] }
    set { words[word] = newValue }
  }

  /// The schema with another keyword; nil omits it.
  func saying(_ word: ExactString, _ value: Value?) -> Schema {
    var schema = self
    if let value { schema[word] = value }
    return schema
  }

  /// The form for the schema of a key.
  var atRoot: Value { .dictionary(words) }

  /// The form for the schema of an element or a member.
  var inside: Value {
    guard allowsNull else { return atRoot }
    var schema = self
    if let type = words["type"] { schema["type"] = [type, "null"] }
    if let constant = words["const"], words["enum"] == nil {
      schema["const"] = nil
      schema["enum"] = [constant, .null]
    }
    if case .array(let choices)? = words["enum"] { schema["enum"] = .array(choices + [.null]) }
    return schema.atRoot
  }

  /// The schema without keywords: every value.
  static let anything = Schema([:])
}
