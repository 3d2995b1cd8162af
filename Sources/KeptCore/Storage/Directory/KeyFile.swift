// One value in one file: it is read completely or is an error, and it is replaced atomically.

import CPlatform
import KeptSystem
import KeptValues

/// The file of a key.
struct KeyFile {
  let path: String
  /// The store's folder, whose owner determines which files are read.
  let folder: FileStatus

  /// How often a file is read again if it changes while it is read.
  private static let attempts = 5

  /// The value in the file; nil if the file does not exist.
  func value() throws(StoreError) -> (value: Value, stamp: FileStamp)? {
    for _ in 1...Self.attempts {
      let outcome = try ForeignFile.open(path, check, read)
      switch outcome {
      case .read(let found?): return found
      case .refused(let error):
        if try isAbsent(error) { return nil }
      case .read(nil), .exchanged: break
      }
    }
    throw StoreError(.busy, "\(path) changed every time it was read; try again")
  }

  /// Reads the file once; nil if it changed while it was read.
  private func read(_ file: Int32, _ status: FileStatus) throws(StoreError) -> (value: Value, stamp: FileStamp)? {
    try check(status)
    let stamp = FileStamp(status.system)
    let bytes = try bytes(of: file, expecting: status.size)
    // Checked by its path, to confirm that it is still in place.
    guard bytes.count == status.size, stamp.isSame(as: FileStamp(of: path)) else { return nil }
    return (try value(bytes), stamp)
  }

  /// Whether the file does not exist; throws if one cannot be opened.
  private func isAbsent(_ error: Int32) throws(StoreError) -> Bool {
    if error == ENOENT { return true }
    guard error == ELOOP || error == ENXIO || error == ENOTDIR else { throw .system("read", path, errno: error) }
    guard let status = FileStatus(of: path) else { throw .system("read", path) }
    try check(status)
    return false
  }

  private func check(_ status: FileStatus) throws(StoreError) {
    if let other = status.otherKind {
      throw StoreError(.unavailable, "\(path) is \(other), not a regular file; replace it with a regular file")
    }
    try Trust.check(shared: status, path, ofFolder: folder)
    guard status.size <= Limits.jsonTextBytes + 1 else {
      throw StoreError(
        .tooLarge, "\(path) is \(status.size) bytes long; at most \(Limits.jsonTextBytes + 1) are allowed")
    }
  }

  /// All bytes; one more than expected if there are more.
  private func bytes(of file: Int32, expecting size: Int) throws(StoreError) -> [UInt8] {
    try Memory.ask(for: size, to: "read \(path)")
    var error: Int32 = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: size + 1) { buffer, count in
      while count <= size, let start = buffer.baseAddress {
        let got = CPlatform.read(file, start + count, size + 1 - count)
        if got < 0 && kept_errno() == EINTR { continue }
        if got < 0 { error = kept_errno() }
        guard got > 0 else { return }
        count += got
      }
    }
    guard error == 0 else { throw .system("read", path, errno: error) }
    return bytes
  }

  private func value(_ bytes: [UInt8]) throws(StoreError) -> Value {
    do throws(StoreError) {
      let value = try bytes.withUnsafeBufferPointer { bytes throws(StoreError) in try Value(jsonBytes: bytes) }
      guard value != .null else { throw StoreError(.invalid, "null is not a value; remove the file instead") }
      return try value.checkedForStore()
    } catch {
      // A lack of memory is not an error of the file.
      guard error.code != .failed else { throw error }
      throw StoreError(.corrupt, offset: error.offset, "\(path) does not hold a value: \(error.message)")
    }
  }

  /// Writes a value under a temporary name and syncs it, so that no process reads a part of it, even after a power
  /// loss.
  static func write(_ value: Value, draft: String) throws(StoreError) {
    try CText.lent({ text throws(StoreError) in
      value.write(to: &text)
      text.write("\n")
    }) { text throws(StoreError) in try write(text, draft: draft) }
  }

  private static func write(_ bytes: UnsafeBufferPointer<UInt8>, draft: String) throws(StoreError) {
    let file = kept_make_at(AT_FDCWD, draft)
    guard file >= 0 else { throw .system("create the file", draft) }
    let isWritten = write(bytes, to: file) && kept_sync(file) == 0
    let error = kept_errno()
    close(file)
    guard isWritten else {
      unlink(draft)
      throw .system("write", draft, errno: error)
    }
  }

  /// Replaces the file by a draft.
  func replace(by draft: String) throws(StoreError) {
    guard rename(draft, path) == 0 else {
      let error = kept_errno()
      unlink(draft)
      throw .system("replace", path, errno: error)
    }
  }

  private static func write(_ bytes: UnsafeBufferPointer<UInt8>, to file: Int32) -> Bool {
    var written = 0
    while written < bytes.count, let start = bytes.baseAddress {
      let count = kept_write(file, start + written, bytes.count - written)
      if count < 0 && kept_errno() == EINTR { continue }
      guard count > 0 else { return false }
      written += count
    }
    return true
  }

  /// Removes the file; returns false if it does not exist.
  func remove() throws(StoreError) -> Bool {
    if unlink(path) == 0 { return true }
    guard kept_errno() == ENOENT else { throw .system("remove", path) }
    return false
  }
}
