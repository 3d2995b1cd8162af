// The shortest path of a commit: a new value of one key that is in the index, while nothing of this process observes
// the store. Batches take ten times the instructions, most of them to count references.
//
// Every step answers nil where it would have to do more, or has failed, with nothing published; then the value takes
// the path of batches, where all errors are.

extension GroupWriter {
  /// Commits a new value of one key; nil if it must be committed as a batch.
  func put(_ value: Value, for key: PreparedBytes, tag: String?) -> Revision? {
    // Threads that wait for a group are a group soon.
    writer.tryUpdateQuietly { $0.writer?.put(value, for: key, tag: tag) }
  }
}

extension JournalWriter {
  fileprivate func put(_ value: Value, for key: PreparedBytes, tag: String?) -> Revision? {
    guard let frames, value.bytes <= Self.mostInline, journal.tryLockForWriting(frames.file) else { return nil }
    defer { journal.unlockForWriting() }
    var revision: Revision?
    whileSilent { revision = put(value, for: key, tag: tag, frames) }
    return revision
  }

  @inline(__always)
  private func put(_ value: Value, for key: PreparedBytes, tag: String?, _ frames: FrameGroup) -> Revision? {
    loader.put(value, for: key) { value, place, revision in
      frames.begin(at: place)
      frames.begin(head(revision, tag))
      do throws(StoreError) {
        try frames.frame.add(value, key.bytes)
        try frames.end()
        try publish(frames)
        return frames.next
      } catch { return nil }
    }
  }
}

extension IndexLoader {
  /// Publishes a new value of one key, and applies it; the write lock is held.
  ///
  /// - Parameter publish: publishes the value at a place and returns the next place; nil if it could not.
  @inline(__always)
  fileprivate func put(
    _ value: Value, for key: PreparedBytes, _ publish: (Value, FramePlace, Revision) -> FramePlace?
  ) -> Revision? {
    guard !journal.mayHaveMoved else { return nil }
    return state.updateQuietly { state in
      guard let start = state.cursor, start.place.position == journal.published,
        start.place.journal == journal.words.journal, let known = index.entry(for: key)
      else { return nil }
      guard let value = value.replacing(known) else {
        return known.declaration == nil && known.stored == value ? start.revision : nil
      }
      let revision = start.revision + 1
      guard let end = publish(value, start.place, revision) else { return nil }
      state.skip(from: start.place, to: end, revision)
      let wasEmptied = state.changeAll(index, current: end.position, applied: revision) { index, table, reading in
        if reading == nil || index.knows(known.key) {
          table.put(known.key, value, revision, known.declaration, asOf: revision, changed: revision, reading)
        }
      }
      if wasEmptied { forget(&state) }
      return revision
    }
  }
}

extension Value {
  /// The value as it replaces that of an entry; nil if it is the same, or needs a batch.
  fileprivate func replacing(_ known: IndexedEntry) -> Value? {
    guard let declaration = known.declaration else { return self == known.stored ? nil : self }
    // What does not fit is refused where all errors are.
    guard !declaration.isSecret, let admitted = try? declaration.admitted(self), admitted != known.stored,
      admitted.bytes <= JournalWriter.mostInline, declaration.deprecation(of: admitted) == nil
    else { return nil }
    return admitted
  }
}
