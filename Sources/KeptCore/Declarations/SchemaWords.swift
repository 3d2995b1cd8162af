// The values that schema keywords accept, and the types that they apply to.

extension SchemaReader {
  /// The types that a schema allows.
  mutating func types(_ words: ValueDictionary, isRoot: Bool) throws(StoreError) -> TypeSet {
    guard let value = words["type"] else {
      guard !isRoot else { throw wrong(.invalid, "it has no \"type\"; give it \(Self.knownTypes)") }
      if let choices = words["enum"] { return try types(ofChoices: choices) }
      return words["const"].map { Self.types(of: $0) } ?? .all
    }
    place.enter("type")
    defer { place.leave() }
    if isRoot, value.kind != .string {
      throw wrong(.invalid, "the type of a key is one word, not \(value.described); give it \(Self.knownTypes)")
    }
    guard let several = value.asArray else { return try type(value, orNull: !isRoot) }
    var types: TypeSet = []
    for word in several {
      let type = try type(word, orNull: true)
      guard types.isDisjoint(with: type) else { throw wrong(.invalid, "\(type) is there twice; leave one out") }
      types.formUnion(type)
    }
    guard !types.isEmpty else { throw wrong(.invalid, "no value could have no type at all; name one or more") }
    return types
  }

  private func type(_ word: Value, orNull: Bool) throws(StoreError) -> TypeSet {
    guard let text = word.asString else {
      throw wrong(.invalid, "a type is a word, not \(word.described); give \(Self.knownTypes)")
    }
    if let type = DeclaredType(word: text) { return TypeSet(type) }
    guard ExactString(text) == "null" else {
      throw wrong(.invalid, "there is no type \"\(Excerpt.of(text))\"; give \(Self.knownTypes)")
    }
    guard orNull else { throw wrong(.invalid, "no key holds null; give \(Self.knownTypes)") }
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
      throw wrong(.invalid, "the choices are of mixed kinds, \(types); name them in \"type\" if that is meant")
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
    throw wrong(.invalid, "the word applies to \(sensible), and the type is \(types); leave it out")
  }

  /// A bound, in the form of the type if there is one.
  func bound(_ value: Value, of types: TypeSet) throws(StoreError) -> Value {
    try checkApplies(to: [.integer, .number], of: types)
    switch value {
    case .int, .uint: break
    case .double(let number) where number.isFinite: break
    default: throw wrong(.invalid, "a bound is a finite number, not \(shown(value))")
    }
    let type = types.intersection([.integer, .number])
    return type == [.integer, .number] ? value : type.form(of: value) ?? value
  }

  /// A count or a length.
  func count(_ value: Value) throws(StoreError) -> Int {
    guard let count = value.asInt64, count >= 0 else {
      throw wrong(.invalid, "the word takes an integer from 0 to \(Int64.max), not \(shown(value))")
    }
    return Int(count)
  }

  func pattern(_ value: Value) throws(StoreError) -> Pattern {
    let text = try text(value)
    do {
      return try Pattern(text)
    } catch {
      throw wrong(error.code, error.message)
    }
  }

  func flag(_ value: Value) throws(StoreError) -> Bool {
    guard let flag = value.asBool else {
      throw wrong(.invalid, "the word is true or false, not \(value.described)")
    }
    return flag
  }

  func text(_ value: Value) throws(StoreError) -> String {
    guard let text = value.asString else { throw wrong(.invalid, "the word takes text, not \(value.described)") }
    return text
  }

  /// Names of members, without repetition.
  func names(_ value: Value) throws(StoreError) -> [ExactString] {
    guard let elements = value.asArray else {
      throw wrong(.invalid, "the word takes an array of names, not \(value.described)")
    }
    var names: [ExactString] = []
    for element in elements { names.append(ExactString(try text(element))) }
    let sorted = names.inOrder { $0 }
    for (name, next) in zip(sorted, sorted.dropFirst()) where name == next {
      throw wrong(.invalid, "the name \"\(Excerpt.of(name.text))\" is there twice; leave one out")
    }
    return sorted
  }
}
