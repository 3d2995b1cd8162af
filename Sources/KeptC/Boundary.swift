// The conventions of the C boundary, stated once:
// - every function that can fail returns a kept_status and fills a caller-owned kept_error unless it is KEPT_OK;
// - a NULL argument is KEPT_INVALID, never a crash; text that is not UTF-8 as well;
// - what Kept is given is copied before the call returns; text that it returns in a `char **` is freed with kept_free;
// - an out argument is touched only on success, except where kept.h says otherwise;
// - a call that can wait ends before its thread is cancelled (`uncancelled`), its callbacks too;
// - a handle is never freed or reused, so a late one is KEPT_CLOSED (Handles.swift);
// - the compiler checks every function here against kept.h (`@implementation`).

import CKept
import CPlatform
import KeptCore

/// Runs the body of an exported function: what it throws becomes a status and a filled-in `kept_error`.
func boundary(_ error: UnsafeMutablePointer<kept_error>?, _ body: () throws(StoreError) -> Void) -> kept_status {
  uncancelled {
    do throws(StoreError) {
      try body()
      return KEPT_OK
    } catch let failure {
      error?.fill(failure)
      return failure.code.rawValue
    }
  }
}

/// Runs what may wait; a thread that is cancelled meanwhile ends later, and holds no lock then.
///
/// Every exported function does this, by ``boundary(_:_:)`` or by itself, but for those that only read memory.
@inline(__always)
func uncancelled<Answer>(_ body: () -> Answer) -> Answer {
  let before = kept_hold_cancelling()
  defer { kept_admit_cancelling(before) }
  return body()
}

/// The same for a function that can be done and still have something to say: what its body returns becomes a positive
/// status.
func boundary(
  warning error: UnsafeMutablePointer<kept_error>?, _ body: () throws(StoreError) -> StoreError?
) -> kept_status {
  var warning: StoreError?
  let status = boundary(error) { () throws(StoreError) in warning = try body() }
  guard status == KEPT_OK, let warning else { return status }
  error?.fill(warning)
  return warning.code.rawValue
}

extension Optional {
  /// The pointer, or `invalid` with the argument's name for NULL.
  func required(_ name: StaticString) throws(StoreError) -> Wrapped {
    guard let self else { throw StoreError(.invalid, "the argument \"\(name)\" is NULL; it must not be") }
    return self
  }
}

extension Optional where Wrapped == UnsafePointer<CChar> {
  /// A copy of NUL-terminated text; `invalid` for NULL and for what is not UTF-8.
  func text(_ name: StaticString) throws(StoreError) -> String {
    guard let text = String(validatingCString: try required(name)) else {
      throw StoreError(.invalid, "the argument \"\(name)\" is not UTF-8; convert it first")
    }
    return text
  }
}

/// Text for a `char **`, which the caller frees with `kept_free`.
func copied(_ text: String) throws(StoreError) -> UnsafeMutablePointer<CChar> {
  try CText.made { copy throws(StoreError) in copy.write(text) }
}

/// Does what cannot be undone and hands out the path that it names; its memory is there before.
func copied(
  to out: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, _ act: () throws(StoreError) -> String?
) throws(StoreError) {
  guard let out else {
    _ = try act()
    return
  }
  var isNone = false
  let path = try CText.made { copy throws(StoreError) in
    // A path is at most 4 KiB; a longer one would be a failure after the deed.
    try copy.reserve(16 << 10)
    let path = try act()
    isNone = path == nil
    copy.write(path ?? "")
  }
  if isNone { free(path) }
  out.pointee = isNone ? nil : path
}

/// How C names a key: by its text, or by one that it has prepared.
protocol KeyArgument {
  /// A checked copy.
  func name() throws(StoreError) -> KeyName

  /// What the index finds it by, valid during the call; it need not be a valid key.
  var prepared: PreparedBytes { get }
}

extension UnsafePointer<CChar>: KeyArgument {
  func name() throws(StoreError) -> KeyName { try KeyName(Optional(self).text("key")) }

  @inline(__always)
  var prepared: PreparedBytes { PreparedBytes(self) }
}

extension Optional where Wrapped: KeyArgument {
  /// A checked copy of the key; `invalid` for NULL and for what is none.
  func key() throws(StoreError) -> KeyName { try required("key").name() }
}

extension UnsafeMutablePointer where Pointee == kept_error {
  func fill(_ failure: StoreError) {
    pointee.status = failure.code.rawValue
    pointee.reserved = 0
    pointee.offset = failure.offset.map(Int64.init) ?? -1
    withUnsafeMutableBytes(of: &pointee.message) { $0.fill(text: failure.description) }
  }
}

extension UnsafeMutableRawBufferPointer {
  /// Writes text and a NUL; what does not fit is cut off between two characters.
  fileprivate func fill(text: String) {
    var length = Swift.min(text.utf8.count, count - 1)
    let bytes = text.utf8
    // A byte 10xxxxxx continues a character: that one would be torn.
    while length < bytes.count, length > 0, bytes[bytes.index(bytes.startIndex, offsetBy: length)] & 0xC0 == 0x80 {
      length -= 1
    }
    copyBytes(from: bytes.prefix(length))
    self[length] = 0
  }
}
