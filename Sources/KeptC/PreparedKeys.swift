// The section "Prepared keys" of kept.h: keys that are checked and hashed once.

public import CKept
import KeptCore
import KeptSystem
import KeptValues

@_cdecl("kept_key_prepare") @implementation
public func kept_key_prepare(
  _ key: UnsafePointer<CChar>?, _ out: UnsafeMutablePointer<OpaquePointer?>?,
  _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let name = try key.key()
    let out = try out.required("out")
    out.pointee = PreparedKeys.pointer(to: name)
  }
}

@_cdecl("kept_key_get_bool") @implementation
public func kept_key_get_bool(
  _ store: OpaquePointer?, _ key: OpaquePointer?, _ out: UnsafeMutablePointer<Bool>?,
  _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  if fromMemory(store, key, out, { $0.readBool($1, $2) }) { return KEPT_OK }
  return read(store, key, out, error, as: "a bool") { $0.asBool }
}

@_cdecl("kept_key_get_int64") @implementation
public func kept_key_get_int64(
  _ store: OpaquePointer?, _ key: OpaquePointer?, _ out: UnsafeMutablePointer<Int64>?,
  _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  if fromMemory(store, key, out, { $0.readInt64($1, $2) }) { return KEPT_OK }
  return read(store, key, out, error, as: "an int64") { $0.asInt64 }
}

@_cdecl("kept_key_get_double") @implementation
public func kept_key_get_double(
  _ store: OpaquePointer?, _ key: OpaquePointer?, _ out: UnsafeMutablePointer<Double>?,
  _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  if fromMemory(store, key, out, { $0.readDouble($1, $2) }) { return KEPT_OK }
  return read(store, key, out, error, as: "a double") { $0.asDouble }
}

@_cdecl("kept_key_get_string") @implementation
public func kept_key_get_string(
  _ store: OpaquePointer?, _ key: OpaquePointer?, _ buffer: UnsafeMutablePointer<CChar>?, _ capacity: Int,
  _ length: UnsafeMutablePointer<Int>?, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  readString(store, key, buffer, capacity, length, error)
}

/// Every key that was ever prepared.
///
/// None is freed, so its address needs no reference.
private enum PreparedKeys {
  private static let keys = Monitor<[KeyName: PreparedKey]>([:])

  /// The same address for the same text.
  static func pointer(to name: KeyName) -> OpaquePointer {
    keys.update { keys in
      let key = keys[name] ?? PreparedKey(name)
      keys[name] = key
      return OpaquePointer(Unmanaged.passUnretained(key).toOpaque())
    }
  }
}

/// A `const kept_key *`.
extension OpaquePointer: KeyArgument {
  func name() throws(StoreError) -> KeyName { key.takeUnretainedValue().name }

  @inline(__always)
  var prepared: PreparedBytes { key._withUnsafeGuaranteedRef { $0.prepared } }

  @inline(__always)
  private var key: Unmanaged<PreparedKey> { .fromOpaque(UnsafeRawPointer(self)) }
}
