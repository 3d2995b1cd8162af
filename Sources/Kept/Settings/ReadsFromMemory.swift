// The fastest read of a setting: in a store, a Bool, Int, Double or String that was read before comes out of the index,
// by code that is specialized for that type in the program itself; and so does a default.

public import KeptCore

extension Store {
  /// A value of a type that is stored unconverted; nil leaves everything else to the ordinary path.
  @inlinable @inline(__always)
  func remembered<Value>(_ key: Key<Value>) -> Value? { remembered(key.bytes, as: Value.self) }

  /// A value by the bytes of a key; `none` leaves everything to the ordinary path.
  // Each comparison is resolved at compile time, when the types are identical: a cast would call the runtime.
  @inlinable @inline(__always)
  func remembered<Value>(_ key: PreparedBytes, as type: Value.Type) -> Value? {
    if Value.self == Int.self {
      var number: Int64 = 0
      if readInt64(key, &number) { return unsafeBitCast(number, to: Value.self) }
    } else if Value.self == Bool.self {
      var isOn = false
      if readBool(key, &isOn) { return unsafeBitCast(isOn, to: Value.self) }
    } else if Value.self == Double.self {
      var number = 0.0
      if readDouble(key, &number) { return unsafeBitCast(number, to: Value.self) }
    } else if Value.self == String.self {
      if case .some(.some(.string(let text))) = known(key) { return unsafeBitCast(text, to: Value.self) }
    }
    return nil
  }

  /// The default of a key that is known to be absent; nil leaves everything else to the ordinary path.
  @inlinable @inline(__always)
  func rememberedDefault<Value>(_ key: Key<Value>) -> Value? {
    // Keys of other types would be looked up twice if they have a value.
    let isRemembered =
      Value.self == Int.self || Value.self == Bool.self || Value.self == Double.self || Value.self == String.self
    guard isRemembered, case .some(.none) = known(key.bytes), !key.storesAbsentDefault else { return nil }
    return key.defaultValue(in: self)
  }
}
