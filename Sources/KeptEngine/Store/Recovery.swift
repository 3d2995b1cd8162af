// Recovery by a process that opens the store exclusively, and the creation of a new store.

import CPlatform
import KeptSystem
import KeptValues

enum Recovery {
  /// Reads the store in a folder, or creates it, and sets up its pulse.
  ///
  /// No other process has the store open.
  /// - Parameter fits: whether a value fits a declaration, for the checkpoint of a salvage.
  static func recover(
    _ folder: borrowing OpenFolder, fits: (Value, String) -> Bool
  ) throws(StoreError) -> (Chain, Pulse) {
    guard folder.status(of: "values.sqlite") == nil else {
      throw StoreError(
        .unsupported,
        "\(shown: folder.path) has a store of an earlier format (values.sqlite), which this "
          + "version does not read; export it with the version that wrote it, and import the export into a new store")
    }
    do throws(StoreError) {
      if folder.status(of: Chain.valuesName) == nil { try create(folder) }
      let (chain, pulse) = try recoverWhole(folder)
      if Salvage.isMarked(folder) {
        if let finding = try Verification.findings(in: folder).first { throw StoreError(.corrupt, finding.description) }
        try Salvage.finish(chain.values.header, folder)
      }
      return (chain, pulse)
    } catch {
      guard error.code == .corrupt else { throw error }
      var salvage = try Salvage(folder)
      try salvage.run(folder, fits)
      return try recoverWhole(folder)
    }
  }

  private static func recoverWhole(_ folder: borrowing OpenFolder) throws(StoreError) -> (Chain, Pulse) {
    guard let chain = try openChain(folder) else {
      throw StoreError(
        .corrupt,
        "the journal of the store in \(shown: folder.path) is missing, and its commits are lost; "
          + "to copy an open store, use kept_backup")
    }
    try removeRemains(folder, chain.values.header)
    _ = try chain.catchUp(to: nil, folder)
    // The process that created the store may have ended before its names were on the disk.
    if chain.position == 0 { try folder.syncNames() }
    return (chain, try setUpPulse(chain, folder))
  }

  /// Opens the checkpoint and its journal, which a backup gets when it is opened for the first time.
  private static func openChain(_ folder: borrowing OpenFolder) throws(StoreError) -> Chain? {
    if let chain = try Chain(folder) { return chain }
    guard let file = try folder.openFile(Chain.valuesName) else { return nil }
    let header = try ValuesReader(file).header
    // The pulse of a store that was opened before proves that there was a journal.
    guard header.isBackup, try Pulse.published(in: folder, of: header.store) == nil else { return nil }
    if !header.secrets.utf8.isEmpty, folder.status(of: secretsName) == nil { try place(header.secrets, in: folder) }
    _ = try makeJournal(header.number, of: header.store, folder)
    return try Chain(folder)
  }

  private static let secretsName = "secrets"

  /// Makes the file of the keys that a backup has.
  private static func place(_ secrets: String, in folder: borrowing OpenFolder) throws(StoreError) {
    let draft = draftPrefix + secretsName
    folder.removeFile(draft)
    let file = try folder.makeFile(draft)
    try ExactString(secrets).withBytes { bytes throws(StoreError) in
      try file.write(UnsafeRawBufferPointer(bytes), at: 0)
    }
    try file.sync()
    try folder.rename(draft, to: secretsName)
    try folder.syncNames()
  }

  private static func setUpPulse(_ chain: Chain, _ folder: borrowing OpenFolder) throws(StoreError) -> Pulse {
    let end = chain.place.position
    var (synced, doubt): (Position, UInt64) = (chain.values.header.position, 0)
    let before = try Pulse.map(in: folder, makes: false)
    let known = before.flatMap { $0.words.belongs(to: chain.store) ? $0.words : nil }
    guard known?.leastPublished ?? 0 <= end else {
      throw StoreError(
        .corrupt,
        "commits of the store in \(shown: folder.path) are damaged or missing; open it for writing to salvage the "
          + "readable data")
    }
    if let words = known {
      if words.isOfThisBoot {
        synced = min(max(synced, words.synced), end)
        if words.doubt > chain.values.header.number { doubt = words.doubt }
      }
    } else if end > chain.values.header.position {
      // It is not known whether a sync has failed.
      doubt = chain.last.header.number + 1
    }
    guard let pulse = if let before { before } else { try Pulse.map(in: folder, makes: true) } else {
      throw StoreError(.busy, "the pulse file in \(shown: folder.path) keeps changing; try again")
    }
    pulse.words.initialize(
      for: chain.store, published: end, checkpoint: chain.values.header.number, synced: synced, doubt: doubt)
    return pulse
  }

  /// Removes the remains of processes that were killed while they made a checkpoint: drafts, and the journals and the
  /// history that the checkpoint has replaced.
  ///
  /// Call it alone, or with the checkpoint lock. The draft of a journal is made again under its name.
  static func removeRemains(_ folder: borrowing OpenFolder, _ header: ValuesHeader) throws(StoreError) {
    let (next, last) = (HistoryFile.name(header.history &+ 1), HistoryFile.name(header.history &- 1))
    for name in [draftPrefix + Chain.valuesName, draftPrefix + next, next] { folder.removeFile(name) }
    guard header.number > 0 else { return }
    guard folder.status(of: Journal.name(header.number - 1)) != nil || folder.status(of: last) != nil else { return }
    // The rename is on the disk before the journals go, no matter which process made it.
    try folder.syncNames()
    folder.removeFile(last)
    for journal in stride(from: header.number, to: 0, by: -1) {
      guard kept_engine_remove(folder.descriptor, Journal.name(journal - 1)) == 0 else { return }
    }
  }

  static let draftPrefix = ".new-"

  /// Creates the files of a new store: the journal first, because a checkpoint without one is damage.
  private static func create(_ folder: borrowing OpenFolder) throws(StoreError) {
    guard try !Salvage.isNeeded(folder) else {
      throw StoreError(
        .corrupt, "the checkpoint of the store in \(shown: folder.path) is missing (the file \"values\")")
    }
    let store = StoreID.random()
    _ = try makeJournal(0, of: store, folder)
    let draft = draftPrefix + Chain.valuesName
    folder.removeFile(draft)
    let header = ValuesHeader(store: store, number: 0, position: 0, previous: 0)
    let file = try folder.makeFile(draft)
    _ = try ValuesWriter(file, header).finish()
    try folder.rename(draft, to: Chain.valuesName)
  }

  /// Makes a journal, with its name on the disk before the call returns.
  ///
  /// A journal that another process made in advance is made again: it may be on the disk only in part.
  static func makeJournal(
    _ number: UInt64, of store: StoreID, _ folder: borrowing OpenFolder
  ) throws(StoreError) -> JournalHeader {
    let draft = draftPrefix + Journal.name(number)
    folder.removeFile(draft)
    let header = JournalHeader(store: store, journal: .random(in: 1 ... .max), number: number)
    do throws(StoreError) {
      try Journal.make(header, in: folder.makeFile(draft))
      try folder.rename(draft, to: Journal.name(number))
    } catch {
      folder.removeFile(draft)
      throw error
    }
    try folder.syncNames()
    return header
  }
}

extension Journal {
  /// The number of the journal that a file name names.
  static func number(_ name: String) -> UInt64? {
    guard name.begins(with: "journal.") else { return nil }
    let digits = String(name.utf8.dropFirst(8)) ?? ""
    guard let number = UInt64(digits), Self.name(number) == name else { return nil }
    return number
  }
}

extension OpenFolder {
  borrowing func makeFile(_ name: String) throws(StoreError) -> StoreFile {
    let file = kept_engine_make(descriptor, name)
    guard file >= 0 else { throw .system("create a file in", path) }
    return StoreFile(taking: file, path: path + "/" + name)
  }

  /// Removes a name, if it exists.
  borrowing func removeFile(_ name: String) { _ = kept_engine_remove(descriptor, name) }

  borrowing func rename(_ draft: String, to name: String) throws(StoreError) {
    guard kept_engine_rename(descriptor, draft, name) == 0 else { throw .system("put \(name) into", path) }
  }

  borrowing func syncNames() throws(StoreError) {
    guard kept_engine_sync_folder(descriptor) == 0 else { throw .system("sync", path) }
  }
}
