// The section "Values" of kept.h: one pair of functions for each kind.

public import CKept
import KeptCore
import KeptValues

@_cdecl("kept_get_bool") @implementation
public func kept_get_bool(
  _ store: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ out: UnsafeMutablePointer<Bool>?,
  _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  if fromMemory(store, key, out, { $0.readBool($1, $2) }) { return KEPT_OK }
  return read(store, key, out, error, as: "a bool") { $0.asBool }
}

@_cdecl("kept_set_bool") @implementation
public func kept_set_bool(
  _ store: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ value: Bool, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  write(store, key, error, .bool(value))
}

@_cdecl("kept_get_int64") @implementation
public func kept_get_int64(
  _ store: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ out: UnsafeMutablePointer<Int64>?,
  _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  if fromMemory(store, key, out, { $0.readInt64($1, $2) }) { return KEPT_OK }
  return read(store, key, out, error, as: "an int64") { $0.asInt64 }
}

@_cdecl("kept_set_int64") @implementation
public func kept_set_int64(
  _ store: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ value: Int64, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  write(store, key, error, .int(value))
}

@_cdecl("kept_get_uint64") @implementation
public func kept_get_uint64(
  _ store: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ out: UnsafeMutablePointer<UInt64>?,
  _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  read(store, key, out, error, as: "a uint64") { $0.asUInt64 }
}

@_cdecl("kept_set_uint64") @implementation
public func kept_set_uint64(
  _ store: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ value: UInt64, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  write(store, key, error, .uint(value))
}

@_cdecl("kept_get_double") @implementation
public func kept_get_double(
  _ store: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ out: UnsafeMutablePointer<Double>?,
  _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  if fromMemory(store, key, out, { $0.readDouble($1, $2) }) { return KEPT_OK }
  return read(store, key, out, error, as: "a double") { $0.asDouble }
}

@_cdecl("kept_set_double") @implementation
public func kept_set_double(
  _ store: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ value: Double, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  write(store, key, error, .double(value))
}

@_cdecl("kept_get_date") @implementation
public func kept_get_date(
  _ store: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ seconds: UnsafeMutablePointer<Int64>?,
  _ nanoseconds: UnsafeMutablePointer<Int32>?, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let seconds = try seconds.required("seconds")
    let nanoseconds = try nanoseconds.required("nanoseconds")
    let date: Timestamp = try readValue(store, key, as: "a date") { $0.asDate }
    seconds.pointee = date.seconds
    nanoseconds.pointee = date.nanoseconds
  }
}

@_cdecl("kept_set_date") @implementation
public func kept_set_date(
  _ store: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ seconds: Int64, _ nanoseconds: Int32,
  _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  write(store, key, error) { () throws(StoreError) in
    .date(try Timestamp(seconds: seconds, nanoseconds: nanoseconds))
  }
}

/// Reads from the index; false leaves everything, including errors in the arguments, to the ordinary path.
@inline(__always)
func fromMemory<Asked>(
  _ store: OpaquePointer?, _ key: (some KeyArgument)?, _ out: UnsafeMutablePointer<Asked>?,
  _ read: (MemoryReads, PreparedBytes, UnsafeMutablePointer<Asked>) -> MemoryRead
) -> Bool {
  guard let store, !Handles.isNumber(store), let key, let out else { return false }
  // No reference is counted: the words are never freed, and point to memory that is never freed.
  return read(MemoryReads(store), key.prepared, out) == .value
}

/// A typed read into an out argument through the ordinary path.
@inline(never)
func read<Asked>(
  _ store: OpaquePointer?, _ key: (some KeyArgument)?, _ out: UnsafeMutablePointer<Asked>?,
  _ error: UnsafeMutablePointer<kept_error>?, as asked: StaticString, _ convert: (Value) -> Asked?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    let out = try out.required("out")
    out.pointee = try readValue(store, key, as: asked, convert)
  }
}

/// A value as the requested type; `wrongType` if the conversion would change it.
func readValue<Asked>(
  _ store: OpaquePointer?, _ key: (some KeyArgument)?, as asked: StaticString, _ convert: (Value) -> Asked?
) throws(StoreError) -> Asked {
  let settings = try store.reading()
  let key = try key.key()
  let resolved = try settings.present(key)
  guard let converted = resolved.converted(convert) else {
    let found = resolved.value?.described ?? "nothing"
    throw StoreError(.wrongType, key: key.text, "holds \(found), not \(asked)")
  }
  return converted
}

/// A typed write of a value that the arguments contain.
func write(
  _ store: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ error: UnsafeMutablePointer<kept_error>?,
  _ value: () throws(StoreError) -> Value
) -> kept_status {
  if let value = try? value() { return write(store, key, error, value) }
  return writeChecked(store, key, error, value)
}

/// A typed write, which is short for a key that the index of the store knows.
func write(
  _ store: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ error: UnsafeMutablePointer<kept_error>?, _ value: Value
) -> kept_status {
  if let store, let key, uncancelled({ putKnown(store, key.prepared, value) }) { return KEPT_OK }
  return writeChecked(store, key, error) { value }
}

private func writeChecked(
  _ store: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ error: UnsafeMutablePointer<kept_error>?,
  _ value: () throws(StoreError) -> Value
) -> kept_status {
  boundary(warning: error) { () throws(StoreError) in
    let settings = try store.settings()
    let key = try key.key()
    do throws(StoreError) { try settings.write(value(), key) } catch { throw error.about(key.text) }
    return settings.shadow(over: key)
  }
}

/// Writes to a store or a transaction; false, with nothing done, if that needs a check.
@inline(__always)
private func putKnown(_ store: OpaquePointer, _ key: PreparedBytes, _ value: Value) -> Bool {
  guard Handles.isNumber(store) else { return Handles.store(store)?.putKnown(value, for: key) == true }
  return Handles.transactions.find(UInt(bitPattern: store))?.putKnown(value, for: key) == true
}
