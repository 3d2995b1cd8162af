// Makes the pulse again if it was removed or truncated while stores are open. The process that finds this takes the
// write lock of the page that the others have mapped, and never releases it; it makes another pulse, and retires the
// page: a retired page has an odd `published`, and a process that reads an odd number joins the new pulse, at the same
// address.
//
// The lock of a page that was cut off is lost with it. A writer that holds it cannot publish, but may still write into
// the ring. So the ring ends before others join the new pulse, and another begins, where its frames do not verify.

import CPlatform
import KeptSystem
import KeptValues

extension Journal {
  /// Whether the page that is mapped is out of use.
  var isRetired: Bool { published % 2 == 1 }

  /// The position up to which frames are published; joins the new pulse if the page is retired.
  ///
  /// Who makes the new pulse may need the monitor of the writer: call this first without it.
  func end() throws(StoreError) -> JournalPosition {
    if isRetired { try awaitPulse() }
    return published
  }

  private func awaitPulse() throws(StoreError) {
    let deadline = MonotonicTime.milliseconds + 2000
    for attempt in 0... {
      // Another thread may have been first.
      try files.updateQuietly { files throws(StoreError) in if isRetired { _ = try join(&files) } }
      guard isRetired else { return }
      guard MonotonicTime.milliseconds < deadline else { break }
      MonotonicTime.backOff(attempt: attempt)
    }
    throw StoreError(.busy, "the pulse in \(folder.shown) was removed, and is being recreated; try again")
  }

  /// Whether the path of the pulse leads to the page that is mapped, and the whole page is there and in use.
  var hasPulse: Bool {
    guard let there = FileStatus(of: PulseFile.path(in: folder)) else { return false }
    // In this order: a page that was cut off must not be read.
    return there.size >= PulsePage.size && there.identity == files.read(\.pulse) && !isRetired
  }

  /// Makes the pulse again if it is not in place; no other thread of the process writes at the same time.
  ///
  /// The page may have been cut off: it is not touched before it is there again. If another process writes or repairs,
  /// nothing happens.
  func repairPulse(_ settler: Settler) throws(StoreError) {
    guard !hasPulse else { return }
    let lock = try files.updateQuietly { files throws(StoreError) -> JournalLock in try self.lock(&files) }
    guard lock.isInPlace, lock.takeRepairing() else { return }
    defer { lock.releaseRepairing() }
    let held = try OpenFolder.own(folder.path)
    // The page that is put in its place names no session. Another process, or this one, may have failed after that.
    let wasCut = PulseFile.retire(held, ifCutFrom: files.read(\.pulse)) || page.session == 0
    guard lock.replaceOwner(page) != nil else { return }
    // Of the new page; the old one has another owner, or none that counts.
    defer { unlockForWriting() }
    // Another process may have been first.
    if try files.updateQuietly({ files throws(StoreError) -> Bool in try join(&files) }) { return }
    guard let file = try JournalFile.read(lock.descriptor, path: lock.path) else {
      throw StoreError(.corrupt, "\(shown: lock.path) is damaged; close the store everywhere and open it again")
    }
    let (settled, published) = try frames(of: file, settler, endsRing: wasCut)
    held.remove(PulseFile.name)
    let session = UInt64.random(in: 1 ... .max)
    let new = try PulseFile.make(for: store, in: session, heldBy: lock.holder, held) { words in
      // Without a ring, the next writer makes one.
      words.reset(to: published, settled: settled, of: wasCut ? 0 : file.header.journal)
    }
    try files.updateQuietly { files throws(StoreError) in
      // Before others can join: then the new page may be mapped here already.
      kept_store64(words.publishedWord, 1)
      wake()
      do throws(StoreError) { try file.begin(session: session) } catch {
        new.unmap()
        throw error
      }
      use(new, &files)
    }
    if wasCut { try settler.beginRing(for: 0) }
  }

  /// From where to where a ring has frames that are not in the database: to nowhere if it ends, which brings all there.
  private func frames(
    of file: JournalFile, _ settler: Settler, endsRing: Bool
  ) throws(StoreError) -> (settled: JournalPosition, published: JournalPosition) {
    if endsRing {
      let end = try settler.endRing(file)
      return (end, end)
    }
    return try settler.withConnection { connection throws(StoreError) in
      let settled = try SettledPlace.read(connection)
      try connection.syncLog()
      return (settled.place.position, try JournalRecovery.end(of: file, after: settled, in: connection).place.position)
    }
  }

  /// Joins the pulse that another process has made; false if there is none yet.
  private func join(_ files: inout Files) throws(StoreError) -> Bool {
    let lock = try self.lock(&files)
    let held = try OpenFolder.own(folder.path)
    guard let file = try JournalFile.read(lock.descriptor, path: lock.path),
      let new = try PulseFile.join(store, in: file.session(), held)
    else { return false }
    use(new, &files)
    return true
  }

  private func use(_ new: PulsePage, _ files: inout Files) {
    // If this fails, the page stays retired, and its next use tries again.
    guard page.replace(by: new) == 0 else {
      if let lock = files.lock { new.releaseWriting(lock.holder) }
      return new.unmap()
    }
    files.pulse = FileStatus(of: PulseFile.path(in: folder))?.identity
  }
}
