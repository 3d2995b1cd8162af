// What a schema says once it is read: the tree that values are checked against.

/// The words of one schema; without any it takes every value.
struct Schema: Sendable {
  var types = TypeSet.all
  /// What `enum` and `const` say.
  var choices = Choices()
  var minimum: Value?
  var maximum: Value?
  /// What is rarely said of numbers; nil: nothing is.
  var numbers: NumberRules?
  /// Unicode scalars of a string, bytes of bytes.
  var lengths = CountRange()
  var pattern: Pattern?
  /// What `items` says, of the elements behind `prefixItems` if that is there.
  var items = Subschema.anything
  /// What else is said of arrays; nil: nothing is.
  var elements: ElementRules?
  var members: MemberRules?
  var isDeprecated = false
  /// Whether it, or a schema in it, says `deprecated`.
  var mentionsDeprecated = false

  /// What is said of the element at an index.
  func element(at index: Int) -> Subschema {
    guard let elements, index < elements.first.count else { return items }
    return elements.first[index]
  }
}

/// A schema inside another.
indirect enum Subschema: Sendable {
  /// `true`
  case anything
  /// `false`
  case nothing
  case words(Schema)
}

/// How many there may be of something.
struct CountRange: Sendable {
  var least = 0
  var most = Int.max
}

/// What is said of numbers beside `minimum` and `maximum`.
struct NumberRules: Sendable {
  var exclusiveMinimum: Value?
  var exclusiveMaximum: Value?
  var multipleOf: Value?
}

/// What is said of arrays beside `items`.
struct ElementRules: Sendable {
  var counts = CountRange()
  var isUnique = false
  /// What `prefixItems` says of the first elements.
  var first: [Subschema] = []
}

/// What an object says about the members of its values.
struct MemberRules: Sendable {
  /// In the order of the names' bytes.
  var properties: [Property] = []
  var required: [ExactString] = []
  var patterns: [PatternProperty] = []
  /// What `additionalProperties` says of members that neither a name nor a pattern speaks of.
  var others = Subschema.anything
  /// What `propertyNames` says.
  var names = Subschema.anything
  var counts = CountRange()

  struct Property: Sendable {
    let name: ExactString
    let schema: Subschema
  }

  struct PatternProperty: Sendable {
    let pattern: Pattern
    let schema: Subschema
  }

  /// What `properties` says of the members of a name; nil: nothing.
  subscript(name: ExactString) -> Subschema? {
    var low = 0
    var high = properties.count
    while low < high {
      let middle = low + (high - low) / 2
      if properties[middle].name < name { low = middle + 1 } else { high = middle }
    }
    return low < properties.count && properties[low].name == name ? properties[low].schema : nil
  }
}

/// What `enum` and `const` say: one of these values, as JSON Schema compares them.
struct Choices: Sendable {
  /// The values of `enum`, as written; empty: any.
  private(set) var listed: [Value] = []
  /// The value of `const`, as written.
  var constant: Value?
  private var forms: Set<Value> = []

  /// Takes over the values of `enum`; of two that are equal the later one is given back.
  mutating func list(_ values: [Value]) -> Value? {
    listed = values
    return values.first { !forms.insert($0.comparedForm).inserted }
  }

  @inline(__always)
  func contains(_ value: Value) -> Bool {
    listed.isEmpty || listed.count <= 8 && listed.contains(value) || forms.contains(value.comparedForm)
  }

  func isConstant(_ value: Value) -> Bool {
    constant.map { $0 == value || $0.comparedForm == value.comparedForm } ?? true
  }
}
