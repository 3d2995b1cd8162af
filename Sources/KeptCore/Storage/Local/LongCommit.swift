// A commit of many keys. It is made ready without the write lock, so that other writers wait only while it is written.

import KeptEngine
import KeptSchema
import KeptSystem
import KeptValues

/// A commit of many keys that is ready to be written.
///
/// Invariant: the conditions of the batch hold at `base`, and `frames` has the changes that the batch makes there, in
/// the order of the keys. `places` says where the changes of each key begin in the frame, and where the last ones end,
/// once ``finish()`` was called.
///
/// Not thread-safe.
final class LongCommit {
  private let batch: Batch
  private var base: (revision: Revision, schemaVersion: UInt32, lists: [DeclaredList])
  // The keys of the conditions, and those without a key: looking at each would take long with the write lock.
  private var relied: Set<KeyName> = []
  private var otherConditions: [Condition] = []
  private let author: (writer: UInt64, now: @Sendable () -> Int64)
  private let secrets: StoreSecrets
  // Whether it sets a key that is declared secret, and the change of the data keys after which it was sealed.
  private var hasSecrets = false
  private var secretsChange = 0
  private var places: [FrameWriter.Mark] = []
  // The changes of how many keys are replaced from an index on, and where those in their place are in the frame.
  private var amendments: [(replaced: Range<Int>, start: FrameWriter.Mark, end: FrameWriter.Mark)] = []
  private var time: Int64 = 0
  // Whether a key that it changes may have a declaration.
  private var hasDeclarations = false
  // Whether it changes or removes a declaration that was there.
  private var redeclares = false
  /// The frame of the commit; empty if it changes nothing.
  private(set) var frames = FrameWriter()

  /// Whether other writers would wait too long for a batch.
  static func isLong(_ batch: Batch) -> Bool {
    batch.edits.count + batch.declarations.count >= least || batch.completion != nil
  }

  private static let least = 1024
  /// Others wait while this many keys are looked at again.
  static let mostChanged = 1024
  /// With more, making it again is faster.
  private static let mostAtAll = 1 << 16
  /// How often others may change more keys until it is written; then they wait while these are looked at again.
  static let mostAttempts = 3

  init(_ batch: Batch, _ chain: Chain, _ storage: LocalStorage) throws(StoreError) {
    var batch = batch
    try batch.completion?.complete(&batch, chain)
    (self.batch, author, secrets) = (batch, (storage.engine.author, storage.now), storage.secrets)
    base = (chain.revision, chain.schemaVersion, chain.lists)
    for condition in batch.conditions {
      if condition.mayFail(at: chain.revision) { try chain.check(condition, of: batch) }
      if let key = condition.key { relied.insert(key) } else { otherConditions.append(condition) }
    }
    time = author.now()
    frames = try frame(chain, erases: false) { frames throws(StoreError) in
      try addChanges(to: frames, chain)
      places.append(frames.mark)
    }
  }

  /// Adds the changes that the batch makes.
  private func addChanges(to frames: FrameWriter, _ chain: Chain) throws(StoreError) {
    let keepsDeclarations = batch.declarations.isEmpty && !batch.replacesDeclarations
    let named = batch.requests
    places.reserveCapacity(named.count + 1)
    func begin() {
      places.append(frames.mark)
      count += 1
    }
    /// Without a declaration, values are compared as they are stored.
    func take(_ index: Int, _ stored: StoredValue?) throws(StoreError) -> Bool {
      let (key, edit) = named[index]
      guard keepsDeclarations || batch.declarations[key] == nil else { return false }
      switch edit {
      case .set(let value):
        try value.withStored { new throws(StoreError) in
          if stored.map({ $0.isSame(as: new) }) ?? false { return }
          begin()
          try frames.add(value, for: key)
        }
      case .remove where stored != nil:
        begin()
        try frames.add(.removed, for: key)
      case .remove, nil: break
      }
      return true
    }
    try chain.forEachState(of: named.map(\.key), take: take) { index, state throws(StoreError) in
      let (key, edit) = named[index]
      let known: Entry?? = state.map { Entry($0) }
      let change = try batch.change(of: key, by: edit, chain, at: chain.revision + 1, known: known, secrets)
      guard let change else { return }
      if change.erases { frames.markErasing() }
      if change.new.declaration != nil { hasDeclarations = true }
      if change.redeclares { redeclares = true }
      try noteSecret(change)
      begin()
      try frames.add(change, secrets)
    }
  }

  /// The frame of changes that `body` adds; empty if there are none.
  private func frame(
    _ chain: Chain, erases: Bool, _ body: (FrameWriter) throws(StoreError) -> Void
  ) throws(StoreError) -> FrameWriter {
    let frames = FrameWriter()
    frames.begin(at: chain.place)
    try frames.begin(
      FrameHead(
        writer: author.writer, revision: chain.revision + 1, time: time, tag: batch.author.tag, erases: erases))
    try body(frames)
    if let version = batch.schemaVersion, version != chain.schemaVersion { try frames.add(schemaVersion: version) }
    guard frames.mark.count > 0 else { return frames }
    try frames.add(batch.lists(after: chain.lists, redeclares: redeclares), after: chain.lists)
    try frames.end()
    // Without changes of keys the revision stays.
    if count == 0 { frames.move(to: chain.place, revision: chain.revision, time: time) }
    return frames
  }

  var hasFrame: Bool { !frames.bytes.isEmpty }

  /// How many keys it changes.
  private(set) var count = 0

  var revision: Revision { base.revision + (count > 0 ? 1 : 0) }

  /// Brings it up to date with all commits until now.
  ///
  /// With the write lock held it takes as long as looking at the keys that others have changed, and copying the frame.
  /// - Parameter most: how many of these keys are looked at; nil for any number.
  /// - Returns: false if there are more, or if it must be made again for another reason.
  func settle(_ chain: Chain, most: Int? = mostAtAll) throws(StoreError) -> Bool {
    do throws(StoreError) { return try follow(chain, most: most) } catch {
      // A secret that was sealed without the data key cannot be sealed again.
      guard hasSecrets, error.code == .unavailable else { throw error }
      return false
    }
  }

  private func follow(_ chain: Chain, most: Int?) throws(StoreError) -> Bool {
    guard chain.schemaVersion == base.schemaVersion, chain.lists == base.lists else { return false }
    if hasSecrets, try secrets.changeCount() != secretsChange { return false }
    if chain.revision > base.revision {
      if most != nil, chain.hasBulk(after: base.revision) { return false }
      guard let changed = try chain.keys(changedAfter: base.revision), changed.count <= most ?? .max
      else { return false }
      let conditions = changed.contains(where: relied.contains) ? batch.conditions : otherConditions
      for condition in conditions where condition.mayDepend(on: changed) {
        try chain.check(condition, of: batch, changed: changed)
      }
      time = author.now()
      base.revision = chain.revision
      if try amend(changed, chain) { return true }
    }
    if hasFrame, frames.begin != chain.position {
      try sealAgain(frames, at: revision)
      frames.move(to: chain.place, revision: revision, time: time)
    }
    return true
  }

  /// Looks at keys again, and writes the frame again if that may have another change of one.
  private func amend(_ changed: Set<KeyName>, _ chain: Chain) throws(StoreError) -> Bool {
    var part = batch.requests(of: changed)
    try batch.completion?.complete(&part, changed, chain)
    var (found, erases): ([(first: Int, count: Int, change: StoredChange?)], Bool) = ([], frames.head.erases)
    for key in Array(changed).inOrder(of: \.exact) {
      let edit = part.edits[key]
      let isNamed = edit != nil || part.declarations[key] != nil
      let change = isNamed ? try part.change(of: key, by: edit, chain, at: chain.revision + 1, secrets) : nil
      let (first, isThere) = try find(key)
      if !isThere, change == nil { continue }
      found.append((first, isThere ? 1 : 0, change))
      count += (change == nil ? 0 : 1) - (isThere ? 1 : 0)
      if change?.erases == true { erases = true }
      if change?.new.declaration != nil { hasDeclarations = true }
      if change?.redeclares == true { redeclares = true }
      if let change { try noteSecret(change) }
    }
    if found.isEmpty { return false }
    let old = frames
    frames = try frame(chain, erases: erases) { frames throws(StoreError) in
      var next = 0
      for (first, count, change) in found {
        try frames.add(old, from: places[next], to: places[first])
        next = first + count
        let start = frames.mark
        if let change { try frames.add(change, secrets) }
        amendments.append((first..<next, start, frames.mark))
      }
      try frames.add(old, from: places[next], to: places[places.count - 1])
      try sealAgain(frames, at: chain.revision + 1)
    }
    return true
  }

  /// Notes before a change is sealed whether it sets a secret.
  private func noteSecret(_ change: StoredChange) throws(StoreError) {
    guard !hasSecrets, change.new.declaration?.isSecret == true else { return }
    (hasSecrets, secretsChange) = (true, try secrets.changeCount())
  }

  /// Seals its secrets again for the revision that it has now.
  private func sealAgain(_ frames: FrameWriter, at revision: Revision) throws(StoreError) {
    guard hasSecrets else { return }
    try frames.replaceSealed { key, sealed throws(StoreError) in
      try secrets.seal(again: sealed, of: key, at: revision)
    }
  }

  /// Takes over what others have made necessary; this need not be done with the write lock held.
  func finish() {
    if amendments.isEmpty { return }
    var found: [FrameWriter.Mark] = []
    found.reserveCapacity(places.count + amendments.count)
    var (next, place) = (0, places[0])
    for amendment in amendments {
      found += places[next..<amendment.replaced.lowerBound].map { $0.moved(from: places[next], to: place) }
      if amendment.start.count < amendment.end.count { found.append(amendment.start) }
      (next, place) = (amendment.replaced.upperBound, amendment.end)
    }
    found += places[next...].map { $0.moved(from: places[next], to: place) }
    (places, amendments) = (found, [])
  }

  /// The index of the changes of a key, or of the first ones after it.
  private func find(_ key: KeyName) throws(StoreError) -> (index: Int, isThere: Bool) {
    try key.exact.withBytes { bytes throws(StoreError) in
      let wanted = UnsafeRawBufferPointer(bytes)
      var (low, high, isThere) = (0, places.count - 1, false)
      while low < high {
        let middle = low + (high - low) / 2
        var isBefore = false
        try frames.forEachChange(from: places[middle], to: places[middle + 1]) { change in
          isBefore = change.key.isBefore(wanted)
          if change.key.isSame(as: wanted) { isThere = true }
        }
        if isBefore { low = middle + 1 } else { high = middle }
      }
      return (low, isThere)
    }
  }

  /// What it commits, once it was finished.
  ///
  /// - Parameter contents: those before.
  func commit(over contents: EngineSnapshot) -> Commit {
    guard count > 0 else { return Commit(revision: revision, changes: []) }
    let changes = FrameChanges(frames, places, revision, hasDeclarations: hasDeclarations, over: contents, secrets)
    return Commit(revision: revision, changes: changes, time: Timestamp(nanosecondsSince1970: time))
  }
}

/// The changes of a frame, which are listed if they are needed.
///
/// Thread-safe, because nothing changes the frame.
// The compiler cannot check it.
private final class FrameChanges: LaterChanges, @unchecked Sendable {
  let hasDeclarations: Bool
  private let frames: FrameWriter
  private let places: [FrameWriter.Mark]
  private let revision: Revision
  private let contents: EngineSnapshot
  private let secrets: StoreSecrets
  private let listed = Monitor<[StoredChange]?>(nil)

  init(
    _ frames: FrameWriter, _ places: [FrameWriter.Mark], _ revision: Revision, hasDeclarations: Bool,
    over contents: EngineSnapshot, _ secrets: StoreSecrets
  ) {
    (self.frames, self.places, self.revision, self.secrets) = (frames, places, revision, secrets)
    (self.hasDeclarations, self.contents) = (hasDeclarations, contents)
  }

  var count: Int { places.count - 1 }

  func list() -> [StoredChange] {
    listed.update { listed in
      if let listed { return listed }
      let changes = make()
      listed = changes
      return changes
    }
  }

  private func make() -> [StoredChange] {
    let ends = places.dropFirst()
    let keys = zip(places, ends).compactMap { start, end in
      var key: KeyName?
      try? frames.forEachChange(from: start, to: end) { part throws(StoreError) in
        if key == nil { key = try part.keyName() }
      }
      return key
    }
    var changes: [StoredChange] = []
    changes.reserveCapacity(keys.count)
    var index = 0
    func add(_ state: KeyState?) {
      defer { index += 1 }
      let old = state.flatMap { Entry($0) }
      var (new, isLocked) = (old ?? Entry(value: nil, revision: 0), false)
      // Each part was made from a valid change.
      try? frames.forEachChange(from: places[index], to: places[index + 1]) { part throws(StoreError) in
        switch part.effect {
        case .value:
          (new.value, new.revision) = (try part.value(), revision)
          if part.stored.isSealed, case .bytes(let sealed) = new.value {
            isLocked = true
            new.value = try secrets.open(sealed, of: keys[index], at: revision)
            isLocked = false
          }
        case .removed: (new.value, new.revision) = (nil, revision)
        case .declared: new.declaration = .stored(try part.json())
        default: new.declaration = nil
        }
      }
      // As for other processes: observers receive it once it can be read.
      if !isLocked { changes.append(StoredChange(key: keys[index], old: old, new: new)) }
    }
    _ = try? contents.list { chain throws(StoreError) in
      try chain.forEachState(of: keys) { index, state in
        add(state ?? (try? chain.state(of: keys[index])) ?? (try? chain.stateToReplace(of: keys[index])))
      }
    }
    // What cannot be read was there before, or not: the commit has replaced it.
    while index < keys.count { add(nil) }
    return changes
  }
}

extension Completion {
  /// Adds the requests for all keys that it is about.
  fileprivate func complete(_ batch: inout Batch, _ chain: Chain) throws(StoreError) {
    if let base {
      guard let changed = try chain.keys(changedAfter: base) else {
        throw StoreError(.conflict, "too much has changed since revision \(base); try again")
      }
      try complete(&batch, changed, chain)
    } else {
      var keys: [KeyName] = []
      try chain.forEachName(below: scope) { key, _ in keys.append(key) }
      try complete(&batch, keys, chain)
    }
  }

  fileprivate func complete(
    _ batch: inout Batch, _ keys: some Sequence<KeyName>, _ chain: Chain
  ) throws(StoreError) {
    for key in keys where key.exact.hasPrefix(scope) {
      try add(key, { () throws(StoreError) in try chain.knownEntry(of: key) }, &batch)
    }
  }
}

extension Condition {
  /// Whether it may not hold at a revision, by that alone: an import has one for each key.
  fileprivate func mayFail(at revision: Revision) -> Bool {
    switch self {
    case .unchanged(_, let base), .unchangedPrefix(_, let base): base < revision
    case .revision, .schemaVersion: true
    }
  }

  /// The key that it is about; nil if it is about several.
  fileprivate var key: KeyName? {
    switch self {
    case .revision(let key, _), .unchanged(let key, _): key
    case .unchangedPrefix, .schemaVersion: nil
    }
  }

  /// Whether it may hold no longer after keys have changed.
  fileprivate func mayDepend(on changed: Set<KeyName>) -> Bool {
    switch self {
    case .revision(let key, _), .unchanged(let key, _): changed.contains(key)
    case .unchangedPrefix(let prefix, _): changed.contains { $0.exact.hasPrefix(prefix) }
    case .schemaVersion: true
    }
  }
}
