// What no value could ever fit: a declaration that says it is refused, for it is a mistake.

extension SchemaReader {
  /// Throws `invalid` where two words contradict each other.
  func checkContradictions(_ schema: Schema) throws(StoreError) {
    if let minimum = schema.minimum, let maximum = schema.maximum, maximum.isLess(than: minimum) {
      throw wrong(.invalid, "the minimum \(minimum) is above the maximum \(maximum); exchange them")
    }
    if schema.minLength > schema.maxLength {
      throw wrong(
        .invalid, "the minLength \(schema.minLength) is above the maxLength \(schema.maxLength); exchange them")
    }
    guard let members = schema.members else { return }
    for name in members.required {
      guard case .nothing = members[name] else { continue }
      throw wrong(
        .invalid, "the member \"\(Excerpt.of(name.text))\" is required and never allowed; add it to \"properties\"")
    }
  }

  /// The choices in the form of their type, as written.
  ///
  /// Throws `invalid` where there is none, one is there twice, or one breaks another word.
  mutating func choices(_ value: Value, of schema: Schema) throws(StoreError) -> [Value] {
    place.enter("enum")
    defer { place.leave() }
    guard let given = value.asArray else {
      throw wrong(.invalid, "the word takes an array of choices, not \(value.described)")
    }
    guard !given.isEmpty else { throw wrong(.invalid, "there is no choice, so no value would fit; give one or more") }
    var choices: [Value] = []
    for (index, choice) in given.enumerated() {
      place.enter(index)
      choices.append(try fitting(choice, schema, called: "the choice"))
      place.leave()
    }
    try checkDistinct(choices)
    return choices
  }

  /// A default or a choice in the form that the schema gives it.
  func fitting(_ value: Value, _ schema: Schema, called subject: String) throws(StoreError) -> Value {
    var admission = Admission(isSecret: isSecret, subject: subject)
    do {
      return try admission.admit(value, to: schema)
    } catch {
      // Without memory for a pattern nothing is known of the value.
      throw wrong(error.code == .failed ? .failed : .invalid, error.message)
    }
  }

  private func checkDistinct(_ choices: [Value]) throws(StoreError) {
    let texts = choices.map { ExactString($0.json) }.inOrder { $0 }
    for (text, next) in zip(texts, texts.dropFirst()) where text == next {
      let shown = isSecret ? "a choice" : "the choice \(Excerpt.of(text.text))"
      throw wrong(.invalid, "\(shown) is there twice; leave one out")
    }
  }
}
