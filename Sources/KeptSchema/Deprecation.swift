// Implements `deprecated`: setting a value that uses something deprecated works, and is reported.

package import KeptValues

extension Schema {
  /// The first deprecated place in a value; nil if there is none.
  package func deprecation(in value: Value, at place: JSONPointer = JSONPointer()) -> JSONPointer? {
    if isDeprecated { return place }
    var inside = place
    switch value {
    case .array(let values) where mentionsDeprecated:
      for (index, element) in values.enumerated() {
        inside.enter(index)
        if let found = self.element(at: index).deprecation(in: element, at: inside) { return found }
        inside.leave()
      }
    case .dictionary(let values) where mentionsDeprecated:
      guard let members else { return nil }
      for member in values {
        inside.enter(member.key)
        for schema in members.schemas(of: member.key) {
          if let found = schema.deprecation(in: member.value, at: inside) { return found }
        }
        inside.leave()
      }
    default: break
    }
    return nil
  }
}

extension Subschema {
  fileprivate func deprecation(in value: Value, at place: JSONPointer) -> JSONPointer? {
    guard case .words(let schema) = self else { return nil }
    return schema.deprecation(in: value, at: place)
  }
}

extension MemberRules {
  /// All schemas for members with a name.
  fileprivate func schemas(of name: ExactString) -> [Subschema] {
    var schemas = self[name].map { [$0] } ?? []
    // Without memory for the search nothing is reported; the value is set either way.
    for rule in patterns where (try? rule.pattern.search(name.text)) == .found { schemas.append(rule.schema) }
    return schemas.isEmpty ? [others] : schemas
  }
}
