// The fastest read of a setting: in a store, a Bool, Int, Double or String that was read before comes out of the index,
// by code that is specialized for that type in the program itself; and so does a default.

public import KeptCore
import KeptValues

extension Store {
  /// A value of a type that is stored unconverted, or the default of a key that is known to be absent; nil leaves
  /// everything else to the ordinary path.
  @inlinable @inline(__always)
  func remembered<Value>(_ key: Key<Value>) -> Value? {
    var isAbsent = false
    if let value = remembered(key.bytes, as: Value.self, &isAbsent) { return value }
    return isAbsent && !key.storesAbsentDefault ? key.defaultValue(in: self) : nil
  }

  /// A value by the bytes of a key; `none` leaves everything to the ordinary path.
  // Each comparison is resolved at compile time, when the types are identical: a cast would call the runtime.
  @inlinable @inline(__always)
  func remembered<Value>(_ key: PreparedBytes, as type: Value.Type, _ isAbsent: inout Bool) -> Value? {
    var found = MemoryRead.unknown
    if Value.self == Int.self {
      var number: Int64 = 0
      found = readInt64(key, &number)
      if found == .value { return unsafeBitCast(number, to: Value.self) }
    } else if Value.self == Bool.self {
      var isOn = false
      found = readBool(key, &isOn)
      if found == .value { return unsafeBitCast(isOn, to: Value.self) }
    } else if Value.self == Double.self {
      var number = 0.0
      found = readDouble(key, &number)
      if found == .value { return unsafeBitCast(number, to: Value.self) }
    } else if Value.self == String.self {
      switch known(key) {
      case .some(.some(.string(let text))): return unsafeBitCast(text, to: Value.self)
      case .some(.none): found = .absent
      default: break
      }
    }
    isAbsent = found == .absent
    return nil
  }
}
