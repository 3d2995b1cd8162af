// The section "JSON" of kept.h: any value as text.

public import CKept
import CPlatform
import KeptCore
import KeptValues

@_cdecl("kept_get_json") @implementation
public func kept_get_json(
  _ store: OpaquePointer?, _ key: UnsafePointer<CChar>?,
  _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(error) { () throws(StoreError) in
    if let store, !Handles.isNumber(store), let key, let json, let value = MemoryReads(store).value(key.prepared) {
      json.pointee = try value.newCText()
      return
    }
    let settings = try store.reading()
    let out = try json.required("json")
    out.pointee = try (settings.present(key.key()).value ?? .null).newCText()
  }
}

@_cdecl("kept_set_json") @implementation
public func kept_set_json(
  _ store: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ json: UnsafePointer<CChar>?,
  _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(warning: error) { () throws(StoreError) in
    let settings = try store.settings()
    let key = try key.key()
    let value = try json.value(for: key)
    if value == .null { try settings.clear(key) } else { try settings.write(value, key) }
    return settings.shadow(over: key)
  }
}

@_cdecl("kept_set_json_if") @implementation
public func kept_set_json_if(
  _ store: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ json: UnsafePointer<CChar>?, _ expected: UInt64,
  _ revision: UnsafeMutablePointer<UInt64>?, _ error: UnsafeMutablePointer<kept_error>?
) -> kept_status {
  boundary(warning: error) { () throws(StoreError) in
    let settings = try store.settings()
    let key = try key.key()
    let value = try json.value(for: key).checked(for: key)
    let written = try settings.put(value, for: key, ifRevision: expected)
    revision?.pointee = written
    return settings.shadow(over: key)
  }
}

extension Optional where Wrapped == UnsafePointer<CChar> {
  /// Parses NUL-terminated JSON.
  ///
  /// It need not be valid UTF-8: the parser reports the offset of an invalid byte.
  func value(for key: KeyName?) throws(StoreError) -> Value {
    let start = try required("json")
    do {
      return try Value(
        jsonBytes: UnsafeRawBufferPointer(start: start, count: strlen(start)).assumingMemoryBound(to: UInt8.self))
    } catch {
      throw key.map { error.about($0.text) } ?? error
    }
  }
}

extension SettingsReading {
  /// The value of a key; throws `absent` if no layer has one.
  func present(_ key: KeyName) throws(StoreError) -> Resolved {
    let resolved = try resolved(key)
    guard resolved.value != nil else {
      throw StoreError(.absent, key: key.text, "has no value; set it first, or use a default")
    }
    return resolved
  }
}

extension SettingsAccess {
  /// Checks and writes a value.
  func write(_ value: Value, _ key: KeyName) throws(StoreError) {
    _ = try put(try value.checked(for: key), for: key, ifRevision: nil)
  }
}
