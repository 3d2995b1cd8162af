// Messages for a value that does not have the requested type. They name kinds, types and places, never the value,
// because it may be a secret.

import KeptCore
import KeptValues

extension StoreError {
  /// The error for a stored value of another kind than requested.
  static func mismatch(_ stored: Value, asked: Value.Kind) -> StoreError {
    StoreError(.wrongType, "holds \(stored.described), not \(asked.described)")
  }

  /// The error for a stored number that the type cannot represent.
  static func mismatch(_ stored: Value, number type: (some Any).Type, asked: Value.Kind) -> StoreError {
    switch stored {
    case .int, .uint, .double: StoreError(.wrongType, "holds \(stored.described) that \(type) cannot hold exactly")
    default: mismatch(stored, asked: asked)
    }
  }

  /// The error with the layer of the value; the store itself is not mentioned.
  func found(in layer: Layer?) -> StoreError {
    guard let layer, layer != .user else { return self }
    return said { "in the \(layer) layer: \($0)" }
  }

  /// The error with a place inside the value: `at [3].width: holds a string, not a double`.
  func at(_ step: PlaceStep) -> StoreError {
    let isPlaced = message.begins(with: "at .") || message.begins(with: "at [")
    let rest = isPlaced ? String(message.dropFirst(3)) : ": \(message)"
    return said { _ in "at \(step)\(rest)" }
  }
}

/// The name of a type with its article: a String, an Int, a UInt8, an Optional<Int>.
func withArticle(_ type: (some Any).Type) -> String {
  let name = "\(type)"
  // UInt, URL and UUID begin with the sound of a consonant; Umbrella does not.
  let isSpelled = name.hasPrefix("U") && name.dropFirst().prefix(1).allSatisfy(\.isUppercase)
  let hasVowel = name.first.map { "AEIOUaeiou".contains($0) } ?? false
  return "\(hasVowel && !isSpelled ? "an" : "a") \(name)"
}

/// One step of a path into a value.
enum PlaceStep: CustomStringConvertible {
  case element(Int)
  case member(String)

  init(_ key: any CodingKey) {
    self = key.intValue.map { .element($0) } ?? .member(key.stringValue)
  }

  var description: String {
    switch self {
    case .element(let index): "[\(index)]"
    case .member(let name) where name.utf8.allSatisfy(Self.isPlain) && !name.isEmpty: ".\(name)"
    case .member(let name): "[\"\(name)\"]"
    }
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"): true
    default: false
    }
  }
}
