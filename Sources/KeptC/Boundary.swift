// The conventions of the C boundary:
// - every function that can fail returns a kept_status and fills a caller-owned kept_error unless it is KEPT_OK;
// - a NULL argument is KEPT_INVALID, never a crash; text that is not UTF-8 as well;
// - arguments are copied before the call returns; text that Kept returns in a `char **` is freed with kept_free;
// - an out argument is touched only on success, except where kept.h says otherwise;
// - a call that can wait, including its callbacks, ends before its thread is cancelled (`uncancelled`);
// - a handle is never freed or reused, so a late one is KEPT_CLOSED (HandleTable.swift);
// - the compiler checks every function here against kept.h (`@implementation`).

import CKept
import CPlatform
import KeptValues

/// Runs the body of an exported function: a thrown error becomes a status and a filled-in `kept_error`.
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

/// Runs code that may wait.
///
/// A thread that is cancelled during the call ends afterwards, when it holds no lock.
///
/// Every exported function uses it, through ``boundary(_:_:)`` or directly, except those that only read memory.
@inline(__always)
func uncancelled<Answer>(_ body: () -> Answer) -> Answer {
  let before = kept_hold_cancelling()
  defer { kept_admit_cancelling(before) }
  return body()
}

/// Runs the body of a function that can succeed with a warning: the error that the body returns becomes a positive
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
    guard let self else { throw StoreError(.invalid, "the argument \"\(name)\" must not be NULL") }
    return self
  }
}

extension Optional where Wrapped == UnsafePointer<CChar> {
  /// A copy of NUL-terminated text; `invalid` for NULL and for text that is not UTF-8.
  func text(_ name: StaticString) throws(StoreError) -> String {
    guard let text = String(validatingCString: try required(name)) else {
      throw StoreError(.invalid, "the argument \"\(name)\" is not UTF-8; convert it first")
    }
    return text
  }
}

/// Throws `invalid` for flags that a function does not have.
func checkFlags(_ flags: UInt32, _ known: UInt32, _ names: StaticString) throws(StoreError) {
  guard flags & ~known == 0 else {
    throw StoreError(.invalid, "unknown flags \(flags & ~known); use only \(names)")
  }
}

/// Text for a `char **`, which the caller frees with `kept_free`.
func copied(_ text: String) throws(StoreError) -> UnsafeMutablePointer<CChar> {
  try CText.made { copy throws(StoreError) in copy.write(text) }
}

/// Does something irreversible and returns the path that it names; the memory for the path is allocated first.
func copied(
  to out: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, _ act: () throws(StoreError) -> String?
) throws(StoreError) {
  guard let out else {
    _ = try act()
    return
  }
  var isNone = false
  let path = try CText.made { copy throws(StoreError) in
    // A path is at most 4 KiB. A longer one would fail after the operation is done.
    try copy.reserve(16 << 10)
    let path = try act()
    isNone = path == nil
    copy.write(path ?? "")
  }
  if isNone { free(path) }
  out.pointee = isNone ? nil : path
}

/// A key argument in C: its text, or a prepared key.
protocol KeyArgument {
  /// A checked copy.
  func name() throws(StoreError) -> KeyName

  /// The bytes that the index looks up, valid during the call; they need not be a valid key.
  var prepared: PreparedBytes { get }
}

extension UnsafePointer<CChar>: KeyArgument {
  func name() throws(StoreError) -> KeyName { try KeyName(Optional(self).text("key")) }

  @inline(__always)
  var prepared: PreparedBytes { PreparedBytes(self) }
}

extension Optional where Wrapped: KeyArgument {
  /// A checked copy of the key; `invalid` for NULL and for an invalid key.
  func key() throws(StoreError) -> KeyName { try required("key").name() }
}

extension UnsafeMutablePointer where Pointee == kept_error {
  func fill(_ failure: StoreError) {
    pointee.status = failure.code.rawValue
    pointee.reserved = 0
    pointee.offset = failure.offset.map(Int64.init) ?? -1
    withUnsafeMutableBytes(of: &pointee.message) { $0.fill(text: DisplayText.line(failure.description)) }
  }
}

extension UnsafeMutableRawBufferPointer {
  /// Writes text and a NUL; text that does not fit is truncated between two characters.
  fileprivate func fill(text: String) {
    var length = Swift.min(text.utf8.count, count - 1)
    let bytes = text.utf8
    // A byte 10xxxxxx continues a character, which must not be split.
    while length < bytes.count, length > 0, bytes[bytes.index(bytes.startIndex, offsetBy: length)] & 0xC0 == 0x80 {
      length -= 1
    }
    copyBytes(from: bytes.prefix(length))
    self[length] = 0
  }
}
