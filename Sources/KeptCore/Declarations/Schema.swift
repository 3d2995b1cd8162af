// What a schema says once it is read: the tree that values are checked against.

/// The words of one schema; without any it takes every value.
struct Schema: Sendable {
  var types = TypeSet.all
  /// Empty: any value.
  var choices: [Value] = []
  var minimum: Value?
  var maximum: Value?
  /// Unicode scalars of a string, bytes of bytes.
  var minLength = 0
  var maxLength = Int.max
  var pattern: Pattern?
  var items = Subschema.anything
  var members: MemberRules?
}

/// A schema inside another.
indirect enum Subschema: Sendable {
  /// `true`
  case anything
  /// `false`
  case nothing
  case words(Schema)
}

/// What an object says about the members of its values.
struct MemberRules: Sendable {
  /// In the order of the names' bytes.
  var properties: [Property] = []
  var required: [ExactString] = []
  /// What `additionalProperties` says of other members.
  var others = Subschema.anything

  struct Property: Sendable {
    let name: ExactString
    let schema: Subschema
  }

  /// What is said of the members of a name.
  subscript(name: ExactString) -> Subschema {
    var low = 0
    var high = properties.count
    while low < high {
      let middle = low + (high - low) / 2
      if properties[middle].name < name { low = middle + 1 } else { high = middle }
    }
    return low < properties.count && properties[low].name == name ? properties[low].schema : others
  }
}
