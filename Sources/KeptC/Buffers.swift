// The section "Buffers" of kept.h: text and bytes with an explicit length.

public import CKept
import KeptCore
import KeptValues

@_cdecl("kept_get_string") @implementation
public func kept_get_string(
  _ store: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ buffer: UnsafeMutablePointer<CChar>?, _ capacity: Int,
  _ length: UnsafeMutablePointer<Int>?, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  readString(store, key, buffer, capacity, length, error)
}

@_cdecl("kept_set_string") @implementation
public func kept_set_string(
  _ store: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ text: UnsafePointer<CChar>?, _ length: Int,
  _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  write(store, key, error) { () throws(StoreError) in
    let bytes = try given(UnsafeRawPointer(try text.required("text")), length)
    guard let text = String(exactly: bytes) else {
      throw StoreError(.invalid, "the text is not UTF-8; convert it first, or store it as bytes")
    }
    return .string(text)
  }
}

@_cdecl("kept_get_bytes") @implementation
public func kept_get_bytes(
  _ store: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ buffer: UnsafeMutableRawPointer?, _ capacity: Int,
  _ length: UnsafeMutablePointer<Int>?, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    try check(buffer, capacity)
    let bytes = try readValue(store, key, as: "bytes") { $0.asBytes }
    try copy(bytes, endingWithNUL: false, into: buffer, capacity, length)
  }
}

@_cdecl("kept_set_bytes") @implementation
public func kept_set_bytes(
  _ store: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ bytes: UnsafeRawPointer?, _ length: Int,
  _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  write(store, key, error) { () throws(StoreError) in
    if length == 0 { return .bytes([]) }
    return .bytes(Array(try given(try bytes.required("bytes"), length)))
  }
}

/// Reads text, by a key of either kind.
@inline(__always)
func readString(
  _ store: OpaquePointer?, _ key: (some KeyArgument)?, _ buffer: UnsafeMutablePointer<CChar>?, _ capacity: Int,
  _ length: UnsafeMutablePointer<Int>?, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  let isDone = fromMemory(store, key, buffer) { store, key, buffer in
    var count = 0
    let found = store.readString(key, buffer, capacity, &count)
    if found == .value { length?.pointee = count }
    return found
  }
  return isDone ? KEPT_OK : askForString(store, key, buffer, capacity, length, error)
}

/// Reads text through the ordinary path.
@inline(never)
private func askForString(
  _ store: OpaquePointer?, _ key: (some KeyArgument)?, _ buffer: UnsafeMutablePointer<CChar>?, _ capacity: Int,
  _ length: UnsafeMutablePointer<Int>?, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    try check(UnsafeMutableRawPointer(buffer), capacity)
    let text = try readValue(store, key, as: "a string") { $0.asString }
    try copy(text.utf8, endingWithNUL: true, into: UnsafeMutableRawPointer(buffer), capacity, length)
  }
}

/// Copies the caller's bytes; a length beyond every limit is refused before any of them is read.
func given(_ start: UnsafeRawPointer, _ length: Int) throws(StoreError) -> UnsafeBufferPointer<UInt8> {
  // C counts are unsigned: a negative number here is a huge one there.
  guard 0...Limits.valueBytes ~= length else {
    throw StoreError(
      .tooLarge, "the length is \(UInt(bitPattern: length)); at most \(Limits.valueBytes) bytes are allowed")
  }
  try Memory.ask(for: length, to: "copy the argument")
  return UnsafeRawBufferPointer(start: start, count: length).assumingMemoryBound(to: UInt8.self)
}

/// A buffer may be NULL only if its capacity is 0.
private func check(_ buffer: UnsafeMutableRawPointer?, _ capacity: Int) throws(StoreError) {
  guard buffer != nil || capacity == 0 else {
    throw StoreError(
      .invalid,
      "the capacity is \(UInt(bitPattern: capacity)), but \"buffer\" is NULL; pass a buffer or a capacity of 0")
  }
}

/// Copies into the caller's buffer, all of it or nothing; the length is reported even if it does not fit.
private func copy(
  _ bytes: some Collection<UInt8>, endingWithNUL: Bool, into buffer: UnsafeMutableRawPointer?, _ capacity: Int,
  _ length: UnsafeMutablePointer<Int>?
) throws(StoreError) {
  length?.pointee = bytes.count
  let needed = bytes.count + (endingWithNUL ? 1 : 0)
  guard UInt(bitPattern: capacity) >= UInt(needed) else {
    throw StoreError(
      .tooLarge, "the buffer has \(capacity) bytes, but \(needed) are needed; call again with a larger buffer")
  }
  guard let buffer else { return }
  UnsafeMutableRawBufferPointer(start: buffer, count: bytes.count).copyBytes(from: bytes)
  if endingWithNUL { buffer.storeBytes(of: 0, toByteOffset: bytes.count, as: UInt8.self) }
}
