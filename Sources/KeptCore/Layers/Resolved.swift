// What a key reads as under all layers.

/// What a key reads as.
public struct Resolved: Sendable, Hashable {
  /// The value; nil: the key is absent.
  public var value: Value?
  /// The layer that it comes from.
  public var layer: Layer?
  /// The text that it was read from, in a layer that knows nothing but text; nil where it has its type for sure.
  package var text: TextValue?

  init(value: Value? = nil, layer: Layer? = nil, text: TextValue? = nil) {
    (self.value, self.layer, self.text) = (value, layer, text)
  }

  /// The value in a type that is asked for; nil where it cannot be that.
  ///
  /// Text is read as what is asked for; nothing else is.
  package func converted<Asked>(_ convert: (Value) -> Asked?) -> Asked? {
    if let converted = value.flatMap(convert) { return converted }
    return text?.candidates.lazy.compactMap(convert).first
  }
}
