// The compiler's message for a value that does not have the key's type. Without these overloads it says "failed to
// produce diagnostic" if only the result could determine the type of a key that is written `.volume`.

public import KeptCore
import KeptValues

extension SettingsAccess {
  // No code that compiles selects these overloads: they exist for their message.
  @available(*, unavailable, message: "the key and the value have different types")
  @_disfavoredOverload
  public subscript<Value, Other>(key: Key<Value>) -> Other {
    get { fatalError("unavailable code cannot be called") }
    set { fatalError("unavailable code cannot be called") }
  }
}

extension SettingsReading {
  @available(*, unavailable, message: "the key and the value have different types")
  @_disfavoredOverload
  public func value<Value, Other>(for key: Key<Value>) throws(StoreError) -> Other {
    fatalError("unavailable code cannot be called")
  }
}
