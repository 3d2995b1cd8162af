// The open file `journal`: a ring of frames that is written with pwrite and read with pread. It is never mapped, so
// that a file that was truncated is an error instead of a crash.

import CPlatform
import KeptSystem
import KeptValues

/// The ring of one journal.
///
/// Thread-safe: its calls have no state. Only the holder of the write lock writes.
final class JournalFile: Sendable {
  let descriptor: Int32
  let path: String
  let header: JournalHeader
  /// Whether a write may raise the signal of a size limit.
  ///
  /// A limit that is set later counts for files that are opened later, as for those of SQLite: to look takes a tenth of
  /// a set.
  private let hasSizeLimit = kept_has_size_limit()

  init(descriptor: Int32, path: String, header: JournalHeader) {
    (self.descriptor, self.path, self.header) = (descriptor, path, header)
  }

  /// Reads the head of an open file; nil if it is damaged, or, unless `evenCut`, if the file is shorter than it says.
  static func read(_ descriptor: Int32, path: String, evenCut: Bool = false) throws(StoreError) -> JournalFile? {
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: JournalHeader.bytes, alignment: 8)
    defer { bytes.deallocate() }
    let count = try read(descriptor, path, into: bytes, at: 0)
    guard count == bytes.count, let header = JournalHeader(UnsafeRawBufferPointer(bytes)) else { return nil }
    guard let status = FileStatus(of: descriptor) else { throw .system("access", path) }
    guard evenCut || status.size >= header.fileBytes else { return nil }
    return JournalFile(descriptor: descriptor, path: path, header: header)
  }

  /// Makes a new journal in an open file: an empty ring, and then the head, each on the disk before the call returns.
  ///
  /// Killed in between, it leaves a file without a head: the journal before must have been settled. A file that was
  /// empty needs one sync only: it is not a journal before it has a head and the length that the head names, and in a
  /// ring that lost its zeros no frame verifies.
  static func make(
    _ header: JournalHeader, in descriptor: Int32, path: String
  ) throws(StoreError) -> JournalFile {
    let wasEmpty = FileStatus(of: descriptor)?.size == 0
    try extend(descriptor, from: 0, to: JournalHeader.ringOffset, path: path)
    if !wasEmpty { try sync(descriptor, path) }
    try extend(descriptor, from: JournalHeader.ringOffset, to: header.fileBytes, path: path)
    if !wasEmpty { try sync(descriptor, path) }
    let file = JournalFile(descriptor: descriptor, path: path, header: header)
    try file.writeHead()
    try file.raiseBound(to: header.begin)
    try sync(descriptor, path)
    return file
  }

  /// Writes zeros.
  ///
  /// Written, not only allocated: a sync after a write into a hole must also write where the new block is.
  static func extend(
    _ descriptor: Int32, from start: Int, to end: Int, path: String
  ) throws(StoreError) {
    let page = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 8)
    defer { page.deallocate() }
    page.initializeMemory(as: UInt8.self, repeating: 0)
    var at = start
    while at < end {
      let count = min(page.count, end - at)
      try write(descriptor, path, UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(page)[..<count]), at: at)
      at += count
    }
  }

  /// Copies a file that may be no journal any more, and syncs the copy.
  static func copy(_ descriptor: Int32, _ path: String, to copyPath: String) throws(StoreError) {
    let copy = kept_make_at(AT_FDCWD, copyPath)
    guard copy >= 0 else { throw .system("make", copyPath) }
    defer { close(copy) }
    let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 8)
    defer { piece.deallocate() }
    var at = 0
    while at < JournalHeader.ringOffset + JournalHeader.mostBytes {
      let count = try read(descriptor, path, into: piece, at: at)
      guard count > 0 else { break }
      try write(copy, copyPath, UnsafeRawBufferPointer(rebasing: piece[..<count]), at: at)
      at += count
    }
    try sync(copy, copyPath)
  }

  /// Writes the head, which makes the file a journal.
  func writeHead() throws(StoreError) {
    let head = UnsafeMutableRawBufferPointer.allocate(byteCount: JournalHeader.bytes, alignment: 8)
    defer { head.deallocate() }
    header.encode(into: head)
    try Self.write(descriptor, path, UnsafeRawBufferPointer(head), at: 0)
  }

  /// The random number of the pulse that belongs to the journal now.
  func session() throws(StoreError) -> UInt64 {
    let session = try word(at: JournalHeader.bytes)
    // The bytes that name the pulse are read before the words of the pulse, and written after them.
    kept_fence()
    return session
  }

  /// Names the pulse; it means nothing once no process has the store open, and need not reach the disk.
  func begin(session: UInt64) throws(StoreError) {
    kept_fence()
    try write(session, at: JournalHeader.bytes)
  }

  /// A word of the head; 0 if the file is shorter.
  func word(at offset: Int) throws(StoreError) -> UInt64 {
    var word: UInt64 = 0
    _ = try withUnsafeMutableBytes(of: &word) { bytes in
      Result { () throws(StoreError) in try Self.read(descriptor, path, into: bytes, at: offset) }
    }.get()
    return UInt64(littleEndian: word)
  }

  func write(_ word: UInt64, at offset: Int) throws(StoreError) {
    try withUnsafeBytes(of: word.littleEndian) { bytes in
      Result { () throws(StoreError) in try Self.write(descriptor, path, bytes, at: offset) }
    }.get()
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
    let offset = header.offset(of: position)
    if hasSizeLimit { return try Self.write(descriptor, path, frames, at: offset) }
    try Self.writeUnlimited(descriptor, path, frames, at: offset)
  }

  /// Gives the disk space of the ring back; that part is zeros afterwards, which are not frames.
  ///
  /// A few frames stay if they are all that there ever were: a salvage finds in them what a damaged database has lost.
  ///
  /// - Parameter end: where the frames end.
  func releaseSpace(after end: JournalPosition) {
    // Without this look a program that opens the store, sets a key and closes it would mostly wait for this.
    guard let status = FileStatus(of: descriptor), status.bytesOnDisk > 2 * Self.mostKeptBytes else { return }
    let used = end - header.begin
    let start = JournalHeader.ringOffset + (used <= Self.mostKeptBytes ? Int(used) : 0)
    kept_release_space(descriptor, Int64(start), Int64(header.fileBytes - start))
  }

  private static let mostKeptBytes = 64 << 10

  /// Writes everything that was written to the disk.
  func sync() throws(StoreError) { try Self.sync(descriptor, path) }

  @inline(never)
  static func read(
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

  @inline(never)
  static func write(
    _ descriptor: Int32, _ path: String, _ bytes: UnsafeRawBufferPointer, at offset: Int
  ) throws(StoreError) {
    var held = kept_hold_size_signal()
    defer { kept_release_size_signal(&held) }
    try writeUnlimited(descriptor, path, bytes, at: offset)
  }

  /// Writes without regard to a limit on the size of files.
  @inline(never)
  private static func writeUnlimited(
    _ descriptor: Int32, _ path: String, _ bytes: UnsafeRawBufferPointer, at offset: Int
  ) throws(StoreError) {
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

/// The number of bytes since the first journal of a store began; a multiple of 8.
typealias JournalPosition = UInt64

/// Where a frame is, which its checksum covers: a frame that was moved, that is left from an earlier round of the ring,
/// or that follows another frame than when it was written, does not verify.
struct FramePlace: Equatable {
  /// The journal, by its random id.
  var journal: UInt64
  var position: JournalPosition
  /// The checksum of the frame before.
  ///
  /// A writer may be killed after it has written two frames and published none. If the next writer's frame happens to
  /// be as long as the first of them, the second would follow it, and verify.
  var previous: UInt32

  /// Returns the checksum of a frame at this place.
  func checksum(of frame: UnsafeRawBufferPointer, upTo end: Int) -> UInt32 {
    guard let start = frame.baseAddress, end >= 8, end <= frame.count else { return ~previous }
    return kept_frame_checksum(previous, journal.littleEndian, position.littleEndian, start, end)
  }
}

extension JournalHeader {
  /// The length of the file.
  var fileBytes: Int { Self.ringOffset + size }

  /// Where a position lies in the file.
  func offset(of position: JournalPosition) -> Int {
    Self.ringOffset + Int((position &- begin) % UInt64(size))
  }

  /// The bytes from a position to the end of the ring, which no frame crosses.
  func room(from position: JournalPosition) -> Int { fileBytes - offset(of: position) }

  /// The longest frame: several must fit, so that readers have time to follow.
  var longestFrame: Int { size / 4 }

  /// The place of the first frame.
  var firstPlace: FramePlace { FramePlace(journal: journal, position: begin, previous: 0) }
}
