// The frames of one group of commits, and how they come into the ring.

import KeptValues

/// Frames that are written and published together.
///
/// Not thread-safe: it belongs to the holder of the write lock.
final class FrameGroup {
  /// The frames, and the one that was begun.
  let frame = FrameWriter()
  private let padding = FrameWriter(capacity: FrameFormat.paddingBytes)
  /// The ring.
  let file: JournalFile
  /// The place of the first frame, and that of the next one.
  private(set) var first: FramePlace
  private(set) var next: FramePlace
  /// The length of the group that did not fit, if one did not.
  var tooLong: Int? { frame.tooLong ?? tooLongGroup }
  private var tooLongGroup: Int?
  /// Whether the ring had no room, because of frames that are not settled.
  private(set) var isRingFull = false
  // The frames from this byte of the buffer on lie at the beginning of the ring; before that, its end may be padded.
  private var wrap: (byte: Int, end: JournalPosition, beginning: JournalPosition)?

  init(_ file: JournalFile, at place: FramePlace) {
    self.file = file
    (first, next) = (place, place)
  }

  var header: JournalHeader { file.header }

  /// Begins another group.
  func begin(at place: FramePlace) {
    frame.removeAll()
    padding.removeAll()
    (first, next) = (place, place)
    wrap = nil
    tooLongGroup = nil
    isRingFull = false
  }

  /// Begins the frame of one commit; changes are added to `frame`, and ``end()`` adds it to the group.
  func begin(_ head: FrameHead) { frame.begin(head) }

  /// Adds the frame that was begun.
  ///
  /// Throws `tooLarge`, and adds nothing, if it is too long for the ring, or for the group.
  func end() throws(StoreError) {
    let length = frame.length
    let room = header.room(from: next.position)
    let used = Int(next.position - first.position) + (length > room ? room : 0)
    guard used + length <= header.longestFrame else {
      tooLongGroup = used + length
      throw StoreError(
        .tooLarge,
        "the commit needs \(used + length) bytes in the journal; at most \(header.longestFrame) are allowed; split it")
    }
    let end = next.position
    if length > room {
      next.previous = padding.pad(room, at: next)
      next.position += UInt64(room)
    }
    if header.offset(of: next.position) == JournalHeader.ringOffset {
      wrap = (frame.bytes.count, end, next.position)
    }
    next.previous = frame.end(at: next)
    next.position += UInt64(length)
  }

  /// Writes the frames and publishes them.
  ///
  /// Call it with the write lock held, with `first` at the end of the published frames.
  ///
  /// Throws, with nothing published, `busy` if the ring is full of frames that are not settled, and the error of the
  /// system if it cannot be written.
  func publish(_ words: JournalWords) throws(StoreError) {
    guard next.position > first.position else { return }
    guard words.published == first.position else {
      throw StoreError(.busy, "another process wrote to the journal without locking it; try again")
    }
    let size = UInt64(header.size)
    let start = next.position - header.begin > size ? next.position - size : header.begin
    guard start <= words.settled else {
      isRingFull = true
      throw StoreError(.busy, "the journal is full of commits that are not in the database yet; try again")
    }
    words.raiseStart(to: start)
    if frame.namesBodies { words.raiseNamed(to: next.position) }
    do throws(StoreError) { try write() } catch {
      // The written bytes must not be taken for a commit when the store is opened next.
      try? erase(at: first.position)
      throw error
    }
    guard words.publish(next.position, after: first.position) else {
      throw StoreError(.busy, "another process wrote to the journal without locking it; try again")
    }
  }

  private func write() throws(StoreError) {
    guard let wrap else { return try file.write(frame.bytes, at: first.position) }
    let all = frame.bytes
    if wrap.byte > 0 { try file.write(UnsafeRawBufferPointer(rebasing: all[..<wrap.byte]), at: first.position) }
    try file.write(padding.bytes, at: wrap.end)
    try file.write(UnsafeRawBufferPointer(rebasing: all[wrap.byte...]), at: wrap.beginning)
  }

  /// Writes zeros over the head of a frame.
  private func erase(at position: JournalPosition) throws(StoreError) {
    var zero: UInt64 = 0
    try withUnsafeBytes(of: &zero) { bytes in Result { () throws(StoreError) in try file.write(bytes, at: position) } }
      .get()
  }
}
