// What the compiler says of a value that is not of the key's type. Of its own accord it says "failed to produce
// diagnostic" where only the result could tell it the type of a key that is written `.volume`.

public import KeptCore

extension SettingsAccess {
  // No code that compiles chooses these: they are there for their message.
  @available(*, unavailable, message: "the key has another type than the value")
  @_disfavoredOverload
  public subscript<Value, Other>(key: Key<Value>) -> Other {
    get { fatalError("unavailable code cannot be called") }
    set { fatalError("unavailable code cannot be called") }
  }
}

extension SettingsReading {
  @available(*, unavailable, message: "the key has another type than the value")
  @_disfavoredOverload
  public func value<Value, Other>(for key: Key<Value>) throws(StoreError) -> Other {
    fatalError("unavailable code cannot be called")
  }
}
