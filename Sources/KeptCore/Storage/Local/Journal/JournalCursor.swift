// Follows a journal frame by frame.

import CPlatform
import KeptSchema
import KeptSystem
import KeptValues

/// The place up to which one reader has read.
///
/// Not thread-safe.
struct JournalCursor {
  /// The place of the next frame.
  private(set) var place: FramePlace
  /// The revision of the last frame that was read.
  private(set) var revision: Revision

  init(at place: FramePlace, revision: Revision) {
    self.place = place
    self.revision = revision
  }

  /// How reading ended.
  enum Outcome: Equatable {
    case reachedEnd
    /// Frames were overwritten before they could be read: begin again at the settled position.
    case overtaken
    /// A published frame does not verify.
    case damaged
  }

  /// Reads the frames up to `end`, and calls `body` with each of a commit, in order.
  ///
  /// `place` is then after the last frame for which `body` has returned.
  ///
  /// - Parameter words: nil if no process uses the ring.
  mutating func read(
    _ file: JournalFile, _ words: JournalWords?, upTo end: JournalPosition,
    _ body: (FrameReader) throws(StoreError) -> Void
  ) throws(StoreError) -> Outcome {
    while place.position < end {
      let piece = Int(min(end - place.position, UInt64(file.header.room(from: place.position))))
      let outcome = try withMemory(piece) { memory throws(StoreError) in
        let count = try file.read(from: place.position, into: memory)
        // The file was truncated.
        guard count == piece else { return .damaged }
        // The copy first, then the word: `start` announced any bytes that were overwritten during the copy.
        kept_fence()
        if let words, words.start > place.position { return .overtaken }
        return try take(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(memory)[..<count])) {
          frame throws(StoreError) in
          try body(frame)
          return true
        }
      }
      guard outcome == .reachedEnd else { return outcome }
    }
    return .reachedEnd
  }

  /// Reads frames after a crash, when there are no words: up to the first that does not verify, or for which `body`
  /// returns false.
  mutating func readAll(
    _ file: JournalFile, upTo end: JournalPosition = .max, _ body: (FrameReader) throws(StoreError) -> Bool
  ) throws(StoreError) {
    // Frames that reach once around the ring are all there can be.
    let start = place.position
    // Usually there are none, so a little is read first.
    var size = 4096
    while place.position - start < UInt64(file.header.size), place.position < end {
      let before = place.position
      let room = Int(min(UInt64(file.header.room(from: before)), end - before))
      var length = 0
      let outcome = try withMemory(min(size, room)) { memory throws(StoreError) in
        let count = try file.read(from: before, into: memory)
        let bytes = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(memory)[..<count])
        length = FrameReader.length(of: bytes)
        guard count > 0 else { return .damaged }
        return try take(bytes, body)
      }
      guard outcome == .damaged, place.position == before else { continue }
      // The frame may be longer than the bytes read.
      guard length > size, length <= min(room, file.header.longestFrame) else { return }
      size = length
    }
  }

  /// Takes all frames of a copy.
  private mutating func take(
    _ bytes: UnsafeRawBufferPointer, _ body: (FrameReader) throws(StoreError) -> Bool
  ) throws(StoreError) -> Outcome {
    var at = 0
    while at < bytes.count {
      guard let frame = FrameReader(UnsafeRawBufferPointer(rebasing: bytes[at...]), at: place) else { return .damaged }
      if !frame.isPadding {
        guard try body(frame) else { return .damaged }
        revision = frame.head.revision
      }
      at += frame.length
      place.position += UInt64(frame.length)
      place.previous = frame.checksum
    }
    return .reachedEnd
  }

  /// Moves past frames that this process has written itself, or that are damaged.
  mutating func skip(to place: FramePlace, revision: Revision) {
    self.place = place
    self.revision = revision
  }

  private func withMemory(
    _ count: Int, _ body: (UnsafeMutableRawBufferPointer) throws(StoreError) -> Outcome
  ) throws(StoreError) -> Outcome {
    try Memory.ask(for: count, to: "read the changes")
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
    defer { memory.deallocate() }
    return try body(memory)
  }
}
