// Checks the files of a store without opening it: nothing is created, locked, marked or repaired, so that the store may
// be open, a copy, or on a medium that cannot be written.

import CPlatform
package import KeptSystem
package import KeptValues

/// Damage of a file.
package struct Finding: Equatable, Sendable, CustomStringConvertible {
  /// The name of the file in the folder.
  package let file: String
  /// The byte where the damaged part begins; nil if it is about the file as a whole.
  package let offset: Int?
  /// What is wrong, after the name of the file: "is missing".
  package let what: String

  package var description: String { offset.map { "\(file) \(what) at byte \($0)" } ?? "\(file) \(what)" }
}

/// The checks of one store.
package struct Verification {
  package private(set) var findings: [Finding] = []
  // All frames before it were published.
  private let published: Position

  /// Checks every block, record, frame and past change, and that they follow each other.
  ///
  /// Without a pulse, such as in a copy, a journal ends with the first frame that does not verify. Throws `unavailable`
  /// if there is no store, or a file cannot be read.
  /// - Parameter published: a position before which all frames were published, if the caller knows one.
  package static func findings(
    in folder: borrowing OpenFolder, published: Position = 0
  ) throws(StoreError) -> [Finding] {
    for _ in 0..<Engine.mostRestarts {
      let before = folder.status(of: Chain.valuesName)?.identity
      var verification = Verification(published: published)
      try verification.check(folder)
      // Files are missing if a checkpoint has replaced them in between.
      if verification.findings.isEmpty || folder.status(of: Chain.valuesName)?.identity == before {
        return verification.findings
      }
    }
    throw StoreError(
      .busy, "the files of the store in \(shown: folder.path) were replaced each time they were read; try again")
  }

  private mutating func add(_ file: String, _ offset: Int? = nil, _ what: String) {
    // Damage of a whole file has no end.
    if findings.count < 1000 { findings.append(Finding(file: file, offset: offset, what: what)) }
  }

  private mutating func check(_ folder: borrowing OpenFolder) throws(StoreError) {
    guard let file = try folder.openFile(Chain.valuesName, O_RDONLY) else {
      guard try Salvage.isNeeded(folder, O_RDONLY) else {
        throw StoreError(.unavailable, "there is no store in \(shown: folder.path); check the path")
      }
      return add(Chain.valuesName, nil, "is missing")
    }
    guard let header = try checkValues(file) else { return }
    try checkJournals(of: header, folder)
    if let (offset, what) = try HistoryFile.damage(of: header, folder) {
      add(HistoryFile.place(of: header).name, offset, what)
    }
  }

  // MARK: - The checkpoint

  /// - Returns: its header; nil if both copies are damaged.
  private mutating func checkValues(_ file: StoreFile) throws(StoreError) -> ValuesHeader? {
    let (name, size, block) = (Chain.valuesName, try file.size(), ByteBuffer(to: "verify a checkpoint"))
    var headers: [ValuesHeader] = []
    for offset in [0, max(0, size - ValuesFormat.blockBytes)] {
      block.removeAll()
      block.truncate(to: try file.read(try block.add(ValuesFormat.blockBytes), at: offset))
      if let header = ValuesHeader(block.bytes, size: size) {
        headers.append(header)
      } else {
        add(name, offset, "has a damaged header, or was truncated or extended,")
      }
    }
    let unknown = ValuesHeader(store: StoreID(high: 0, low: 0), number: 0, position: 0, previous: 0)
    let values = try ValuesReader(salvaging: file, substitute: unknown)
    guard values.header != unknown else { return nil }
    if headers.count == 2, headers[0] != headers[1] { add(name, nil, "has two headers that differ") }
    if !values.hasSoundChecksums { add(name, values.header.checksumsOffset, "has damaged checksums") }
    try values.forEachDamagedBlock { block in
      add(name, block * ValuesFormat.blockBytes, "has a damaged block")
    }
    if findings.isEmpty { try checkRecords(values) }
    return values.header
  }

  private mutating func checkRecords(_ checked: ValuesReader) throws(StoreError) {
    let (name, last) = (Chain.valuesName, ByteBuffer(to: "verify a checkpoint"))
    var (values, keys) = (checked, 0 as UInt64)
    try checked.forEachSoundRecord { key, record throws(StoreError) in
      let text = key.text ?? ""
      guard let record, (try? KeyName(text)) != nil else { return add(name, nil, "has a malformed record \"\(text)\"") }
      if last.count > 0, !last.bytes.isBefore(key) { add(name, nil, "has \"\(text)\" after a greater key") }
      last.removeAll()
      try last.add(key)
      if !record.flags.contains(.removal) { keys += 1 }
      if values.isFull { values = try ValuesReader(again: values) }
      do throws(StoreError) {
        _ = try KeyState(record)
        let found = try values.record(of: key)
        if found?.changed != record.changed { add(name, nil, "has a hash table without \"\(text)\"") }
      } catch {
        guard error.code == .corrupt else { throw error }
        add(name, nil, "has a malformed record \"\(text)\", or a malformed hash table")
      }
    }
    if keys != checked.header.keys { add(name, nil, "has \(keys) keys, but its header says \(checked.header.keys)") }
  }

  // MARK: - The journals

  private mutating func checkJournals(of header: ValuesHeader, _ folder: borrowing OpenFolder) throws(StoreError) {
    let known = try Pulse.published(in: folder, of: header.store)
    let least = max(published, known?.least ?? 0)
    // A backup gets its journal, and a pulse, when it is opened for writing.
    if header.isBackup, known == nil, folder.status(of: Journal.name(header.number)) == nil { return }
    var (number, position, previous, id) = (header.number, header.position, header.previous, nil as UInt64?)
    while true {
      let name = Journal.name(number)
      guard let file = try folder.openFile(name, O_RDONLY) else {
        if id == nil || position < least { add(name, nil, "is missing") }
        return
      }
      for offset in try Journal.damagedHeads(of: file) { add(name, offset, "has a damaged head") }
      guard let head = try Journal.header(of: file) else { return }
      guard head.store == header.store, head.number == number, id ?? head.journal == head.journal else {
        if id == nil || position < least { add(name, nil, "belongs to another store or checkpoint") }
        return
      }
      let journal = Journal(file, head, begin: position)
      let scanner = try FrameScanner(journal, at: journal.first(after: previous), upTo: known?.end)
      repeat {
        do throws(StoreError) { try scanner.forEach { frame throws(StoreError) in try frame.check() } } catch {
          guard error.code == .corrupt else { throw error }
          add(name, JournalHeader.frames + Int(clamping: scanner.place.position - position), "has a malformed commit")
          continue
        }
        guard scanner.next == nil, scanner.place.position < least else { break }
        add(name, JournalHeader.frames + Int(clamping: scanner.place.position - position), "has a damaged commit")
      } while try scanner.skip()
      guard let next = scanner.next else { return }
      (number, position, previous, id) = (number + 1, scanner.place.position, scanner.place.previous, next)
    }
  }
}

extension Engine {
  /// Checks the files, with all that is published now.
  ///
  /// - Returns: the first damage, which is `corrupt`; nil if there is none.
  package func damage() throws(StoreError) -> StoreError? {
    let published = published
    do throws(StoreError) {
      // It notices that the store was closed.
      _ = try read { $0.revision }
    } catch {
      guard error.code == .corrupt else { throw error }
      return error
    }
    guard let finding = try Verification.findings(in: folder, published: published).first else { return nil }
    Salvage.mark(folder)
    return StoreError(
      .corrupt,
      "the store in \(shown: folder.path) is damaged: \(shown: finding.description); close it everywhere and open it "
        + "again to salvage the readable data")
  }
}

extension CommitFrame {
  /// Throws `corrupt` if a change is malformed.
  fileprivate func check() throws(StoreError) {
    try forEachChange { change throws(StoreError) in
      if change.effect.hasKey { _ = try change.keyName() }
      switch change.effect {
      case .value: _ = try change.value()
      case .declared, .historyLimits: _ = try change.json()
      case .schemaVersion: _ = try change.schemaVersion()
      case .removed, .undeclared, .acknowledged: break
      }
    }
  }
}

extension HistoryFile {
  /// Where the last damaged block of a checkpoint's history ends, and what is wrong; nil if all verifies.
  fileprivate static func damage(
    of header: ValuesHeader, _ folder: borrowing OpenFolder
  ) throws(StoreError) -> (offset: Int?, what: String)? {
    guard header.historyLength > 0 else { return nil }
    let (name, base) = place(of: header)
    guard let file = try folder.openFile(name, O_RDONLY) else { return (nil, "is missing") }
    var (end, after) = (Int(clamping: header.historyLength), header.revision)
    while end > 0 {
      guard let (block, bytes) = try HistoryBlock.read(file, number: header.history, end: end, base: base) else {
        return (base + end, "has a damaged block that ends")
      }
      var allowance = Allowance()
      guard block.last == after, let changes = try HistoryBlock.changes(bytes, &allowance) else {
        return (base + end, "has a malformed block that ends")
      }
      for change in changes {
        if case .value = change.old, try change.old.value() == nil {
          return (base + end, "has a malformed value in the block that ends")
        }
      }
      (after, end) = (block.after, block.start)
    }
    return nil
  }
}
