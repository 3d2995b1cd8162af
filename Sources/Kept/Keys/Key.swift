// What a key is: a name, the type of its value, and what to read where nothing is stored.

import KeptCore

/// A key with the type of its value.
///
/// Declare keys in an extension of ``Keys``.
///
/// The default is not stored. It is evaluated when it is needed, on the thread that reads, and never while a lock is
/// held: it may read a store itself.
public final class Key<Value: Storable>: Keys, @unchecked Sendable {
  /// The name under which the value is stored: 1 to 1024 bytes of UTF-8 without NUL, compared byte by byte.
  ///
  /// Any other name is an `invalid` error of every call that uses the key.
  public let name: String

  // @unchecked is inherited; everything here is constant and Sendable.
  private let checked: Result<PreparedKey, StoreError>
  /// What the index finds the key by; `none` for a name that is no key.
  @usableFromInline let bytes: PreparedBytes
  private let makeDefault: @Sendable () -> Value

  /// Declares a key that reads as `default` where nothing is stored.
  public init(_ name: String, default makeDefault: @autoclosure @escaping @Sendable () -> Value) {
    self.name = name
    self.makeDefault = makeDefault
    checked = Result { () throws(StoreError) in PreparedKey(try KeyName(name)) }
    bytes = (try? checked.get())?.prepared ?? .none
  }

  /// Declares a key that reads as nil where nothing is stored.
  public convenience init<Wrapped: Storable>(_ name: String) where Value == Wrapped? {
    self.init(name, default: nil)
  }

  /// What the key reads as where nothing is stored.
  public var defaultValue: Value { makeDefault() }

  /// The name, checked once.
  func keyName() throws(StoreError) -> KeyName { try checked.get().name }

  /// Reads what is stored under the key; errors name the key.
  func read(_ stored: KeptCore.Value?) throws(StoreError) -> Value {
    guard let stored else { return defaultValue }
    do { return try Value(stored: stored) } catch { throw error.about(name) }
  }

  /// What is to be stored under the key; errors name the key.
  func write(_ value: Value) throws(StoreError) -> KeptCore.Value {
    do { return try value.stored() } catch { throw error.about(name) }
  }
}
