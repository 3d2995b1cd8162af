// The conversion of a key's values: by their type, or by a transformer.

import KeptCore
import KeptValues

/// The conversions of a key's values to their stored form and back.
struct KeyCoding<Value: Sendable>: Sendable {
  /// Converts a stored value back.
  let read: @Sendable (KeptValues.Value) throws(StoreError) -> Value
  /// Converts a value to its stored form.
  let write: @Sendable (Value) throws(StoreError) -> KeptValues.Value
  /// The type that is stored: the key's own, or the transformer's output.
  let stored: any Storable.Type
  /// Whether the value is converted by its type alone: then a bool, a number or a text is stored as it is.
  let isPlain: Bool
}

extension KeyCoding {
  /// Reads a text of the command line or the environment as the first of its candidates that fits; nil if none does.
  func read(_ text: TextValue?) -> Value? {
    for candidate in text?.candidates ?? [] {
      do throws(StoreError) { return try read(candidate) } catch { continue }
    }
    return nil
  }
}

extension KeyCoding where Value: Storable {
  /// The conversions of the type itself.
  static var plain: KeyCoding {
    KeyCoding(
      read: { stored throws(StoreError) in try Value(stored: stored) },
      write: { value throws(StoreError) in try value.stored() },
      stored: Value.self, isPlain: true)
  }
}

extension KeyCoding {
  /// The conversions of a transformer.
  ///
  /// A nil is not passed to the transformer: it removes the key.
  static func through<Stored: Storable>(_ transformer: Transformer<Value, Stored>) -> KeyCoding {
    KeyCoding(
      read: { stored throws(StoreError) in
        let stored = try Stored(stored: stored)
        do { return try transformer.untransform(stored) } catch { throw StoreError(untransforming: error) }
      },
      write: { value throws(StoreError) in
        if (value as? any AnyOptional)?.isNil == true { return .null }
        let stored: Stored
        do { stored = try transformer.transform(value) } catch { throw StoreError(transforming: error) }
        return try stored.stored()
      },
      stored: Stored.self, isPlain: false)
  }
}

/// An optional of any type.
protocol AnyOptional {
  static var wrapped: Any.Type { get }
  var isNil: Bool { get }
}

extension Optional: AnyOptional {
  static var wrapped: Any.Type { Wrapped.self }
  var isNil: Bool { if case .none = self { true } else { false } }
}
