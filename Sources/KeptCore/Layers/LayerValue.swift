// The value of one layer for a key, checked against the key's declaration.

import KeptSchema
import KeptValues

/// The value of one layer for a key.
struct LayerValue {
  /// The fitting value; nil if there is none.
  var value: Value?
  /// The value that does not fit.
  var unfit: Value?
  /// The text that the value was read from, if it could be read as another type.
  var text: TextValue?
  /// Why the value does not fit.
  var problem: StoreError?
  /// Whether the layer has any value.
  var isThere: Bool { value != nil || problem != nil }

  init() {}

  init(_ value: Value?, _ declaration: Declaration?) {
    guard let value, let declaration, declaration.unreadable == nil else {
      self.value = value
      return
    }
    do throws(StoreError) { self.value = try declaration.admitted(value) } catch {
      // Without memory for a pattern, the value cannot be checked; a lock must not be lost for that.
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
      problem = StoreError(.wrongType, "\(shown) does not match the declared type: \(declaration.type)")
    }
  }
}
