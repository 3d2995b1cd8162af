// Reads the frames of a journal one after the other.

import CPlatform
package import KeptValues

/// Reads frames from a place on: up to a position, to the seal, or to the first that does not verify.
///
/// Not thread-safe.
package final class FrameScanner {
  private let journal: Journal
  private let limit: Position
  /// The place of the next frame.
  // Not checked for exclusive access, as `windowStart`: neither is accessed during a change of it.
  @exclusivity(unchecked) package private(set) var place: FramePlace
  /// The id of the journal that follows, once the seal was read.
  package private(set) var next: UInt64?

  // Bytes of the journal from `windowStart` on.
  private let window = ByteBuffer(to: "read commits from the journal")
  @exclusivity(unchecked) private var windowStart: Position = 0
  private static let piece = 64 << 10
  private static let firstPiece = 8 << 10
  // The longest frame that is read as a whole before it was verified.
  private static let mostUnverified = 1 << 20

  /// - Parameter limit: where to stop, such as the end of the published frames; nil for the end of the file.
  package init(_ journal: Journal, at place: FramePlace, upTo limit: Position? = nil) throws(StoreError) {
    let end = try journal.end()
    (self.journal, self.place, self.limit) = (journal, place, min(limit ?? end, end))
  }

  /// Returns the next frame, valid until the next call; nil if there is none before the limit that verifies.
  ///
  /// The seal is not returned: it sets ``next``. Throws `corrupt` for a frame that verifies and is malformed.
  package func read() throws(StoreError) -> CommitFrame? {
    var found: CommitFrame?
    try read { found = $0 }
    return found
  }

  /// Calls `body` with each frame that ``read()`` would return.
  func forEach(_ body: (CommitFrame) throws(StoreError) -> Void) throws(StoreError) {
    while try read(body) {}
  }

  @discardableResult
  private func read(_ body: (CommitFrame) throws(StoreError) -> Void) throws(StoreError) -> Bool {
    guard next == nil, let bytes = try verified() else { return false }
    func pass() {
      place.previous = bytes.number(4, UInt32.self) ?? 0
      place.position += UInt64(bytes.count)
    }
    if let id = try Frame.next(bytes) {
      pass()
      (next, place.journal) = (id, id)
      return false
    }
    // A frame that the body refuses is still the next one.
    try body(try CommitFrame(bytes))
    pass()
    return true
  }

  /// The keys of the commit up to a position, as far as a damaged frame can be read: a name may be wrong.
  func keys(to end: Position) throws(StoreError) -> [KeyName] {
    var keys: [KeyName] = []
    // The file may have been truncated since.
    guard place.position < min(end, limit) else { return [] }
    let count = Int(clamping: min(end, limit) - place.position)
    guard let bytes = try bytes(min(count, Self.piece)), let commit = try? CommitFrame(bytes) else { return [] }
    try? commit.forEachChange { change throws(StoreError) in
      if change.effect.hasKey { keys.append(try change.keyName()) }
    }
    return keys
  }

  /// Goes from a frame that does not verify to one behind it that does; returns false if none before the limit does.
  ///
  /// The limit must be the end of published frames: then all bytes before it are frames that follow each other, and
  /// none belongs to a commit that never happened. A frame is found if it follows the damaged one, by the checksum that
  /// this one has or should have, or if it follows another frame that is whole. So values cannot be taken for frames:
  /// none has the random id of the journal in its checksum.
  func skip() throws(StoreError) -> Bool {
    let damaged = place
    guard let head = try bytes(8), let stored = head.number(4, UInt32.self) else { return false }
    var previous = [stored]
    if let length = try claimedLength(), length <= Self.piece, let frame = try bytes(length) {
      var sum = FrameChecksum(place)
      sum.add(frame)
      previous.append(sum.value)
    }
    var (at, work) = (damaged.position + 8, 0)
    while at < limit, at - damaged.position < Self.mostSkipped, work < Self.mostSkipped {
      place.position = at
      guard let length = try claimedLength() else {
        at += 8
        continue
      }
      work += 2 * length
      for candidate in previous {
        place.previous = candidate
        if try verified() != nil { return true }
      }
      // Two frames that follow each other.
      place.previous = try bytes(8)?.number(4, UInt32.self) ?? 0
      place.position = at + UInt64(length)
      if try claimedLength() != nil, try verified() != nil { return true }
      at += 8
    }
    place = damaged
    return false
  }

  // Bytes behind a damaged frame, and bytes that are verified on the way.
  private static let mostSkipped = 64 << 20

  /// The place of the first frame of the next journal, if it verifies after a seal at a place, which is damaged.
  static func place(
    afterDamagedSealAt place: FramePlace, before next: Journal
  ) throws(StoreError) -> FramePlace? {
    let seal = FrameWriter()
    seal.begin(at: place)
    try seal.seal(next: next.header.journal)
    return try isFrame(at: seal.place, of: next) ? seal.place : nil
  }

  private static func isFrame(at place: FramePlace, of journal: Journal) throws(StoreError) -> Bool {
    try FrameScanner(Journal(journal.file, journal.header, begin: place.position), at: place).verified() != nil
  }

  /// The length of the next frame by its first word; nil if no frame before the limit has it.
  private func claimedLength() throws(StoreError) -> Int? {
    guard place.position < limit, let word = try bytes(8)?.number(0, UInt32.self), let length = Frame.length(word),
      UInt64(length) <= limit - place.position
    else { return nil }
    return length
  }

  /// The bytes of the next frame; nil if there is none that verifies.
  private func verified() throws(StoreError) -> UnsafeRawBufferPointer? {
    guard let length = try claimedLength(), let head = try bytes(8) else { return nil }
    if length > Self.mostUnverified { guard try verifyInPieces(length, head) else { return nil } }
    guard let frame = try bytes(length) else { return nil }
    var sum = FrameChecksum(place)
    sum.add(frame)
    return sum.value == frame.number(4, UInt32.self) ? frame : nil
  }

  /// Whether a long frame verifies, without memory for all of it: its length may be damaged.
  private func verifyInPieces(_ length: Int, _ head: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
    let expected = head.number(4, UInt32.self)
    var sum = FrameChecksum(place)
    window.removeAll()
    let piece = try window.add(Self.piece)
    for at in stride(from: 0, to: length, by: piece.count) {
      let part = UnsafeMutableRawBufferPointer(rebasing: piece[..<min(piece.count, length - at)])
      guard try journal.read(part, at: place.position + UInt64(at)) == part.count else { return false }
      sum.add(UnsafeRawBufferPointer(part))
    }
    window.removeAll()
    return sum.value == expected
  }

  /// The next bytes of the journal; nil if it has fewer.
  private func bytes(_ count: Int) throws(StoreError) -> UnsafeRawBufferPointer? {
    if place.position >= windowStart,
      let found = window.bytes.part(from: Int(clamping: place.position - windowStart), count)
    {
      return found
    }
    window.removeAll()
    windowStart = place.position
    let room = max(count, min(windowStart == journal.begin ? Self.firstPiece : Self.piece, Int(limit - windowStart)))
    window.truncate(to: try journal.read(try window.add(room), at: windowStart))
    return window.bytes.part(from: 0, count)
  }
}
