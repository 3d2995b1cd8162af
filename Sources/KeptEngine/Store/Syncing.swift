// How commits reach the disk.

import CPlatform
import KeptSystem
package import KeptValues

extension Engine {
  /// Writes every commit that was published before the call to the disk.
  ///
  /// Throws the system's error. After that, and until a newer checkpoint has the journal, each call makes a
  /// checkpoint first: the system may have dropped unwritten data, and reports this only once.
  package func sync() throws(StoreError) {
    let published = try read { chain throws(StoreError) in chain.place.position }
    // Threads that arrive during a sync wait for its end, and then one of them syncs for all.
    let isDone = work.wait { work -> Bool? in
      if pulse.words.synced >= published { return true }
      if work.isSync { return nil }
      work.isSync = true
      return false
    }
    if isDone { return }
    defer { work.update { $0.isSync = false } }
    // The first checkpoint may only finish one that was interrupted, which does not end the doubt.
    var attempts = 0
    let deadline = MonotonicTime.milliseconds + timeoutMilliseconds
    while attempts < 3 {
      let (first, journals, published) = try read { chain throws(StoreError) in
        (chain.values.header.number, chain.journals, chain.place.position)
      }
      guard pulse.words.synced < published else { return }
      if pulse.words.doubt == 0 {
        // The maker of the checkpoint may have been killed before its name was on the disk. Without the name, the
        // journals before these would be needed, and no process syncs them.
        if first > pulse.words.checkpoint { try folder.syncNames() }
        for journal in journals { try sync(journal) }
        // A sync of another process may have failed in between.
        if pulse.words.doubt == 0 {
          pulse.words.raise(synced: published)
          return
        }
      }
      if try checkpoint() {
        attempts += 1
      } else {
        guard MonotonicTime.milliseconds < deadline else {
          // Not busy: its commits are stored.
          throw StoreError(
            .unavailable,
            "another process is making a checkpoint of the store in \(shown: folder.path), without which its commits "
              + "may not be on the disk; try again")
        }
        MonotonicTime.letPass(microseconds: 1000)
      }
    }
    throw StoreError(
      .unavailable,
      "syncs of the store in \(shown: folder.path) keep failing, so its commits may not be on "
        + "the disk; check the disk, and try again")
  }

  private func sync(_ journal: Journal) throws(StoreError) {
    do throws(StoreError) { try journal.file.sync() } catch {
      pulse.words.doubt(journal: journal.header.number)
      throw error
    }
  }
}
