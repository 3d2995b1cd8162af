// A parsed schema: the tree that values are checked against.

package import KeptValues

/// The keywords of one schema.
///
/// Without any it admits every value.
package struct Schema: Sendable {
  var types = TypeSet.all
  /// The values of `enum` and `const`.
  package var choices = Choices()
  package var minimum: Value?
  package var maximum: Value?
  /// The rare keywords for numbers; nil if there are none.
  package var numbers: NumberRules?
  /// Counts Unicode scalars of a string, and bytes of a byte value.
  package var lengths = CountRange()
  package var pattern: Pattern?
  /// The schema of `items`, for the elements after those of `prefixItems`.
  package var items = Subschema.anything
  /// The other keywords for arrays; nil if there are none.
  package var elements: ElementRules?
  package var members: MemberRules?
  var isDeprecated = false
  /// Whether this schema, or a nested one, contains `deprecated`.
  var mentionsDeprecated = false

  /// The schema for the element at an index.
  package func element(at index: Int) -> Subschema {
    guard let elements, index < elements.first.count else { return items }
    return elements.first[index]
  }
}

/// A schema inside another.
package indirect enum Subschema: Sendable {
  /// `true`
  case anything
  /// `false`
  case nothing
  case words(Schema)
}

/// The allowed range of a count.
package struct CountRange: Sendable {
  package var least = 0
  package var most = Int.max
}

/// The keywords for numbers other than `minimum` and `maximum`.
package struct NumberRules: Sendable {
  package var exclusiveMinimum: Value?
  package var exclusiveMaximum: Value?
  package var multipleOf: Value?
}

/// The keywords for arrays other than `items`.
package struct ElementRules: Sendable {
  package var counts = CountRange()
  var isUnique = false
  /// The schemas of `prefixItems` for the first elements.
  package var first: [Subschema] = []
}

/// The keywords for the members of an object.
package struct MemberRules: Sendable {
  /// In the byte order of the names.
  package var properties: [Property] = []
  package var required: [ExactString] = []
  package var patterns: [PatternProperty] = []
  /// The schema of `additionalProperties`, for members that no name and no pattern covers.
  package var others = Subschema.anything
  /// The schema of `propertyNames`.
  package var names = Subschema.anything
  package var counts = CountRange()

  package struct Property: Sendable {
    package let name: ExactString
    package let schema: Subschema
  }

  package struct PatternProperty: Sendable {
    package let pattern: Pattern
    package let schema: Subschema
  }

  /// The schema of `properties` for members with a name; nil if there is none.
  package subscript(name: ExactString) -> Subschema? {
    var low = 0
    var high = properties.count
    while low < high {
      let middle = low + (high - low) / 2
      if properties[middle].name < name { low = middle + 1 } else { high = middle }
    }
    return low < properties.count && properties[low].name == name ? properties[low].schema : nil
  }
}

/// The values of `enum` and `const`: a value must equal one of them, as JSON Schema compares values.
package struct Choices: Sendable {
  /// The values of `enum`, as written; empty for any value.
  private(set) var listed: [Value] = []
  /// The value of `const`, as written.
  package var constant: Value?
  private var forms: Set<Value> = []

  /// Stores the values of `enum`; returns the later of two that are equal.
  package mutating func list(_ values: [Value]) -> Value? {
    listed = values
    return values.first { !forms.insert($0.comparedForm).inserted }
  }

  @inline(__always)
  package func contains(_ value: Value) -> Bool {
    listed.isEmpty || listed.count <= 8 && listed.contains(value) || forms.contains(value.comparedForm)
  }

  func isConstant(_ value: Value) -> Bool {
    constant.map { $0 == value || $0.comparedForm == value.comparedForm } ?? true
  }
}
