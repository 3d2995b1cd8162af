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
  /// The keys whose values or changes it concerns, as far as their names can be read.
  package var keys: [KeyName] = []

  package var description: String { offset.map { "\(file) \(what) at byte \($0)" } ?? "\(file) \(what)" }
}

/// The checks of one store.
package struct Verification {
  package private(set) var findings: [Finding] = []
  // The name of the file of the checkpoint, or of a backup.
  private let name: String

  /// Checks every block, record, frame and past change, and that they follow each other.
  ///
  /// Without a pulse, such as in a copy, a journal ends with the first frame that does not verify, unless the next one
  /// proves that there were others. Throws `unavailable` if there is no store, or a file cannot be read.
  /// - Parameter published: a position before which all frames were published, if the caller knows one.
  package static func findings(
    in folder: borrowing OpenFolder, published: Position = 0
  ) throws(StoreError) -> [Finding] {
    for _ in 0..<Engine.mostRestarts {
      var verification = Verification(name: Chain.valuesName)
      if try verification.check(folder, published) { return verification.findings }
    }
    throw StoreError(
      .busy, "the files of the store in \(shown: folder.path) were replaced each time they were read; try again")
  }

  /// Checks a backup.
  ///
  /// - Parameter name: what the findings call it. Throws `unsupported` for another file.
  package static func findings(inBackup file: StoreFile, name: String) throws(StoreError) -> [Finding] {
    try Backup.checkBeginning(of: file)
    var verification = Verification(name: name)
    guard let header = try verification.checkValues(file) else { return verification.findings }
    guard header.isBackup else { throw Backup.partOfStore }
    try verification.checkHistory(of: header, file, name)
    return verification.findings
  }

  private mutating func add(_ file: String, _ offset: Int? = nil, _ what: String, _ keys: [KeyName] = []) {
    // Damage of a whole file has no end.
    if findings.count < 1000 { findings.append(Finding(file: file, offset: offset, what: what, keys: keys)) }
  }

  /// - Returns: false if a checkpoint has replaced the files in between, so that some were missing.
  private mutating func check(_ folder: borrowing OpenFolder, _ published: Position) throws(StoreError) -> Bool {
    guard let file = try folder.openFile(name, O_RDONLY) else {
      guard try Salvage.isNeeded(folder, O_RDONLY) else {
        throw StoreError(.unavailable, "there is no store in \(shown: folder.path); check the path")
      }
      add(name, nil, "is missing")
      return folder.status(of: name) == nil
    }
    if let header = try checkValues(file) {
      try checkJournals(of: header, folder, published)
      let place = HistoryFile.place(of: header)
      try checkHistory(of: header, try folder.openFile(place.name, O_RDONLY), place.name)
    }
    // While it is open, no other file has its identity.
    let own = FileStatus(try file.status()).identity
    return findings.isEmpty || folder.status(of: name)?.identity == own
  }

  // MARK: - The checkpoint

  /// - Returns: its header; nil if both copies are damaged.
  private mutating func checkValues(_ file: StoreFile) throws(StoreError) -> ValuesHeader? {
    let (size, block) = (try file.size(), ByteBuffer(to: "verify a checkpoint"))
    var headers: [ValuesHeader] = []
    for offset in [0, max(0, size - ValuesFormat.blockBytes)] {
      block.removeAll()
      block.truncate(to: try file.read(try block.add(ValuesFormat.blockBytes), at: offset))
      if let header = ValuesHeader(block.bytes, size: size) {
        headers.append(header)
      } else if let error = ValuesReader.otherFormat(block.bytes, file.path) {
        throw error
      } else {
        add(name, offset, "has a damaged header, or was truncated or extended,")
      }
    }
    let unknown = ValuesHeader(store: StoreID(high: 0, low: 0), number: 0, position: 0, previous: 0)
    let values = try ValuesReader(salvaging: file, substitute: unknown)
    guard values.header != unknown else { return nil }
    if headers.count == 2, headers[0] != headers[1] { add(name, nil, "has two headers that differ") }
    if !values.hasSoundChecksums { add(name, values.header.checksumsOffset, "has damaged checksums") }
    try values.forEachDamagedBlock { block throws(StoreError) in
      add(name, block * ValuesFormat.blockBytes, "has a damaged block", try values.lostKeys(inDamaged: block))
    }
    if findings.isEmpty { try checkRecords(values) }
    return values.header
  }

  private mutating func checkRecords(_ checked: ValuesReader) throws(StoreError) {
    let last = ByteBuffer(to: "verify a checkpoint")
    let window = BlockWindow(checked)
    var keys: UInt64 = 0
    try checked.forEachSoundRecord { key, record throws(StoreError) in
      let text = key.text ?? ""
      guard let record, key.keyName != nil else { return add(name, nil, "has a malformed record \"\(text)\"") }
      if last.count > 0, !last.bytes.isBefore(key) { add(name, nil, "has \"\(text)\" after a greater key") }
      last.removeAll()
      try last.add(key)
      if !record.flags.contains(.removal) { keys += 1 }
      do throws(StoreError) {
        _ = try KeyState(record)
        let found = try checked.record(of: key, in: window)
        if found?.changed != record.changed { add(name, nil, "has a hash table without \"\(text)\"") }
      } catch {
        guard error.code == .corrupt else { throw error }
        add(name, nil, "has a malformed record \"\(text)\", or a malformed hash table")
      }
    }
    if keys != checked.header.keys { add(name, nil, "has \(keys) keys, but its header says \(checked.header.keys)") }
  }

  // MARK: - The journals

  private mutating func checkJournals(
    of header: ValuesHeader, _ folder: borrowing OpenFolder, _ published: Position
  ) throws(StoreError) {
    let known = try Pulse.published(in: folder, of: header.store)
    let least = max(published, known?.least ?? 0)
    // A backup gets its journal, and a pulse, when it is opened for writing.
    if header.isBackup, known == nil, folder.status(of: Journal.name(header.number)) == nil { return }
    var (number, position, previous, id) = (header.number, header.position, header.previous, nil as UInt64?)
    while true {
      // Without the journal that it names, a seal does not exist.
      let seal = position &- Position(FrameFormat.sealBytes)
      let name = Journal.name(number)
      guard let file = try folder.openFile(name, O_RDONLY) else {
        if id == nil || seal < least { add(name, nil, "is missing") }
        return
      }
      for offset in try Journal.damagedHeads(of: file) { add(name, offset, "has a damaged head") }
      guard let head = try Journal.header(of: file) else { return }
      guard head.store == header.store, head.number == number, id ?? head.journal == head.journal else {
        if id == nil || seal < least { add(name, nil, "belongs to another store or checkpoint") }
        return
      }
      let journal = Journal(file, head, begin: position)
      let scanner = try FrameScanner(journal, at: journal.first(after: previous), upTo: known?.end)
      while true {
        var isMalformed = false
        do throws(StoreError) { try scanner.forEach { frame throws(StoreError) in try frame.check() } } catch {
          guard error.code == .corrupt else { throw error }
          isMalformed = true
        }
        let place = scanner.place
        guard scanner.next == nil, place.position < least || isMalformed else { break }
        let isFound = try scanner.skip()
        let names = try FrameScanner(journal, at: place, upTo: known?.end)
        add(
          name, JournalHeader.frames + Int(clamping: place.position - position),
          "has a \(isMalformed ? "malformed" : "damaged") commit",
          try names.keys(to: isFound ? scanner.place.position : least))
        if !isFound { break }
      }
      guard let next = scanner.next else { return }
      (number, position, previous, id) = (number + 1, scanner.place.position, scanner.place.previous, next)
    }
  }
}

extension Verification {
  /// Checks the history of a checkpoint, from its end up to the first damaged block.
  private mutating func checkHistory(
    of header: ValuesHeader, _ file: StoreFile?, _ name: String
  ) throws(StoreError) {
    guard header.historyLength > 0 else { return }
    guard let file else { return add(name, nil, "is missing") }
    let base = HistoryFile.place(of: header).base
    var (end, after) = (Int(clamping: header.historyLength), header.revision)
    while end > 0 {
      guard let (block, bytes) = try HistoryBlock.read(file, number: header.history, end: end, base: base) else {
        return add(name, base + end, "has a damaged block that ends")
      }
      var allowance = Allowance()
      guard block.last == after, let changes = try HistoryBlock.changes(bytes, &allowance) else {
        return add(name, base + end, "has a malformed block that ends")
      }
      for change in changes {
        if case .value = change.old, try change.old.value() == nil {
          return add(name, base + end, "has a malformed value in the block that ends")
        }
      }
      (after, end) = (block.after, block.start)
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
      case .removed, .undeclared, .acknowledged, .lists: break
      }
    }
  }
}
