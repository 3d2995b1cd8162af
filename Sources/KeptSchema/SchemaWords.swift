// The values that schema keywords accept, and the types that they apply to.

import KeptValues

extension SchemaReader {
  /// The types that a schema allows.
  mutating func types(_ words: ValueDictionary, isRoot: Bool) throws(StoreError) -> TypeSet {
    guard let value = words["type"] else {
      guard !isRoot else { throw wrong(.invalid, "it has no \"type\"; use \(Self.knownTypes)") }
      if let choices = words["enum"] { return try types(ofChoices: choices) }
      return words["const"].map { Self.types(of: $0) } ?? .all
    }
    place.enter("type")
    defer { place.leave() }
    if isRoot, value.kind != .string {
      throw wrong(
        .invalid, "the type of a key must be a single string, not \(value.describedAsJSON); use \(Self.knownTypes)")
    }
    guard let several = value.asArray else { return try type(value, orNull: !isRoot) }
    var types: TypeSet = []
    for word in several {
      let type = try type(word, orNull: true)
      guard types.isDisjoint(with: type) else { throw wrong(.invalid, "\(type) appears twice; remove one") }
      types.formUnion(type)
    }
    guard !types.isEmpty else { throw wrong(.invalid, "the list of types is empty; name one or more") }
    return types
  }

  private func type(_ word: Value, orNull: Bool) throws(StoreError) -> TypeSet {
    guard let text = word.asString else {
      throw wrong(.invalid, "a type must be a string, not \(word.describedAsJSON); use \(Self.knownTypes)")
    }
    if let type = DeclaredType(word: text) { return TypeSet(type) }
    guard ExactString(text) == "null" else {
      throw wrong(.invalid, "unknown type \"\(Excerpt.of(text))\"; use \(Self.knownTypes)")
    }
    guard orNull else { throw wrong(.invalid, "a key cannot hold null; use \(Self.knownTypes)") }
    return .null
  }

  private static var knownTypes: String { TypeSet.all.subtracting(.null).description }

  /// The type of the choices, if the schema does not specify it: all must have one type, or be null.
  private mutating func types(ofChoices value: Value) throws(StoreError) -> TypeSet {
    var types: TypeSet = []
    for choice in value.asArray ?? [] { types.formUnion(Self.types(of: choice)) }
    let one = types.subtracting(.null)
    guard one.rawValue.nonzeroBitCount <= 1 || one == [.integer, .number] else {
      place.enter("enum")
      throw wrong(.invalid, "the choices have mixed types, \(types); if that is intended, list them in \"type\"")
    }
    return types
  }

  /// The types of values equal to a value: a number may have either type, because 1 and 1.0 are equal in JSON Schema.
  private static func types(of value: Value) -> TypeSet {
    let type = TypeSet(value.kind)
    return type.isDisjoint(with: [.integer, .number]) ? type : [.integer, .number]
  }

  /// Throws `invalid` for a keyword that applies to none of the types.
  func checkApplies(to sensible: TypeSet, of types: TypeSet) throws(StoreError) {
    guard types.isDisjoint(with: sensible) else { return }
    throw wrong(.invalid, "the keyword applies to \(sensible), but the type is \(types); leave it out")
  }

  /// A bound, in the form of the type if there is one.
  package func bound(_ value: Value, of types: TypeSet) throws(StoreError) -> Value {
    try checkApplies(to: [.integer, .number], of: types)
    switch value {
    case .int, .uint: break
    case .double(let number) where number.isFinite: break
    default: throw wrong(.invalid, "the keyword must be a finite number, not \(shown(value))")
    }
    let type = types.intersection([.integer, .number])
    return type == [.integer, .number] ? value : type.form(of: value) ?? value
  }

  /// A count or a length.
  package func count(_ value: Value) throws(StoreError) -> Int {
    guard let count = value.asInt64, count >= 0 else {
      throw wrong(.invalid, "the keyword must be an integer from 0 to \(Int64.max), not \(shown(value))")
    }
    return Int(count)
  }

  package func pattern(_ value: Value) throws(StoreError) -> Pattern {
    let text = try text(value)
    do {
      return try Pattern(text)
    } catch {
      throw wrong(error.code, error.message)
    }
  }

  func flag(_ value: Value) throws(StoreError) -> Bool {
    guard let flag = value.asBool else {
      throw wrong(.invalid, "the keyword must be true or false, not \(value.describedAsJSON)")
    }
    return flag
  }

  package func text(_ value: Value) throws(StoreError) -> String {
    guard let text = value.asString else {
      throw wrong(.invalid, "the keyword must be a string, not \(value.describedAsJSON)")
    }
    return text
  }

  /// Names of members, without repetition.
  package func names(_ value: Value) throws(StoreError) -> [ExactString] {
    guard let elements = value.asArray else {
      throw wrong(.invalid, "the keyword must be an array of names, not \(value.describedAsJSON)")
    }
    var names: [ExactString] = []
    for element in elements { names.append(ExactString(try text(element))) }
    let sorted = names.inOrder { $0 }
    for (name, next) in zip(sorted, sorted.dropFirst()) where name == next {
      throw wrong(.invalid, "the name \"\(Excerpt.of(name.text))\" appears twice; remove one")
    }
    return sorted
  }
}
