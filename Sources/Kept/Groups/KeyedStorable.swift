// A type of which a program keeps one value, under a key that the type itself knows.

/// A configuration that knows its key.
///
/// How it is stored is said as by every ``Storable`` type, by `init(stored:)` and `stored()`. A Codable type, or an
/// enum with raw values, needs to say no more than the key:
///
/// ```swift
/// struct CameraConfig: Codable, KeyedStorable {
///   static let key = "CameraConfig"
///   var saveToCameraRoll = true
///   var size = Size.medium
/// }
/// ```
///
/// One that writes `init(stored:)` itself decides what becomes of a value that lacks something: it throws, and the
/// error says why, or it takes a default for what is missing. Keep one with ``TypedStore``.
public protocol KeyedStorable: Storable {
  /// The name of the key.
  static var key: String { get }
}
