// Salvage of a damaged store, by a process that has it alone: what verifies becomes a new checkpoint, and the damaged
// files are moved into `quarantine/<date>`.
//
// The process may be killed after each step, and the next one that opens the store begins again, or goes on:
//   1. The file `damaged` marks the store. A copy of `values` is in the quarantine.
//   2. The new checkpoint has its name, and a note of the salvage. Its journal has a higher number than all others.
//   3. The other files are in the quarantine, and the mark is removed.

import CPlatform
import KeptSystem
import KeptValues

package struct Salvage {
  private static let markName = "damaged"
  private static let quarantineName = "quarantine"

  // The known parts of the header of the damaged store; then the header of the new checkpoint.
  private var header: ValuesHeader
  private var states: [KeyName: KeyState] = [:]

  // MARK: - The mark

  static func isMarked(_ folder: borrowing OpenFolder) -> Bool { folder.status(of: markName) != nil }

  /// Marks a store as damaged: the next process that has it alone verifies all of it.
  static func mark(_ folder: borrowing OpenFolder) {
    let file = kept_engine_make(folder.descriptor, markName)
    if file >= 0 { kept_engine_close(file) }
  }

  // MARK: - The steps

  /// Begins the salvage of a folder.
  init(_ folder: borrowing OpenFolder) throws(StoreError) {
    header = ValuesHeader(store: .random(), number: 0, position: 0, previous: 0)
    for name in try folder.names() {
      if let number = Journal.number(name) {
        header.number = max(header.number, number)
        if let file = try folder.openFile(name), let known = try Journal.header(of: file) { header.store = known.store }
      } else if let number = HistoryFile.number(name) {
        header.history = max(header.history, number)
      }
    }
  }

  /// - Returns: whether files are left of a store whose checkpoint is lost, and which had commits or a history.
  static func isNeeded(_ folder: borrowing OpenFolder, _ access: Int32 = O_RDWR) throws(StoreError) -> Bool {
    if try Pulse.readCopy(in: folder, { words, _ in words.leastPublished > 0 }) == true { return true }
    for name in try folder.names() {
      if HistoryFile.number(name) != nil { return true }
      guard let number = Journal.number(name), let file = try folder.openFile(name, access) else { continue }
      // Killed while it created the store, a process leaves one without frames.
      guard number == 0, let header = try Journal.header(of: file) else { return true }
      let journal = Journal(file, header, begin: 0)
      if try FrameScanner(journal, at: journal.first(after: 0)).read() != nil { return true }
    }
    return false
  }

  mutating func run(_ folder: borrowing OpenFolder, _ fits: (Value, String) -> Bool) throws(StoreError) {
    Self.mark(folder)
    let file = try folder.openFile(Chain.valuesName)
    let lost = try read(file, folder)
    let quarantine = try Self.makeQuarantine(folder)
    if let file { try Self.copy(file, to: quarantine, as: Chain.valuesName) }
    header.note = Self.note(quarantine, lost)

    _ = try Recovery.makeJournal(header.number, of: header.store, folder)
    let draft = Recovery.draftPrefix + Chain.valuesName
    folder.removeFile(draft)
    let writer = ValuesWriter(try folder.makeFile(draft), header)
    for (key, state) in Array(states).inOrder(of: \.key.exact) { try writer.add(key, state, fits: fits) }
    _ = try writer.finish()
    try folder.rename(draft, to: Chain.valuesName)
    try folder.syncNames()
    _ = kept_engine_move(folder.descriptor, Pulse.name, quarantine.descriptor)
    try Self.finish(header, folder)
  }

  /// Moves the files that no longer belong to the store into the quarantine, and removes the mark.
  static func finish(_ header: ValuesHeader, _ folder: borrowing OpenFolder) throws(StoreError) {
    // The new checkpoint has its name on the disk before the files go, no matter which process made it.
    try folder.syncNames()
    // A note is text from a file: it must not lead elsewhere.
    if case .dictionary(let members)? = try? Value(json: header.note), case .string(let path)? = members["quarantine"],
      let place = String(path.utf8.dropFirst(quarantineName.utf8.count + 1)), !place.utf8.contains(UInt8(ascii: "/")),
      place != "..", let quarantine = folder.enter(quarantineName)?.enter(place)
    {
      for name in try folder.names() {
        let isOld =
          Journal.number(name).map { $0 < header.number } ?? HistoryFile.number(name).map { $0 < header.history }
        guard isOld == true else { continue }
        guard kept_engine_move(folder.descriptor, name, quarantine.descriptor) == 0 else {
          throw .system("move \(name) into the quarantine of", folder.path)
        }
      }
    }
    folder.removeFile(markName)
    try folder.syncNames()
  }

  // MARK: - What can be read

  /// Reads the records and the frames that verify.
  ///
  /// - Returns: the keys whose values are lost, or older than the last commit, as far as the damaged blocks and frames
  ///   and the history name them.
  private mutating func read(_ file: StoreFile?, _ folder: borrowing OpenFolder) throws(StoreError) -> Set<KeyName> {
    // Its page is replaced when it is released.
    let pulse = try Pulse.map(in: folder, makes: false)
    defer { withExtendedLifetime(pulse) {} }
    let words = pulse?.words
    // Without a checkpoint, the first journal of a store is still known to begin at 0, after nothing.
    let unknown = ValuesHeader(store: header.store, number: 0, position: 0, previous: 0)
    var values = try ValuesReader(salvaging: file, substitute: unknown)
    if values.header.store != header.store, words?.belongs(to: header.store) == true {
      // The checkpoint is the one file that belongs to another store.
      values = try ValuesReader(salvaging: nil, substitute: unknown)
    }
    let known = values.header
    let isOwn = words?.belongs(to: known.store) == true
    var chain: Chain?
    do throws(StoreError) {
      chain = try Chain(values, folder, access: O_RDWR)
      _ = try chain?.catchUp(to: nil, folder)
    } catch { guard error.code == .corrupt else { throw error } }
    var (areCommitsLost, lostChanges): (Bool, [KeyName: Revision]) = (false, [:])
    if isOwn, let words, let chain {
      areCommitsLost = try chain.catchUp(pastDamage: words.leastPublished, folder, lost: &lostChanges)
    }

    var changes: [KeyName: KeyChange] = [:]
    for key in try chain?.changedKeys() ?? [] { changes[key] = try chain?.change(of: key) }
    var (allowance, revision, lost) = (Allowance(), max(known.revision, chain?.revision ?? 0), Set<KeyName>())
    func add(_ key: KeyName, _ record: Record?, _ change: KeyChange?) throws(StoreError) {
      do throws(StoreError) { states[key] = try KeyState(record, change) } catch {
        guard error.code == .corrupt else { throw error }
        lost.insert(key)
      }
    }
    try values.forEachSoundRecord { bytes, record throws(StoreError) in
      guard let key = bytes.keyName else { return }
      guard let record else { return _ = lost.insert(key) }
      revision = max(revision, record.changed)
      try allowance.take(record.length, to: "salvage the store")
      try add(key, record, changes[key])
    }
    let window = BlockWindow(values)
    for (key, change) in changes where states[key] == nil {
      try add(key, nil, change)
      guard change.declaration == nil else { continue }
      do throws(StoreError) {
        _ = try key.exact.withBytes { bytes throws(StoreError) in
          try values.record(of: UnsafeRawBufferPointer(bytes), in: window)?.changed
        }
      } catch { hide(key) }
    }
    if areCommitsLost { for key in states.keys { hide(key) } }
    for change in (try? HistoryFile.read(of: known, folder))??.changes ?? [] { lost.insert(change.key) }
    lost = lost.filter { states[$0] == nil }
    for (key, before) in lostChanges where states[key]?.revision ?? 0 <= before { lost.insert(key) }
    states = states.filter { $0.value.isThere }

    let (number, history) = (max(header.number, known.number), max(header.history, known.history))
    header = ValuesHeader(store: known.store, number: number &+ 1, position: known.position, previous: 0)
    header.position = max(known.position, chain?.place.position ?? 0)
    // Beyond the published position, and beyond all revisions that were given out.
    if isOwn, let words, words.surelyPublished < .end {
      header.position = max(header.position, words.surelyPublished & ~7)
    }
    // Without the header of the checkpoint no record tells a revision. None is given out in less than a microsecond.
    let microseconds = UInt64(clamping: MonotonicTime.nanosecondsSince1970 / 1000)
    (header.revision, header.history) = (max(revision &+ 1 << 40, microseconds), history &+ 1)
    header.floor = header.revision
    header.schemaVersion = chain?.schemaVersion ?? known.schemaVersion
    header.limits = chain?.limits ?? known.limits
    return lost
  }

  /// Marks a key whose declaration may be lost, with a record or a commit.
  private mutating func hide(_ key: KeyName) {
    if let state = states[key], state.value != nil, state.declaration == nil { states[key]?.declaration = Self.lost }
  }

  /// The declaration of such a key; its value is treated as a secret.
  package static let lost = #"{"lost":true}"#

  /// The note of a salvage, with as many of the lost keys as fit into the header of a checkpoint.
  private static func note(_ quarantine: borrowing OpenFolder, _ lost: Set<KeyName>) -> String {
    let place = "\(quarantineName)/\(PathWalk.name(of: quarantine.path))"
    var keys = Array(lost).inOrder(of: \.exact)
    while true {
      let members: [(ExactString, Value)] =
        [("quarantine", .string(place))] + (keys.isEmpty ? [] : [("lost", .array(keys.map { .string($0.text) }))])
      let note = Value.dictionary(ValueDictionary(members)).json
      if note.utf8.count <= mostNoteBytes || keys.isEmpty { return note }
      keys.removeLast(keys.count / 8 + 1)
    }
  }

  private static let mostNoteBytes = 3000

  // MARK: - The quarantine

  /// Copies a damaged history into the quarantine; returns the note for the checkpoint that begins it again.
  ///
  /// - Parameter known: the note of an earlier salvage, which stays.
  static func note(
    aboutHistoryOf header: ValuesHeader, _ known: String, _ folder: borrowing OpenFolder
  ) throws(StoreError) -> String {
    let name = HistoryFile.place(of: header).name
    let quarantine = try makeQuarantine(folder)
    if let file = try folder.openFile(name) { try copy(file, to: quarantine, as: name) }
    return known.isEmpty ? note(quarantine, []) : known
  }

  /// Creates a folder in the folder `quarantine`.
  private static func makeQuarantine(_ folder: borrowing OpenFolder) throws(StoreError) -> OpenFolder {
    let date = try Timestamp(seconds: MonotonicTime.secondsSince1970).description
    guard kept_engine_make_folder(folder.descriptor, quarantineName) == 0 || kept_errno() == EEXIST else {
      throw .system("create the folder quarantine in", folder.path)
    }
    guard let quarantine = folder.enter(quarantineName) else {
      guard [ENOTDIR, ELOOP].contains(kept_errno()) else { throw .system("open the folder quarantine in", folder.path) }
      throw StoreError(
        .unavailable,
        "the store in \(shown: folder.path) is damaged, and cannot be salvaged because quarantine in it is a link or a "
          + "file, not a folder; move it away, and open the store again")
    }
    var (place, number) = (date, 1)
    while kept_engine_make_folder(quarantine.descriptor, place) != 0 {
      guard kept_errno() == EEXIST else { throw .system("create a folder in", quarantine.path) }
      number += 1
      place = "\(date)-\(number)"
    }
    guard let made = quarantine.enter(place) else { throw .system("open a folder in", quarantine.path) }
    return made
  }

  private static func copy(
    _ file: StoreFile, to quarantine: borrowing OpenFolder, as name: String
  ) throws(StoreError) {
    let (copy, buffer) = (try quarantine.makeFile(name), ByteBuffer(to: "copy a damaged file"))
    let piece = try buffer.add(256 << 10)
    var (at, count) = (0, 0)
    repeat {
      count = try file.read(piece, at: at)
      try copy.write(UnsafeRawBufferPointer(rebasing: piece[..<count]), at: at)
      at += count
    } while count > 0
    try copy.sync()
    try quarantine.syncNames()
  }
}
