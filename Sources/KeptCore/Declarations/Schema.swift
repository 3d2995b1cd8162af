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

  /// Whether a member of the name can ever be there.
  func allow(_ name: ExactString) -> Bool {
    let schema = properties.first { $0.name == name }?.schema ?? others
    if case .nothing = schema { return false }
    return true
  }
}
