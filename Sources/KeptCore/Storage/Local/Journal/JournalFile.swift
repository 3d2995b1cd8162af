// The open file `journal`: a ring of frames that is written with pwrite and read with pread. It is never mapped, so
// that a file that was truncated is an error instead of a crash.

import CPlatform

/// The ring of one journal.
///
/// Thread-safe: its calls have no state. Only the holder of the write lock writes.
struct JournalFile {
  let descriptor: Int32
  let path: String
  let header: JournalHeader

  /// Reads the head of an open file; nil if it is damaged, or if the file is shorter than it says.
  static func read(_ descriptor: Int32, path: String) throws(StoreError) -> JournalFile? {
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: JournalHeader.bytes, alignment: 8)
    defer { bytes.deallocate() }
    let count = try read(descriptor, path, into: bytes, at: 0)
    guard count == bytes.count, let header = JournalHeader(UnsafeRawBufferPointer(bytes)) else { return nil }
    guard let status = FileStatus(of: descriptor) else { throw .system("look at", path) }
    guard status.size >= header.fileBytes else { return nil }
    return JournalFile(descriptor: descriptor, path: path, header: header)
  }

  /// Makes a new journal in an open file: an empty ring, and then the head, each on the disk before the call returns.
  ///
  /// Killed in between, it leaves a file without a head: the journal before must have been settled.
  static func make(
    _ header: JournalHeader, in descriptor: Int32, path: String
  ) throws(StoreError) -> JournalFile {
    let page = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 8)
    defer { page.deallocate() }
    page.initializeMemory(as: UInt8.self, repeating: 0)
    let zeros = UnsafeRawBufferPointer(page)
    try write(descriptor, path, UnsafeRawBufferPointer(rebasing: zeros[..<JournalHeader.ringOffset]), at: 0)
    try sync(descriptor, path)
    // Written, not only allocated: a sync after a write into a hole must also write where the new block is.
    var at = JournalHeader.ringOffset
    while at < header.fileBytes {
      let count = min(zeros.count, header.fileBytes - at)
      try write(descriptor, path, UnsafeRawBufferPointer(rebasing: zeros[..<count]), at: at)
      at += count
    }
    try sync(descriptor, path)
    header.encode(into: page)
    try write(descriptor, path, UnsafeRawBufferPointer(rebasing: zeros[..<JournalHeader.bytes]), at: 0)
    try sync(descriptor, path)
    return JournalFile(descriptor: descriptor, path: path, header: header)
  }

  /// Copies bytes from a position on, up to the end of the ring; returns how many.
  func read(from position: JournalPosition, into buffer: UnsafeMutableRawBufferPointer) throws(StoreError) -> Int {
    let count = min(buffer.count, header.room(from: position))
    return try Self.read(
      descriptor, path, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]), at: header.offset(of: position)
    )
  }

  /// Writes frames at a position.
  ///
  /// They must not cross the end of the ring.
  func write(_ frames: UnsafeRawBufferPointer, at position: JournalPosition) throws(StoreError) {
    try Self.write(descriptor, path, frames, at: header.offset(of: position))
  }

  /// Writes everything that was written to the disk.
  func sync() throws(StoreError) { try Self.sync(descriptor, path) }

  private static func read(
    _ descriptor: Int32, _ path: String, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
  ) throws(StoreError) -> Int {
    var count = 0
    while count < buffer.count, let start = buffer.baseAddress {
      let got = pread(descriptor, start + count, buffer.count - count, off_t(offset + count))
      if got < 0, kept_errno() == EINTR { continue }
      guard got >= 0 else { throw .system("read", path) }
      if got == 0 { break }
      count += got
    }
    return count
  }

  private static func write(
    _ descriptor: Int32, _ path: String, _ bytes: UnsafeRawBufferPointer, at offset: Int
  ) throws(StoreError) {
    var held = kept_hold_size_signal()
    defer { kept_release_size_signal(&held) }
    var count = 0
    while count < bytes.count, let start = bytes.baseAddress {
      let put = pwrite(descriptor, start + count, bytes.count - count, off_t(offset + count))
      if put < 0, kept_errno() == EINTR { continue }
      guard put > 0 else { throw .system("write", path, errno: put < 0 ? kept_errno() : ENOSPC) }
      count += put
    }
  }

  private static func sync(_ descriptor: Int32, _ path: String) throws(StoreError) {
    guard fdatasync(descriptor) == 0 else { throw .system("sync", path) }
  }
}
