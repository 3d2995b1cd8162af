// How the values of a key are stored: as their type says, or as a transformer makes of them.

import KeptCore

/// The way of a key's values into the store and back.
struct KeyCoding<Value: Sendable>: Sendable {
  /// Makes the value of what is stored.
  let read: @Sendable (KeptCore.Value) throws(StoreError) -> Value
  /// Makes what is stored.
  let write: @Sendable (Value) throws(StoreError) -> KeptCore.Value
  /// The type that is stored: the key's own, or what the transformer makes of it.
  let stored: any Storable.Type
  /// Whether a stored number or truth is the value as it stands.
  let isPlain: Bool
}

extension KeyCoding {
  /// Reads a text of the command line or the environment as the first of its meanings that fits; nil if none does.
  func read(_ text: TextValue?) -> Value? {
    for candidate in text?.candidates ?? [] {
      do throws(StoreError) { return try read(candidate) } catch { continue }
    }
    return nil
  }
}

extension KeyCoding where Value: Storable {
  /// As the type itself says.
  static var plain: KeyCoding {
    KeyCoding(
      read: { stored throws(StoreError) in try Value(stored: stored) },
      write: { value throws(StoreError) in try value.stored() },
      stored: Value.self, isPlain: true)
  }
}

extension KeyCoding {
  /// As a transformer says.
  ///
  /// A nil does not get that far, whatever the transformer would make of it: it removes the key.
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
