// A file of frames, which are appended into zeros.

import CPlatform
import KeptSystem
package import KeptValues
import Synchronization

/// An open journal.
///
/// Thread-safe: its calls have no state. Only the holder of the write lock writes frames.
package final class Journal: Sendable {
  package let file: StoreFile
  package let header: JournalHeader
  /// The position of its first frame.
  package let begin: Position
  // The least size of the file, in bytes.
  private let least = Atomic<Int>(0)

  package init(_ file: StoreFile, _ header: JournalHeader, begin: Position) {
    (self.file, self.header, self.begin) = (file, header, begin)
  }

  package static func name(_ number: UInt64) -> String { "journal.\(number)" }

  /// How many bytes are zeros before a frame needs them: a sync after a write into zeros need not write how long the
  /// file is.
  static let ahead = 256 << 10

  /// Makes a journal in an empty file, on the disk before the call returns.
  package static func make(_ header: JournalHeader, in file: StoreFile) throws(StoreError) {
    try file.writeZeros(from: JournalHeader.frames, to: JournalHeader.frames + ahead)
    try header.write(to: file)
    try file.sync()
  }

  /// Reads the head of an open file; nil if it is not a journal.
  package static func header(of file: StoreFile) throws(StoreError) -> JournalHeader? {
    try read(file) { JournalHeader($0) }
  }

  /// Where the copies of the head are that do not verify.
  static func damagedHeads(of file: StoreFile) throws(StoreError) -> [Int] {
    try read(file) { bytes in [0, JournalHeader.copy].filter { JournalHeader(bytes, at: $0) == nil } }
  }

  private static func read<Result>(
    _ file: StoreFile, _ body: (UnsafeRawBufferPointer) -> Result
  ) throws(StoreError) -> Result {
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: JournalHeader.frames, alignment: 8)
    defer { bytes.deallocate() }
    let count = try file.read(bytes, at: 0)
    return body(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
  }

  /// The place of the first frame.
  ///
  /// - Parameter previous: the checksum of the last frame of the journal before, or of the checkpoint.
  package func first(after previous: UInt32) -> FramePlace {
    FramePlace(journal: header.journal, position: begin, previous: previous)
  }

  /// Where the file ends, as a position.
  func end() throws(StoreError) -> Position {
    let size = try file.size()
    return begin + UInt64(max(size - JournalHeader.frames, 0))
  }

  /// Reads bytes from a position on; returns how many.
  func read(_ buffer: UnsafeMutableRawBufferPointer, at position: Position) throws(StoreError) -> Int {
    try file.read(buffer, at: offset(of: position))
  }

  /// Writes frames at a position.
  ///
  /// If it throws, the head of the first frame is zeros: the frames must not be taken for commits later.
  /// - Parameter reserve: how many bytes of the file are zeros after the frames.
  package func write(
    _ frames: UnsafeRawBufferPointer, at position: Position, keeping reserve: Int = 0
  ) throws(StoreError) {
    let start = offset(of: position)
    let (end, size) = (start + frames.count, try lengthBelow(start + frames.count + reserve))
    do throws(StoreError) {
      if let size { try file.writeZeros(from: max(size, end), to: end + reserve) }
      try file.write(frames, at: start)
    } catch {
      if let size { kept_engine_shorten(file.descriptor, Int64(size)) }
      if size.map({ start < $0 }) ?? true { try erase(at: position) }
      throw error
    }
    if size != nil { least.store(end + reserve, ordering: .relaxed) }
  }

  /// Throws `corrupt` if the file was truncated or overwritten since it was opened, as far as its head and its length
  /// show: then no reader would find the frames before a position, nor those that follow.
  func check(upTo position: Position) throws(StoreError) {
    guard try size() >= offset(of: position), try Self.header(of: file) == header else { throw overwritten }
  }

  private func size() throws(StoreError) -> Int {
    let size = try file.size()
    guard size >= least.load(ordering: .relaxed) else { throw overwritten }
    return size
  }

  private var overwritten: StoreError {
    StoreError(
      .corrupt,
      "\(shown: file.path) was truncated or overwritten while the store was open; close the store everywhere, and the "
        + "next program that opens it salvages the readable data")
  }

  /// The length of the file; nil if it is not below a bound.
  private func lengthBelow(_ bound: Int) throws(StoreError) -> Int? {
    guard least.load(ordering: .relaxed) < bound else { return nil }
    let size = try size()
    guard size >= bound else { return size }
    least.store(size, ordering: .relaxed)
    return nil
  }

  /// Writes zeros over the head of a frame that is no longer valid, and syncs them.
  package func erase(at position: Position) throws(StoreError) {
    var zero: UInt64 = 0
    try withUnsafeBytes(of: &zero) { bytes throws(StoreError) in try file.write(bytes, at: offset(of: position)) }
    try file.sync()
  }

  /// Writes zeros ahead of a position that frames have reached, if few are left.
  ///
  /// - Parameter length: of these frames. Long ones are not written into zeros: that writes each byte twice.
  package func writeAhead(of position: Position, after length: Int) throws(StoreError) {
    guard length < Self.ahead / 8 else { return }
    let start = offset(of: position)
    guard let size = try lengthBelow(start + Self.ahead / 2) else { return }
    try file.writeZeros(from: size, to: start + Self.ahead)
    least.store(start + Self.ahead, ordering: .relaxed)
  }

  private func offset(of position: Position) -> Int {
    JournalHeader.frames + Int(truncatingIfNeeded: position &- begin)
  }
}
