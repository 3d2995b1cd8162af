// Reads the frames of a journal that this process does not share: of a store that it may only read, or of a database
// that is read as a file.

import CPlatform
import KeptSystem
import KeptValues

/// The commits in the journal next to a database that are not in the database.
struct JournalTail {
  let patches: JournalPatches
  let revision: Revision
  /// Whether commits are missing, in the database or in the journal, if no process was writing.
  let isDamaged: Bool

  /// Reads the journal in a folder, if there is one that belongs to the database.
  ///
  /// It is read while others write. Frames are overwritten only once they are settled: the found frames are whole if
  /// the database has not changed since `settled` was read.
  ///
  /// - Parameter check: throws if the file must not be opened.
  init(
    _ folder: borrowing OpenFolder, after settled: SettledPlace, in reader: LocalReader,
    _ check: (FileStatus, String) throws(StoreError) -> Void
  ) throws(StoreError) {
    let store = try reader.storeID()
    var patches = JournalPatches()
    var cursor = JournalCursor(at: settled.place, revision: settled.revision)
    var isDamaged = settled.hasJournal
    if let descriptor = try folder.open(StoreFiles.journal, O_RDONLY, check) {
      defer { close(descriptor) }
      let path = folder.path + "/" + StoreFiles.journal
      if let file = try JournalFile.read(descriptor, path: path), file.header.store == store,
        let place = file.header.place(after: settled)
      {
        cursor = JournalCursor(at: place, revision: settled.revision)
        let page = try Self.words(in: folder, store, try file.session(), check)
        // A frame that its writer has not published does not count yet.
        try cursor.readAll(file, upTo: page?.published ?? .max) { frame throws(StoreError) in
          guard try reader.connection.hasBodies(of: frame) else { return false }
          try patches.add(frame)
          return true
        }
        let isBehind = try file.mark().map { settled.place.position < $0.position } ?? false
        let isOlder = try file.isOlder(than: settled)
        isDamaged = isBehind || isOlder || page.map { cursor.place.position < $0.surely } ?? false
      }
    }
    if patches.bulk != nil {
      throw StoreError(.busy, "a large commit is being moved into the database in \(shown: folder.path); try again")
    }
    (self.patches, revision, self.isDamaged) = (patches, cursor.revision, isDamaged)
  }

  /// The end of the published frames, as the pulse says, and up to where they must verify; nil if it is the pulse of
  /// another session.
  private static func words(
    in folder: borrowing OpenFolder, _ store: StoreID, _ session: UInt64,
    _ check: (FileStatus, String) throws(StoreError) -> Void
  ) throws(StoreError) -> (published: JournalPosition, surely: JournalPosition)? {
    guard let descriptor = try folder.open(PulseFile.name, O_RDONLY, check) else { return nil }
    defer { close(descriptor) }
    // It is not mapped: its owner may truncate it.
    let memory = UnsafeMutableRawPointer.allocate(byteCount: PulsePage.size, alignment: 64)
    defer { memory.deallocate() }
    guard pread(descriptor, memory, PulsePage.size, 0) == PulsePage.size else { return nil }
    kept_fence()
    let page = PulsePage(memory)
    return page.belongs(to: store, in: session) ? (page.words.published, page.surelyWritten) : nil
  }
}
