// A checkpoint and the journals that follow it, as one process has read them.

import CPlatform
import KeptSystem
package import KeptValues

/// Where a process is in the frames of a store.
///
/// Not thread-safe.
package final class Chain {
  package private(set) var values: ValuesReader
  /// The journals from the checkpoint on, the last one being where the next frame is.
  private(set) var journals: [Journal]
  /// The place of the next frame.
  // Not checked for exclusive access, which each frame would pay for: no access lasts longer than a method.
  @exclusivity(unchecked) package private(set) var place: FramePlace
  @exclusivity(unchecked) private(set) var overlay: Overlay
  // The commits of the chain before, from a revision on, up to those in the checkpoint: for observers that have not
  // received them yet.
  private var before: (start: Revision, overlay: Overlay)?
  /// Whether the commits are wanted one by one, also when a checkpoint has them.
  package var isObserved = false
  /// What opens secrets that were sealed; nil if none can be.
  package var secrets: (any SecretOpening)?
  // Whether a listing has passed a damaged block.
  private var hasMetDamage = false
  /// When the checkpoint was opened.
  let opened: Int64

  static let valuesName = "values"
  private static let listing = "list the store"

  // How files are opened: O_RDWR, or O_RDONLY.
  private let access: Int32

  /// Opens the checkpoint and its journal.
  ///
  /// - Returns: nil if the journal is missing: a newer checkpoint may have replaced this one.
  convenience init?(_ folder: borrowing OpenFolder, access: Int32 = O_RDWR) throws(StoreError) {
    guard let file = try folder.openFile(Self.valuesName, access) else { return nil }
    try self.init(try ValuesReader(file, keepsOpen: access == O_RDONLY), folder, access: access)
  }

  /// Opens the journal of a checkpoint; a backup that is only read needs none.
  init?(_ values: ValuesReader, _ folder: borrowing OpenFolder, access: Int32) throws(StoreError) {
    (self.access, opened) = (access, MonotonicTime.milliseconds)
    let header = values.header
    let journal = try folder.journal(header.number, of: header.store, begin: header.position, access: access)
    guard journal != nil || header.isBackup && access == O_RDONLY else { return nil }
    (self.values, journals) = (values, journal.map { [$0] } ?? [])
    place = FramePlace(
      journal: journal?.header.journal ?? 0, position: header.position, previous: header.previous)
    overlay = Overlay(after: header)
  }

  /// Whether it is a backup that no process has opened for writing.
  var hasNoJournal: Bool { journals.isEmpty }

  /// Copies it: the copy stays as it is, with the files open and the image in use.
  init(_ other: Chain) {
    (values, journals, place, overlay) = (other.values, other.journals, other.place, other.overlay)
    (access, opened, secrets) = (other.access, other.opened, other.secrets)
  }

  /// Lets go of the blocks in memory if they are too many.
  func limitMemory() {
    if values.isFull, let again = try? ValuesReader(again: values) { values = again }
  }

  /// Whether a listing has passed a damaged block since the last call.
  func takeMetDamage() -> Bool {
    defer { hasMetDamage = false }
    return hasMetDamage
  }

  /// The keys that have changed since the last call; nil at the first one, and if they are many.
  func takeChanged() -> [KeyName]? { overlay.takeChanged() }

  package var store: StoreID { values.header.store }
  var last: Journal { journals[journals.count - 1] }
  /// Its open files.
  var files: [StoreFile] { journals.map(\.file) + (values.file.map { [$0] } ?? []) }

  enum Progress {
    /// The limit was reached, or all that verifies.
    case done
    /// A journal is gone: a newer checkpoint has replaced it.
    case gone
  }

  /// Reads frames up to a position; nil: as far as they verify, and past each seal whose journal exists.
  func catchUp(to limit: Position?, _ folder: borrowing OpenFolder) throws(StoreError) -> Progress {
    if hasNoJournal { return .done }
    while limit.map({ place.position < $0 }) ?? true {
      let number = last.header.number
      let progress = try catchUpOne(limit, folder)
      if progress == .gone { return limit == nil ? .done : .gone }
      if last.header.number == number { break }
    }
    return .done
  }

  /// Reads frames of the last journal, and goes on to the next one if it has a seal.
  ///
  /// - Parameter body: called with each frame after it was added.
  func catchUpOne(
    _ limit: Position?, _ folder: borrowing OpenFolder, _ body: (CommitFrame) throws(StoreError) -> Void = { _ in }
  ) throws(StoreError) -> Progress {
    let scanner = try FrameScanner(last, at: place, upTo: limit)
    while let frame = try scanner.read() {
      try overlay.add(frame, at: place.position, in: last)
      place = scanner.place
      try body(frame)
    }
    guard let next = scanner.next else { return .done }
    let following = try folder.journal(
      last.header.number + 1, of: store, begin: scanner.place.position, access: access)
    // A seal is valid only with the journal that it names.
    guard let following, following.header.journal == next else { return .gone }
    place = scanner.place
    journals.append(following)
    return .done
  }

  /// Reads the frames that verify behind one that does not, up to the end of those that were surely published, and then
  /// as far as they verify.
  ///
  /// - Parameter lost: set to the keys that the commits before them name, with the revisions after which they are lost.
  /// - Returns: whether there are any: then the changes of the commits before them are lost.
  func catchUp(
    pastDamage limit: Position, _ folder: borrowing OpenFolder, lost: inout [KeyName: Revision]
  ) throws(StoreError) -> Bool {
    var hasSkipped = false
    while place.position < limit {
      if try !passDamagedSeal(folder) {
        let scanner = try FrameScanner(last, at: place, upTo: limit)
        let isFound = try scanner.skip()
        let names = try FrameScanner(last, at: place, upTo: limit)
        for key in try names.keys(to: isFound ? scanner.place.position : limit) {
          lost[key] = revision
        }
        guard isFound else { break }
        (place, hasSkipped) = (scanner.place, true)
      }
      do throws(StoreError) { _ = try catchUp(to: limit, folder) } catch {
        guard error.code == .corrupt else { throw error }
      }
    }
    do throws(StoreError) { _ = try catchUp(to: nil, folder) } catch {
      guard error.code == .corrupt else { throw error }
    }
    return hasSkipped
  }

  /// Goes on to the next journal if its first frame follows a seal at the place, which is damaged.
  private func passDamagedSeal(_ folder: borrowing OpenFolder) throws(StoreError) -> Bool {
    let begin = place.position + Position(FrameFormat.sealBytes)
    guard let next = (try? folder.journal(last.header.number + 1, of: store, begin: begin, access: access)) ?? nil
    else { return false }
    guard let after = try FrameScanner.place(afterDamagedSealAt: place, before: next) else { return false }
    place = after
    journals.append(next)
    return true
  }

  /// Adds frames that this process has written at its place.
  func add(_ frames: FrameWriter) throws(StoreError) {
    var at = 0
    while let word = frames.bytes.number(at, UInt32.self), let length = Frame.length(word),
      let bytes = frames.bytes.part(from: at, length)
    {
      if try Frame.next(bytes) == nil {
        try overlay.add(try CommitFrame(bytes), at: place.position + UInt64(at), in: last)
      }
      at += length
    }
    place = frames.place
  }

  /// Adds the same by its edits, whose keys ``takeChanged()`` does not return.
  func add(_ edits: [KeyEdit], of frames: FrameWriter) throws(StoreError) {
    try overlay.add(edits, of: frames)
    place = frames.place
  }

  /// Goes on to the journal that a seal of this process has named.
  func enter(_ journal: Journal) { journals.append(journal) }

  // MARK: - What it has at its place

  package var position: Position { place.position }
  /// How long the journals since the checkpoint are.
  package var length: UInt64 { place.position - values.header.position }
  /// Whether a commit since the checkpoint has replaced secrets.
  package var erases: Bool { overlay.erases }
  package var revision: Revision { overlay.revision }
  package var schemaVersion: UInt32 { overlay.schemaVersion }
  /// The note of a salvage that was not acknowledged, as JSON; empty if there is none.
  package var note: String { overlay.note }
  /// The history's limits, as JSON.
  package var limits: String { overlay.limits }
  /// The lists whose declarations the store has, the last one last.
  package var lists: [DeclaredList] { overlay.lists }
  /// Removals up to this revision are forgotten: an absent key may have changed at any of them.
  package var floor: Revision { values.header.floor }

  /// The change of a key since the checkpoint; nil if there is none.
  package func change(of key: KeyName) throws(StoreError) -> KeyChange? { try overlay.change(of: key) }

  /// Whether it has more keys than were changed since the checkpoint; false does not say that it has none.
  package var surelyHasKeys: Bool { values.header.keys > UInt64(overlay.count) }

  /// Whether a commit since the checkpoint has changed many keys at once.
  package var hasBulk: Bool { overlay.hasBulk }

  /// Whether one of the commits after a revision has.
  package func hasBulk(after revision: Revision) -> Bool { overlay.hasBulk(after: revision) }

  /// The keys that have changed since the checkpoint.
  package func changedKeys() throws(StoreError) -> Set<KeyName> {
    var found: Set<KeyName> = []
    try overlay.addKeys(to: &found)
    return found
  }

  /// The state of a key.
  ///
  /// If a new value or a removal hides a record that cannot be read, the record may have had a declaration.
  /// - Parameter ignoresValue: whether the value is left out, which may be one that cannot be read.
  package func state(of key: KeyName, ignoresValue: Bool = false) throws(StoreError) -> KeyState {
    do throws(StoreError) {
      let change = try overlay.change(of: key)
      return try key.exact.withBytes { bytes throws(StoreError) in
        var (record, isLost): (Record?, Bool) = (nil, false)
        let window = BlockWindow(values)
        defer { withExtendedLifetime(window) {} }
        do throws(StoreError) { record = try values.record(of: UnsafeRawBufferPointer(bytes), in: window) } catch {
          guard error.code == .corrupt, change?.value != nil else { throw error }
          (isLost, hasMetDamage) = (true, true)
        }
        var state = try KeyState(
          record, change, floor: isLost ? values.header.revision : floor, ignoresValue: ignoresValue)
        if isLost, change?.declaration == nil { state.declaration = Salvage.lost }
        return try state.opened(key, by: secrets)
      }
    } catch {
      throw error.about(key.text)
    }
  }

  /// The state of a key for an edit that replaces its value, which cannot be read, nor perhaps anything else.
  package func stateToReplace(of key: KeyName) throws(StoreError) -> KeyState {
    do throws(StoreError) { return try state(of: key, ignoresValue: true) } catch {
      guard error.code == .corrupt else { throw error }
      return KeyState(
        value: nil, declaration: Salvage.lost, revision: values.header.revision, changed: values.header.revision)
    }
  }

  /// The state of a key; nil if something must be read for it, or if it is a secret that was sealed.
  package func loadedState(of key: KeyName) throws(StoreError) -> KeyState? {
    let change = try overlay.change(of: key)
    if case .inJournal = change?.value { return nil }
    let record = key.exact.withBytes { values.loadedRecord(of: UnsafeRawBufferPointer($0)) }
    let state = try record.map { record throws(StoreError) in try KeyState(record, change, floor: floor) }
    return state?.isSealed == true ? nil : state
  }

  /// The state of a key, or the reason if its value cannot be read.
  package func stateOrDamage(of key: KeyName) throws(StoreError) -> Result<KeyState, StoreError> {
    do throws(StoreError) { return .success(try state(of: key)) } catch {
      guard error.isOfValue else { throw error }
      if error.code == .corrupt { hasMetDamage = true }
      return .failure(error)
    }
  }

  /// Calls `body` with each key that begins with a text, in order, and with its state, which is also known for a
  /// removed key.
  ///
  /// A key in a damaged block has an error, and so does a secret that cannot be opened. Throws `corrupt` if the names
  /// of keys in damaged blocks cannot be read.
  /// - Parameters:
  ///   - opens: whether secrets that were sealed are opened.
  ///   - take: called first for a key in ASCII that has nothing but a readable value; returns whether that is
  ///   enough.
  package func forEachState(
    below prefix: ExactString, opens: Bool = true,
    take: (UnsafeRawBufferPointer, StoredValue) throws(StoreError) -> Bool = { _, _ in false },
    _ body: (KeyName, Result<KeyState, StoreError>) throws(StoreError) -> Void
  ) throws(StoreError) {
    func damaged(_ key: KeyName?, _ error: StoreError) throws(StoreError) {
      hasMetDamage = true
      if let key { try body(key, .failure(error.about(key.text))) }
    }
    var allowance = Allowance()
    try forEachKey(below: prefix, damaged: damaged) { record, change, key throws(StoreError) in
      if let (key, value) = onlyValue(record, change), key.isPlainText, value.isPlain, try take(key, value) {
        return
      }
      try allowance.take((record?.length ?? 0) + (change?.bytesToRead() ?? 0), to: Self.listing)
      let name = try key()
      let state: Result<KeyState, StoreError>
      do throws(StoreError) {
        // The record may be in a damaged block.
        let isUnknown = record == nil && hasMetDamage
        let found = try isUnknown ? self.state(of: name) : KeyState(record, change?.change(), floor: floor)
        state = .success(opens && !isUnknown ? try found.opened(name, by: secrets) : found)
      } catch {
        state = .failure(error.about(name.text))
      }
      try body(name, state)
    }
  }

  /// Calls `body` with the index of each of some keys, which are in order, and with the state of the key; nil if it
  /// must be read alone.
  ///
  /// - Parameter take: called first for a key that has nothing but a value, or nothing: with the value, which may be
  ///   one that cannot be read; returns whether that is enough.
  package func forEachState(
    of keys: [KeyName], take: (Int, StoredValue?) throws(StoreError) -> Bool = { _, _ in false },
    _ body: (Int, KeyState?) throws(StoreError) -> Void
  ) throws(StoreError) {
    var (next, refusal): (Int, StoreError?) = (0, nil)
    func pass(_ record: Record?, _ change: ChangedKeys?, _ only: StoredValue??) throws(StoreError) {
      do throws(StoreError) {
        if let only, try take(next, only) { return next += 1 }
      } catch {
        refusal = error
        throw error
      }
      let state = try KeyState(record, change?.change(), floor: floor)
      // A secret is read alone.
      do throws(StoreError) { try body(next, state.isSealed ? nil : state) } catch {
        refusal = error
        throw error
      }
      next += 1
    }
    /// Whether the next key is this one, after all before it were passed.
    func reach(_ key: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
      while next < keys.count {
        let (isBefore, isSame) = keys[next].exact.withBytes { own in
          (UnsafeRawBufferPointer(own).isBefore(key), UnsafeRawBufferPointer(own).isSame(as: key))
        }
        guard isBefore else { return isSame }
        try pass(nil, nil, .some(nil))
      }
      return false
    }
    do throws(StoreError) {
      // Looking up each key reads the same blocks many times.
      if keys.count > (Int(clamping: values.header.keys) + overlay.count) / 4 {
        try forEachKey(below: "") { record, change, _ throws(StoreError) in
          guard let key = change?.key ?? record?.key, try reach(key) else { return }
          let only = onlyValue(record, change)?.1
          try pass(record, change, only.map { $0.kind == StoredValue.none ? nil : $0 })
        }
        while next < keys.count { try pass(nil, nil, .some(nil)) }
      }
    } catch {
      // After damage, the others are read alone.
      guard error.code == .corrupt, refusal == nil else { throw error }
    }
    while next < keys.count {
      try body(next, nil)
      next += 1
    }
  }

  /// The value of a key that has nothing else.
  private func onlyValue(
    _ record: Record?, _ change: ChangedKeys?
  ) -> (UnsafeRawBufferPointer, StoredValue)? {
    if record?.flags.contains(.declared) == true { return nil }
    guard let change else { return record.map { ($0.key, $0.value) } }
    // The record may be in a damaged block.
    guard record != nil || !hasMetDamage, let key = change.key, let only = change.onlyValue() else { return nil }
    return (key, only.value)
  }

  /// Whether the names of its files in the folder lead to them, and the checkpoint was not written since.
  func isInPlace(_ folder: borrowing OpenFolder) throws(StoreError) -> Bool {
    // Where this process may no longer enter a folder, nothing is known to have changed.
    guard let found = folder.status(of: Self.valuesName) else { return kept_errno() == EACCES }
    guard found.identity == values.identity else { return false }
    for journal in journals {
      let opened = FileStatus(try journal.file.status(hasTimes: false))
      let found = folder.status(of: Journal.name(journal.header.number), hasTimes: false)
      guard found?.identity == opened.identity else { return false }
    }
    if found.modified == values.modified { return true }
    // Otherwise its number may be that of a removed file.
    guard let file = try folder.openFile(Self.valuesName, access) else { return false }
    return try ValuesReader(file).header == values.header
  }

  /// Whether a checkpoint is a newer one of the same store.
  func isFollowed(by newer: ValuesReader) -> Bool {
    newer.header.store == store && newer.header.number > values.header.number
  }

  /// Takes over from a chain with an older checkpoint, whose frames were read as far as possible.
  func follow(_ chain: Chain) {
    guard chain.isObserved, chain.store == store, chain.revision >= values.header.revision else { return }
    (before, isObserved) = ((chain.values.header.revision, chain.overlay), true)
  }

  /// Whether each commit after a revision is known, and not only their result.
  package func knowsCommits(after revision: Revision) -> Bool {
    revision >= before?.start ?? values.header.revision
  }

  /// The keys that have changed after a revision; nil if removals since are forgotten.
  ///
  /// It looks at all keys if a checkpoint has some of the commits since.
  package func keys(changedAfter revision: Revision) throws(StoreError) -> Set<KeyName>? {
    var found: Set<KeyName> = []
    guard knowsCommits(after: revision) else {
      guard revision >= floor else { return nil }
      try forEachKey(below: "") { record, change, key throws(StoreError) in
        if try change?.changed() ?? record?.changed ?? 0 > revision { found.insert(try key()) }
      }
      return found
    }
    try overlay.addKeys(to: &found, changedAfter: revision)
    if revision < values.header.revision { try before?.overlay.addKeys(to: &found, changedAfter: revision) }
    return found
  }

  /// The keys that have changed after a revision, with their states, in order; nil if removals since are forgotten.
  ///
  /// Secrets that cannot be opened are left out.
  package func changes(after revision: Revision) throws(StoreError) -> [(key: KeyName, state: KeyState)]? {
    var found: [(key: KeyName, state: KeyState)] = []
    func add(_ key: KeyName, _ state: () throws(StoreError) -> KeyState) throws(StoreError) {
      do throws(StoreError) { found.append((key, try state())) } catch {
        guard error.isOfValue, error.code != .corrupt else { throw error }
      }
    }
    if knowsCommits(after: revision), let keys = try keys(changedAfter: revision) {
      for key in Array(keys).inOrder(of: \.exact) { try add(key) { () throws(StoreError) in try state(of: key) } }
      return found
    }
    guard revision >= floor else { return nil }
    var allowance = Allowance()
    try forEachKey(below: "") { record, change, key throws(StoreError) in
      guard try change?.changed() ?? record?.changed ?? 0 > revision else { return }
      try allowance.take((record?.length ?? 0) + (change?.bytesToRead() ?? 0), to: Self.listing)
      let (name, state) = (try key(), try KeyState(record, change?.change(), floor: floor))
      try add(name) { () throws(StoreError) in try state.opened(name, by: secrets) }
    }
    return found
  }

  /// The heads of the commits after a revision; nil if a checkpoint has some of them.
  package func heads(after revision: Revision) -> [FrameHead]? {
    guard knowsCommits(after: revision) else { return nil }
    let first = values.header.revision
    let older = before?.overlay.heads.filter { $0.revision > revision && $0.revision <= first } ?? []
    // Observers ask for the last ones.
    let known = overlay.heads.lastIndex { $0.revision <= revision } ?? -1
    return older + overlay.heads[(known + 1)...]
  }

  /// The revision of the last change of a key that begins with a text, if that is after `base`; else any below.
  package func lastChange(below prefix: ExactString, after base: Revision) throws(StoreError) -> Revision {
    if base >= values.header.revision { return overlay.lastChange(below: prefix) }
    var last: Revision = 0
    try forEachKey(below: prefix) { record, change, _ throws(StoreError) in
      last = max(last, try change?.changed() ?? record?.changed ?? 0)
    }
    return max(last, floor)
  }

  /// Calls `body` with the record and the changes of each key that begins with a text, in the order of the keys.
  ///
  /// The changes are at this key, or nil if there are none. Throws `corrupt` at a damaged block.
  /// - Parameter damaged: called instead: with nil, and then with each key that it surely has.
  func forEachKey(
    below prefix: ExactString,
    damaged: (KeyName?, StoreError) throws(StoreError) -> Void = { _, error throws(StoreError) in throw error },
    _ body: (Record?, ChangedKeys?, () throws(StoreError) -> KeyName) throws(StoreError) -> Void
  ) throws(StoreError) {
    try Allowance.ask(forEntries: overlay.knownCount, to: Self.listing)
    let changes = try overlay.changedKeys(below: prefix)
    func passChanges(before key: UnsafeRawBufferPointer?) throws(StoreError) {
      while let changed = changes.key, key.map({ changed.isBefore($0) }) ?? true {
        try body(nil, changes) { () throws(StoreError) in try changes.name() }
        changes.pass()
      }
    }
    try prefix.withBytes { prefix throws(StoreError) in
      let from = UnsafeRawBufferPointer(prefix)
      func isBelow(_ key: UnsafeRawBufferPointer) -> Bool { key.part(from: 0, prefix.count)?.isSame(as: from) == true }
      /// Whether a key of the checkpoint has changed, after all lesser keys were passed on.
      func isChanged(_ key: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
        try passChanges(before: key)
        return changes.key?.isSame(as: key) == true
      }
      func passDamaged(_ key: UnsafeRawBufferPointer?, _ error: StoreError) throws(StoreError) -> Bool {
        guard let key else {
          try damaged(nil, error)
          return true
        }
        guard isBelow(key) else { return false }
        if try isChanged(key) {
          try body(nil, changes) { () throws(StoreError) in try changes.name() }
          changes.pass()
        } else if let name = key.keyName {
          try damaged(name, error)
        }
        return true
      }
      try values.forEachRecord(from: from, damaged: passDamaged) { record throws(StoreError) in
        guard isBelow(record.key) else { return false }
        if try isChanged(record.key) {
          try body(record, changes) { () throws(StoreError) in try changes.name() }
          changes.pass()
        } else {
          try body(record, nil) { () throws(StoreError) in
            guard let name = record.key.keyName else { throw values.malformedKey }
            return name
          }
        }
        return true
      }
    }
    try passChanges(before: nil)
  }
}

extension OpenFolder {
  /// Opens a file of the store; nil if it does not exist.
  ///
  /// One that is only read may be in a folder of another user, and belong to the owner of the folder.
  borrowing func openFile(_ name: String, _ access: Int32 = O_RDWR) throws(StoreError) -> StoreFile? {
    let file: Int32?
    if access == O_RDONLY {
      let folder = try status()
      file = try self.open(name, access) { status, path throws(StoreError) in
        try Trust.check(sharedFile: status, path, ofFolder: folder)
      }
    } else {
      file = try self.open(name, access)
    }
    return file.map { StoreFile(taking: $0, path: path + "/" + name) }
  }

  /// Opens a journal; nil if it does not exist.
  ///
  /// Throws `corrupt` if it is not a journal, or belongs to another store.
  borrowing func journal(
    _ number: UInt64, of store: StoreID, begin: Position, access: Int32 = O_RDWR
  ) throws(StoreError) -> Journal? {
    guard let file = try openFile(Journal.name(number), access) else { return nil }
    guard let header = try Journal.header(of: file), header.store == store, header.number == number else {
      throw StoreError(
        .corrupt,
        "\(shown: file.path) is damaged or belongs to another store; close the store everywhere, "
          + "and the next program that opens it salvages the readable data")
    }
    return Journal(file, header, begin: begin)
  }
}

extension StoreError {
  /// Whether a value that a store has cannot be read, because of damage, or because it is a secret that is locked.
  package var isOfValue: Bool { code == .corrupt || code == .unavailable }
}
