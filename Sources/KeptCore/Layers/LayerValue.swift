// What one layer has for a key, seen through the key's declaration.

/// What one layer has for a key.
struct LayerValue {
  /// nil: nothing that fits.
  var value: Value?
  /// What it has and does not fit.
  var unfit: Value?
  /// The text that it was read from, where it could be read otherwise.
  var text: TextValue?
  /// Why what it has does not fit.
  var problem: StoreError?
  /// Whether it has anything at all.
  var isThere: Bool { value != nil || problem != nil }

  init() {}

  init(_ value: Value?, _ declaration: Declaration?) {
    guard let value, let declaration, declaration.unreadable == nil else {
      self.value = value
      return
    }
    do throws(StoreError) { self.value = try declaration.admitted(value) } catch {
      // Without memory for a pattern nothing is known of the value; a lock must not fall for that.
      if error.code == .failed { self.value = value } else { (unfit, problem) = (value, error) }
    }
  }

  init(_ text: TextValue?, _ declaration: Declaration?) {
    guard let text, let declaration, declaration.unreadable == nil else {
      (value, self.text) = (text?.natural, text)
      return
    }
    if let value = text.value(as: declaration.type) {
      self = LayerValue(value, declaration)
    } else {
      unfit = .string(text.text)
      let shown = declaration.isSecret ? "the text" : "\"\(text.text.prefix(60))\""
      problem = StoreError(.wrongType, "\(shown) is no \(declaration.type), as which the key is declared")
    }
  }
}
