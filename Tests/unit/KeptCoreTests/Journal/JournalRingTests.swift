// The ring of the journal: groups of frames go around it, readers follow or learn that they were overtaken, and after a
// crash exactly the frames that chain are read.

import CPlatform
import Foundation
@testable import KeptSchema
@testable import KeptSystem
@testable import KeptValues
import Synchronization
import Testing

@testable import KeptCore

/// A journal in a file of its own, with words in ordinary memory.
final class TestJournal: @unchecked Sendable {
  let folder: TemporaryFolder
  let words: JournalWords
  let file: JournalFile
  private let memory: UnsafeMutableRawPointer

  static let store = StoreID(high: 1, low: 2)

  init(size: Int = 4096, begin: JournalPosition = 0) throws {
    folder = try TemporaryFolder()
    memory = .allocate(byteCount: JournalWords.bytes, alignment: 64)
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: JournalWords.bytes)
    words = JournalWords(memory)
    words.reset(to: begin, of: 99)
    let path = folder.path + "/journal"
    let descriptor = open(path, O_RDWR | O_CREAT, 0o600)
    let header = JournalHeader(store: Self.store, journal: 99, begin: begin, size: size)
    file = try JournalFile.make(header, in: descriptor, path: path)
  }

  deinit {
    close(file.descriptor)
    memory.deallocate()
  }

  var cursor: JournalCursor { JournalCursor(at: file.header.firstPlace, revision: 0) }

  /// Everything that is published is in the database.
  func settle() { words.raiseSettled(to: words.published) }

  func bytes() throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: file.path))) }
}

extension FrameGroup {
  /// Adds a commit that sets one key.
  func add(_ revision: Revision, _ value: Value, writer: UInt64 = 1) throws {
    begin(FrameHead(writer: writer, revision: revision, time: 0, tag: nil))
    try frame.add(value, KeyName("key"))
    try end()
  }
}

extension JournalCursor {
  /// Reads the values of all frames.
  mutating func values(_ journal: TestJournal) throws -> (outcome: Outcome, values: [Value]) {
    var values: [Value] = []
    let outcome = try read(journal.file, journal.words, upTo: journal.words.published) { frame throws(StoreError) in
      try frame.forEachChange { change throws(StoreError) in values.append(try change.value()) }
    }
    return (outcome, values)
  }

  mutating func valuesAfterCrash(_ journal: TestJournal) throws -> [Value] {
    var values: [Value] = []
    try readAll(journal.file) { frame throws(StoreError) in
      try frame.forEachChange { change throws(StoreError) in values.append(try change.value()) }
      return true
    }
    return values
  }
}

@Suite struct `A journal` {
  @Test func `returns the published frames, in order, around the ring many times`() throws {
    let journal = try TestJournal(begin: 8000)
    let group = FrameGroup(journal.file, at: journal.file.header.firstPlace)
    var cursor = journal.cursor
    for round in 0..<300 {
      group.begin(at: group.next)
      let values: [Value] = (0...round % 4).map { .string(String(repeating: "x", count: (round * 7 + $0 * 31) % 200)) }
      for (index, value) in values.enumerated() { try group.add(Revision(round * 4 + index), value) }
      try group.publish(journal.words)
      let read = try cursor.values(journal)
      #expect(read.outcome == .reachedEnd)
      #expect(read.values == values)
      #expect(cursor.place == group.next)
      journal.settle()
    }
    #expect(journal.words.published > 8000 + 10 * 4096)
  }

  @Test func `shows nothing of a group that is not published`() throws {
    let journal = try TestJournal()
    let group = FrameGroup(journal.file, at: journal.file.header.firstPlace)
    try group.add(1, 1)
    var cursor = journal.cursor
    #expect(try cursor.values(journal).values == [])
    try group.publish(journal.words)
    #expect(try cursor.values(journal).values == [1])
  }

  @Test func `refuses to overwrite unsettled frames`() throws {
    let journal = try TestJournal()
    let group = FrameGroup(journal.file, at: journal.file.header.firstPlace)
    var revision: Revision = 0
    var refusal: StoreError?
    while refusal == nil, revision < 1000 {
      revision += 1
      group.begin(at: group.next)
      try group.add(revision, .string(String(repeating: "y", count: 100)))
      do { try group.publish(journal.words) } catch { refusal = error }
    }
    #expect(refusal?.code == .busy)
    var cursor = journal.cursor
    #expect(try cursor.values(journal).values.count == Int(revision) - 1)
    journal.settle()
    try group.publish(journal.words)
    #expect(try cursor.values(journal).values.count == 1)
  }

  @Test func `refuses a commit that is too long, and goes on`() throws {
    let journal = try TestJournal()
    let group = FrameGroup(journal.file, at: journal.file.header.firstPlace)
    try group.add(1, 1)
    #expect { try group.add(2, .string(String(repeating: "z", count: 2000))) } throws: {
      ($0 as? StoreError)?.code == .tooLarge
    }
    try group.add(2, 2)
    try group.publish(journal.words)
    var cursor = journal.cursor
    #expect(try cursor.values(journal).values == [1, 2])
  }

  @Test func `tells a reader that it was overtaken`() throws {
    let journal = try TestJournal()
    let group = FrameGroup(journal.file, at: journal.file.header.firstPlace)
    var cursor = journal.cursor
    for revision in 1...200 {
      group.begin(at: group.next)
      try group.add(Revision(revision), .string(String(repeating: "w", count: 50)))
      try group.publish(journal.words)
      journal.settle()
    }
    let read = try cursor.values(journal)
    #expect(read.outcome == .overtaken)
    #expect(read.values == [])
  }

  @Test func `tells damage from being overtaken`() throws {
    let journal = try TestJournal()
    let group = FrameGroup(journal.file, at: journal.file.header.firstPlace)
    for revision in 1...3 { try group.add(Revision(revision), .int(Int64(revision))) }
    try group.publish(journal.words)
    // The second frame begins after the first.
    let second = Int(journal.words.published) / 3
    var byte: UInt8 = 0xFF
    #expect(pwrite(journal.file.descriptor, &byte, 1, off_t(JournalHeader.ringOffset + second + 45)) == 1)
    var cursor = journal.cursor
    let read = try cursor.values(journal)
    #expect(read.outcome == .damaged)
    #expect(read.values == [1])
  }
}

@Suite struct `After a crash, a journal` {
  @Test func `returns every frame that was written, also one that was not published`() throws {
    let journal = try TestJournal(size: 8192)
    let group = FrameGroup(journal.file, at: journal.file.header.firstPlace)
    for revision in 1...20 { try group.add(Revision(revision), .int(Int64(revision))) }
    try group.publish(journal.words)
    var cursor = journal.cursor
    #expect(try cursor.valuesAfterCrash(journal) == (1...20).map { .int($0) })
    #expect(cursor.revision == 20)
    #expect(cursor.place == group.next)
  }

  /// A writer is killed before it publishes two frames; another one writes a frame that is as long as the first.
  @Test func `takes no frame of a dead group for the next one of another writer`() throws {
    let journal = try TestJournal()
    let first = journal.file.header.firstPlace
    let dead = FrameGroup(journal.file, at: first)
    try dead.add(1, 10, writer: 1)
    try dead.add(2, 20, writer: 1)
    journal.words.reset(to: 0, of: 99)
    let memory = UnsafeMutableRawPointer.allocate(byteCount: JournalWords.bytes, alignment: 64)
    defer { memory.deallocate() }
    let others = JournalWords(memory)
    others.reset(to: 0, of: 99)
    try dead.publish(others)
    let alive = FrameGroup(journal.file, at: first)
    try alive.add(1, 30, writer: 2)
    try alive.publish(journal.words)
    var cursor = journal.cursor
    #expect(try cursor.valuesAfterCrash(journal) == [30])
  }

  @Test func `returns nothing from an earlier round of the ring`() throws {
    let journal = try TestJournal()
    let group = FrameGroup(journal.file, at: journal.file.header.firstPlace)
    var settled = journal.cursor
    for revision in 1...100 {
      group.begin(at: group.next)
      try group.add(Revision(revision), .int(Int64(revision)))
      try group.publish(journal.words)
      _ = try settled.values(journal)
      journal.settle()
    }
    var cursor = settled
    #expect(try cursor.valuesAfterCrash(journal) == [])
    #expect(cursor.place == group.next)
  }

  @Test func `ends at the first frame that is damaged`() throws {
    let journal = try TestJournal()
    let group = FrameGroup(journal.file, at: journal.file.header.firstPlace)
    for revision in 1...10 { try group.add(Revision(revision), .int(Int64(revision))) }
    try group.publish(journal.words)
    let length = Int(journal.words.published) / 10
    for frame in 0..<10 {
      let at = off_t(JournalHeader.ringOffset + frame * length + 20)
      var byte: UInt8 = 0
      #expect(pread(journal.file.descriptor, &byte, 1, at) == 1)
      byte ^= 0x40
      #expect(pwrite(journal.file.descriptor, &byte, 1, at) == 1)
      var cursor = journal.cursor
      #expect(try cursor.valuesAfterCrash(journal) == (0..<frame).map { .int(Int64($0) + 1) })
      byte ^= 0x40
      #expect(pwrite(journal.file.descriptor, &byte, 1, at) == 1)
    }
  }

  @Test func `has no frame that failed to be written`() throws {
    let journal = try TestJournal()
    let group = FrameGroup(journal.file, at: journal.file.header.firstPlace)
    try group.add(1, 1)
    try group.publish(journal.words)
    // Reading is allowed, writing is not.
    let readOnly = open(journal.file.path, O_RDONLY)
    defer { close(readOnly) }
    let file = JournalFile(descriptor: readOnly, path: journal.file.path, header: journal.file.header)
    let failing = FrameGroup(file, at: group.next)
    try failing.add(2, 2)
    #expect(throws: StoreError.self) { try failing.publish(journal.words) }
    var cursor = journal.cursor
    #expect(try cursor.values(journal).values == [1])
  }
}

@Suite struct `The head of a journal` {
  @Test func `is read as it was written`() throws {
    let journal = try TestJournal(size: 8192, begin: 640)
    let read = try JournalFile.read(journal.file.descriptor, path: journal.file.path)
    #expect(read?.header == journal.file.header)
  }

  @Test func `is not read with another bit, or if the file is too short`() throws {
    let journal = try TestJournal()
    let whole = try journal.bytes()
    for bit in 0..<JournalHeader.bytes * 8 {
      var bytes = Array(whole[..<JournalHeader.bytes])
      bytes[bit / 8] ^= 1 << (bit % 8)
      #expect(bytes.withUnsafeBytes { JournalHeader($0) } == nil, "bit \(bit)")
    }
    #expect(ftruncate(journal.file.descriptor, off_t(whole.count - 1)) == 0)
    #expect(try JournalFile.read(journal.file.descriptor, path: journal.file.path) == nil)
    #expect(ftruncate(journal.file.descriptor, 10) == 0)
    #expect(try JournalFile.read(journal.file.descriptor, path: journal.file.path) == nil)
  }
}

@Suite struct `Readers of a journal that is overwritten all the time` {
  /// A reader copies published frames, or learns that it was overtaken.
  ///
  /// Without the load of `start`
  /// after the copy, half of the overtaken copies would look like damage.
  @Test func `see every frame in order, or that they were overtaken, and never damage`() async throws {
    let journal = try TestJournal()
    // What the database would say: where readers begin again.
    let settled = Monitor((place: journal.file.header.firstPlace, revision: Revision(0)))
    let isOver = Atomic<Bool>(false)
    let writer = Task.detached {
      let group = FrameGroup(journal.file, at: journal.file.header.firstPlace)
      var revision: Revision = 0
      while !isOver.load(ordering: .acquiring) {
        group.begin(at: group.next)
        for _ in 0...Int(revision % 3) {
          revision += 1
          try group.add(revision, Self.value(revision))
        }
        try group.publish(journal.words)
        settled.updateQuietly { $0 = (group.next, revision) }
        journal.settle()
      }
    }
    var cursor = journal.cursor
    var last: Revision = 0
    var (frames, timesOvertaken) = (0, 0)
    // A reader that copies while the writer is in the middle of the ring is overtaken sooner or later.
    while frames < 20_000 || timesOvertaken == 0 {
      let outcome = try cursor.read(journal.file, journal.words, upTo: journal.words.published) {
        frame throws(StoreError) in
        #expect(frame.head.revision == last + 1)
        last = frame.head.revision
        try frame.forEachChange { change throws(StoreError) in
          #expect(try change.value() == Self.value(frame.head.revision))
        }
        frames += 1
      }
      #expect(outcome != .damaged)
      if outcome == .damaged { break }
      if outcome == .overtaken {
        timesOvertaken += 1
        let place = settled.updateQuietly { $0 }
        cursor = JournalCursor(at: place.place, revision: place.revision)
        last = place.revision
      }
    }
    isOver.store(true, ordering: .releasing)
    try await writer.value
  }

  private static func value(_ revision: Revision) -> Value {
    .string(String(repeating: "v", count: Int(revision % 150)))
  }
}
