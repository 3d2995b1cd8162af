// A type with one stored value, under a key that the type itself defines.

/// A configuration type that defines its key.
///
/// Like every ``Storable`` type, it defines its stored form by `init(stored:)` and `stored()`. A Codable type, or an
/// enum with raw values, only needs to define the key:
///
/// ```swift
/// struct CameraConfig: Codable, KeyedStorable {
///   static let key = "CameraConfig"
///   var saveToCameraRoll = true
///   var size = Size.medium
/// }
/// ```
///
/// A type with its own `init(stored:)` decides how to handle an incomplete value: it throws an error, or uses a default
/// for the missing parts. Store a value with ``TypedStore``.
public protocol KeyedStorable: Storable {
  /// The name of the key.
  static var key: String { get }
}
