// The value of a key, resolved over all layers.

public import KeptValues

/// A resolved value.
public struct Resolved: Sendable, Hashable {
  /// The value; nil if the key is absent.
  public var value: Value?
  /// The layer that the value comes from.
  public var layer: Layer?
  /// The text that the value was read from, if the layer holds only text; nil if the type is certain.
  package var text: TextValue?

  init(value: Value? = nil, layer: Layer? = nil, text: TextValue? = nil) {
    (self.value, self.layer, self.text) = (value, layer, text)
  }

  /// The value as the requested type; nil if it cannot be converted.
  ///
  /// Only text is read as the requested type.
  package func converted<Asked>(_ convert: (Value) -> Asked?) -> Asked? {
    if let converted = value.flatMap(convert) { return converted }
    return text?.candidates.lazy.compactMap(convert).first
  }
}
