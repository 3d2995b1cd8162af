// What values of a type are in the store, in the words of JSON Schema: what a key of that type is declared with.

import KeptCore

/// What the values of a type are in the store.
///
/// A type that writes its own ``Storable/stored()`` says it in ``Storable/schema``:
///
/// ```swift
/// extension Colour: Storable { static var schema: Schema? { .string } }
/// ```
public struct Schema: Sendable, Hashable {
  private var words: ValueDictionary
  /// Whether a null may stand in its place inside an array or a dictionary.
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

  /// An array of elements that are all alike; nil: of any.
  public static func array(of elements: Schema?) -> Schema { array.saying("items", elements?.inside) }

  /// An object of members that are all alike; nil: of any.
  public static func object(of members: Schema?) -> Schema { object.saying("additionalProperties", members?.inside) }

  /// What a value is by itself; nil for null, which says nothing.
  init?(kindOf value: Value) {
    guard let type = DeclaredType(value.kind) else { return nil }
    self.init(type: type)
  }

  /// What a word says; nil: it is not there.
  subscript(word: ExactString) -> Value? {
    get { words[word] }
    set { words[word] = newValue }
  }

  /// The same with one more word; nil leaves it out.
  func saying(_ word: ExactString, _ value: Value?) -> Schema {
    var schema = self
    if let value { schema[word] = value }
    return schema
  }

  /// As the schema of a key.
  var atRoot: Value { .dictionary(words) }

  /// As the schema of an element or a member.
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

  /// Without any word: every value.
  static let anything = Schema([:])
}
