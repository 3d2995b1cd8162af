// Opening a store only to read: nothing is created, repaired, locked or mapped, and no other process notices.

import CPlatform
package import KeptSystem
package import KeptValues

/// A store that this process can read and not write.
///
/// Thread-safe.
package final class ReadOnlyEngine: Sendable {
  let folder: OpenFolder
  private let chain: Monitor<Chain?>
  private let timeoutMilliseconds: Int64
  private let secrets: (any SecretOpening)?

  /// Opens the store of a folder.
  ///
  /// Throws `unavailable` if there is none, `corrupt` if it is damaged, because only a process that may write repairs
  /// it, and `denied` if users other than the owner of the folder may write to it.
  /// - Parameter timeoutMilliseconds: how long a read begins again while checkpoints replace the files that it reads.
  package init(
    _ folder: consuming OpenFolder, timeoutMilliseconds: Int64 = 5000, secrets: (any SecretOpening)? = nil
  ) throws(StoreError) {
    try Trust.check(sharedFolder: try folder.status(), folder.path)
    guard folder.status(of: Chain.valuesName) != nil else {
      throw StoreError(
        .unavailable,
        "there is no store in \(shown: folder.path), and a read-only open does not create one; check the path, "
          + "or open it for writing")
    }
    (self.timeoutMilliseconds, self.secrets) = (timeoutMilliseconds, secrets)
    self.folder = folder
    chain = Monitor(nil)
    _ = try read { chain throws(StoreError) in chain.revision }
  }

  /// Holds the folder of the store once more.
  package func holdFolder() throws(StoreError) -> OpenFolder { try folder.again() }

  /// Calls `body` with all that is published now; it must not keep it.
  package func read<Result>(_ body: (Chain) throws(StoreError) -> Result) throws(StoreError) -> Result {
    try chain.updateQuietly { known throws(StoreError) in
      let chain = try catchUp(&known)
      chain.secrets = secrets
      return try body(chain)
    }
  }

  /// Returns a chain with all that is published now.
  private func catchUp(_ known: inout Chain?) throws(StoreError) -> Chain {
    let deadline = MonotonicTime.milliseconds + timeoutMilliseconds
    while true {
      // A newer checkpoint has another number, and its file another identity.
      if let chain = known, try !isCurrent(chain) { known = nil }
      if known == nil { known = try open() }
      if let chain = known {
        let (end, least) = try published(of: chain)
        if try chain.catchUp(to: end, folder) == .done, chain.position >= least { return chain }
        try checkIsReplaced(chain.values)
      }
      known = nil
      guard MonotonicTime.milliseconds < deadline else {
        throw StoreError(
          .busy,
          "the files of the store in \(shown: folder.path) were replaced each time they were read; try again")
      }
      MonotonicTime.letPass(microseconds: 500)
    }
  }

  private func open() throws(StoreError) -> Chain? {
    guard let file = try folder.openFile(Chain.valuesName, O_RDONLY) else { return nil }
    let values = try ValuesReader(file, keepsOpen: true)
    if let chain = try Chain(values, folder, access: O_RDONLY) { return chain }
    try checkIsReplaced(values)
    return nil
  }

  /// Throws `corrupt` unless another checkpoint has replaced this one, which happens before its journals are removed.
  private func checkIsReplaced(_ values: ValuesReader) throws(StoreError) {
    guard isInPlace(values) else { return }
    throw StoreError(
      .corrupt,
      "commits in the journal of the store in \(shown: folder.path) are missing; open it for writing to salvage the "
        + "readable data")
  }

  private func isInPlace(_ values: ValuesReader) -> Bool {
    folder.status(of: Chain.valuesName)?.identity == values.identity
  }

  private func isCurrent(_ chain: Chain) throws(StoreError) -> Bool {
    if chain.hasNoJournal, folder.status(of: Journal.name(chain.values.header.number)) != nil { return false }
    return isInPlace(chain.values)
  }

  /// The end of the valid frames, and how far they reach at least.
  ///
  /// Later frames may come from a writer that has not published them, and never will.
  /// - Returns: nil for the end if no process has the store open, so that all frames that verify are valid.
  private func published(of chain: Chain) throws(StoreError) -> (end: Position?, least: Position) {
    let known = try Pulse.published(in: folder, of: chain.store)
    guard let known, let published = known.end else { return (nil, known?.least ?? 0) }
    // It was loaded after the files were opened: their present contents were published before.
    return (max(published, chain.position), max(known.least, chain.position))
  }
}
