// The history of a store: its file, and how a checkpoint adds to it.

import CPlatform
import KeptSystem
package import KeptValues

/// The past of a store, up to a chain.
package struct Past: Equatable {
  /// In the order of their revisions, and of the keys of one revision.
  package let changes: [OldChange]
  /// No change after this revision is missing.
  package let completeAfter: Revision

  /// Reads the changes up to a chain, within the limits; nil if the file of its checkpoint is gone.
  ///
  /// - Parameter missing: set to the number of that checkpoint. If it was set to it before, the file is lost, and not
  ///   gone because there is a newer checkpoint.
  init?(of chain: Chain, _ folder: borrowing OpenFolder, missing: inout UInt64?) throws(StoreError) {
    let header = chain.values.header
    let found = try HistoryFile.read(of: header, folder)
    guard found != nil || missing == header.number else {
      missing = header.number
      return nil
    }
    var scan = found ?? HistoryScan(completeAfter: header.revision, limits: header.limits)
    try scan.add(chain)
    scan.prune()
    (changes, completeAfter) = (scan.changes, scan.completeAfter)
  }
}

enum HistoryFile {
  static func name(_ number: UInt64) -> String { "history.\(number)" }

  /// The number of the file that has a name.
  static func number(_ name: String) -> UInt64? {
    guard name.begins(with: "history."), let number = UInt64(String(name.utf8.dropFirst(8)) ?? "") else { return nil }
    return Self.name(number) == name ? number : nil
  }

  /// The file that has the history of a checkpoint, and where the history begins in it.
  static func place(of header: ValuesHeader) -> (name: String, base: Int) {
    header.isBackup ? (Chain.valuesName, header.historyOffset) : (name(header.history), 0)
  }

  /// The changes that the file of a checkpoint has, as far as it verifies from its end; nil if there is no file.
  static func read(
    of header: ValuesHeader, _ folder: borrowing OpenFolder
  ) throws(StoreError) -> HistoryScan? {
    var (parts, after, isDamaged): ([[OldChange]], Revision, Bool) = ([], header.revision, false)
    if header.historyLength > 0 {
      let (name, base) = place(of: header)
      guard let file = try folder.openFile(name, O_RDONLY) else { return nil }
      // The file of a backup is replaced by the first checkpoint.
      if header.isBackup { guard try ValuesReader(file).header == header else { return nil } }
      var (end, allowance) = (Int(clamping: header.historyLength), Allowance())
      while end > 0, let (block, bytes) = try HistoryBlock.read(file, number: header.history, end: end, base: base),
        block.last == after, let changes = try HistoryBlock.changes(bytes, &allowance)
      {
        parts.append(changes)
        (after, end) = (block.after, block.start)
      }
      isDamaged = end > 0
    }
    return HistoryScan(
      Array(parts.reversed().joined()), completeAfter: after, limits: header.limits, isDamaged: isDamaged)
  }

  /// Adds the values that the sealed journals of a chain have replaced, which a scan has found, and syncs them.
  ///
  /// The new checkpoint needs the new header. The bytes that a checkpoint names never change: changes are added after
  /// them, and a file without the forgotten changes has another number. If the history can be read only in part, the
  /// rest is not kept, and the checkpoint has the note of a salvage.
  /// - Parameter sealer: what seals all old secrets again; nil to leave them as they are.
  static func add(
    _ scan: HistoryScan, of chain: Chain, to header: inout ValuesHeader, _ folder: borrowing OpenFolder,
    _ sealer: (any SecretOpening)? = nil
  ) throws(StoreError) {
    let before = chain.values.header
    (header.history, header.historyLength) = (before.history, before.historyLength)
    if before.isBackup { (header.history, header.historyLength) = (0, 0) }
    if before.historyLength > 0, !before.isBackup, !scan.hasForgotten, sealer == nil,
      let file = try folder.openFile(name(before.history)),
      let (last, _) = try HistoryBlock.read(file, number: before.history, end: Int(clamping: before.historyLength)),
      last.last == before.revision, !isTooMuch(last, scan)
    {
      guard scan.changes.last?.revision ?? header.revision > before.revision else { return }
      header.historyLength = UInt64(try write(scan, upTo: header.revision, following: last, before.history, file))
      return
    }
    var scan =
      try read(of: before, folder)
      ?? HistoryScan(completeAfter: before.revision, limits: before.limits, isDamaged: true)
    if scan.isDamaged { header.note = try Salvage.note(aboutHistoryOf: before, header.note, folder) }
    try scan.add(chain)
    scan.prune()
    if let sealer {
      try scan.resealSecrets { value, key throws(StoreError) in try sealer.reseal(value, of: key, at: nil) }
    }
    guard scan.completeAfter < header.revision else {
      if before.historyLength > 0 { (header.history, header.historyLength) = (before.history &+ 1, 0) }
      return
    }
    header.history = before.history &+ 1
    let draft = Recovery.draftPrefix + name(header.history)
    let file = try folder.makeFile(draft)
    header.historyLength = UInt64(try write(scan, upTo: header.revision, following: nil, header.history, file))
    try folder.rename(draft, to: name(header.history))
    // Before the checkpoint is renamed, which names the file.
    try folder.syncNames()
  }

  /// Whether enough changes of a file are beyond the limits to write it again without them.
  private static func isTooMuch(_ last: HistoryBlock, _ scan: HistoryScan) -> Bool {
    let limits = scan.limits
    guard last.count <= UInt64(limits.changes + HistoryScan.step), last.end <= limits.bytes / 4 * 5 + 65_536 else {
      return true
    }
    guard let time = scan.changes.last?.time else { return false }
    return last.oldest < limits.oldest(at: time).subtractingReportingOverflow(86_400_000).partialValue
  }

  /// Writes changes as blocks, each with whole commits, and syncs them.
  ///
  /// - Parameter base: where the history begins in the file.
  /// - Returns: where the last block ends in the history.
  static func write(
    _ scan: HistoryScan, upTo revision: Revision, following last: HistoryBlock?, _ number: UInt64, _ file: StoreFile,
    at base: Int = 0
  ) throws(StoreError) -> Int {
    var block = HistoryBlock(
      after: scan.completeAfter, last: scan.completeAfter, count: last?.count ?? 0, oldest: last?.oldest ?? .max,
      start: last?.end ?? 0)
    let (buffer, changes) = (ByteBuffer(to: "write the history"), scan.changes)
    var (first, bytes, begin) = (0, 0, block.start)
    func end(_ next: Int, at last: Revision) throws(StoreError) {
      block.last = last
      block.count &+= UInt64(next - first)
      try block.write(changes[first..<next], to: buffer, file: number)
      block.start = begin + buffer.count
      (block.after, first, bytes) = (last, next, 0)
    }
    for (index, change) in changes.enumerated() {
      if bytes >= blockBytes, changes[index - 1].revision < change.revision {
        try end(index, at: changes[index - 1].revision)
        try file.write(buffer.bytes, at: base + begin)
        begin += buffer.count
        buffer.removeAll()
      }
      bytes += change.bytes
      block.oldest = min(block.oldest, change.time)
    }
    try end(changes.count, at: revision)
    try file.write(buffer.bytes, at: base + begin)
    try file.sync()
    return begin + buffer.count
  }

  /// A block ends with the commit that makes it as long.
  private static let blockBytes = 64 << 10
}

extension HistoryScan {
  /// Adds the frames of a chain.
  mutating func add(_ chain: Chain) throws(StoreError) {
    var previous = chain.values.header.previous
    for journal in chain.journals {
      endGroups()
      let scanner = try FrameScanner(journal, at: journal.first(after: previous), upTo: chain.place.position)
      try scanner.forEach { frame throws(StoreError) in
        try add(frame, chain.values, chain.overlay.bulk(of: frame))
      }
      previous = scanner.place.previous
    }
    guard previous == chain.place.previous else {
      throw StoreError(
        .corrupt,
        "commits in the journal were damaged after they were read; close the store everywhere, and the next program "
          + "that opens it salvages the readable data")
    }
    finish(at: chain.revision)
  }
}

extension Engine {
  /// Calls `body` with all past changes and the chain that they lead to.
  package func past<Result>(_ body: (Past, Chain) throws(StoreError) -> Result) throws(StoreError) -> Result {
    var missing: UInt64?
    for _ in 0..<Self.mostRestarts {
      // It notices that the store was closed, and that commits are damaged.
      let revision = try read { $0.revision }
      // A separate chain, because this takes long and commits go on at the same time.
      guard let chain = try Chain(folder), try chain.catchUp(to: pulse.words.published, folder) == .done,
        chain.revision >= revision, let past = try Past(of: chain, folder, missing: &missing)
      else { continue }
      chain.secrets = secrets
      return try body(past, chain)
    }
    throw StoreError(
      .busy, "the files of the store in \(shown: folder.path) were replaced each time they were read; try again")
  }
}

extension ReadOnlyEngine {
  /// Calls `body` with all past changes and the chain that they lead to.
  package func past<Result>(_ body: (Past, Chain) throws(StoreError) -> Result) throws(StoreError) -> Result {
    var missing: UInt64?
    while true {
      let result = try read { chain throws(StoreError) in
        try Past(of: chain, folder, missing: &missing).map { past throws(StoreError) in try body(past, chain) }
      }
      if let result { return result }
    }
  }
}
