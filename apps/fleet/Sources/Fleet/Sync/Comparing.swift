// One comparison of both sides, and the changes that follow from it.

internal import Etcd
internal import FoundationEssentials
internal import Glibc
internal import Kept
internal import Logging

extension Syncer {
  /// Compares keys, nil for all, and makes both sides the same.
  ///
  /// - Returns: false if it has to be done again, when something has changed or after a while.
  func compare(_ keys: Set<ExactString>?, _ session: Session) async throws -> Bool {
    guard let mirror, let reading = try read(keys, mirror) else { return false }
    var situations: [ExactString: Situation] = [:]
    var secrets: Set<ExactString> = []
    for key in keys ?? Set(reading.values.keys).union(mirror.items.keys).union(agreements.table.keys) {
      let (local, remote) = (reading.values[key] ?? .absent, RemoteValue(mirror, key, options.secretsKeys))
      // A key that is declared secret now stays here when its plain value is deleted in etcd.
      if local.isSecret, remote.sealed == nil, agreements.table[key]?.digest != nil { secrets.insert(key) }
      situations[key] = Situation(
        local: local, remote: remote, agreed: secrets.contains(key) ? nil : agreements.table[key],
        localRevision: reading.storeRevision, remoteRevision: mirror.revision, isResealed: isResealing)
    }
    try agreements.update(Dictionary(uniqueKeysWithValues: secrets.map { ($0, nil) }))
    for key in try await keysUnknownToEtcd(situations, session) { situations[key]?.isUnknownToEtcd = true }
    for key in contestedByOlder(situations) { situations[key]?.isOlderInEtcd = true }
    // The values of a new machine were not changed from those in etcd: one conflict must not discard them all.
    if isFirst, agreements.table.isEmpty { areGroupsKnown = true }
    isFirst = false
    var plan = SyncPlan(situations, groups, options)
    if !areGroupsKnown, plan.hasConflict || uploadParts(plan, situations).parts.count > 1 {
      joinByHistory(plan.localChanges, situations)
      plan = SyncPlan(situations, groups, options)
    }
    try noteSteps(plan, situations)
    guard try await bringDown(plan, situations, session) else { return false }
    guard try await sendUp(plan, situations, session) else { return false }
    if keys == nil { isResealing = false }
    return true
  }

  /// The keys for which a restored etcd has a value that this store had before.
  private func contestedByOlder(_ situations: [ExactString: Situation]) -> [ExactString] {
    let contested = situations.compactMapValues { situation -> Value? in
      guard situation.isContested, let value = situation.remote.present(situation.local.declaration) else { return nil }
      return value == situation.local.value ? nil : value
    }
    guard !contested.isEmpty else { return [] }
    log.warning("etcd was restored from a backup; keys with different values: \(contested.count)")
    return ((try? local.plain.history())?.changes ?? []).compactMap { change in
      guard case .value(let old) = change.old, old == contested[change.key.exact] else { return nil }
      return change.key.exact
    }
  }

  /// The agreed keys that etcd lacks, and did not have at the agreed revision: they were not removed since, but
  /// etcd was restored from a backup.
  private func keysUnknownToEtcd(
    _ situations: [ExactString: Situation], _ session: Session
  ) async throws(EtcdError) -> [ExactString] {
    let absent = situations.compactMap { key, situation -> (key: ExactString, agreed: Int64)? in
      // No watch has reported a removal.
      guard situation.remote.revision == 0, situation.local.value != nil, let agreed = situation.agreed?.etcd,
        agreed > 0, agreed <= situation.remoteRevision
      else { return nil }
      return (key, agreed)
    }
    let past = try await session.past(absent.map { (place.key($0.key.text), $0.agreed) }, keysOnly: true)
    let unknown = zip(absent, past).filter { $1.lacksChange(at: $0.agreed) }
    if !unknown.isEmpty { log.warning("etcd was restored from a backup; keys sent again: \(unknown.count)") }
    return unknown.map(\.0.key)
  }

  /// Reads the store; nil if it must wait for notices.
  private func read(_ keys: Set<ExactString>?, _ mirror: Mirror) throws -> LocalReading? {
    let known = Set(mirror.items.keys).union(agreements.table.keys)
    let reading: LocalReading
    do { reading = try keys.map { try local.read($0) } ?? local.readAll(known) } catch StoreError.Code.conflict {
      // The keys change faster than they can be read.
      wake(after: .milliseconds(100))
      return nil
    } catch let error as StoreError {
      // The connection is not to blame.
      let problem = "the store cannot be read: \(error)"
      if state.storeProblem != problem { log.error("\(problem)") }
      state.storeProblem = problem
      wake(after: Self.retry)
      return nil
    }
    state.storeProblem = nil
    guard reading.revision > delivered, !isFirst else {
      waiting = nil
      delivered = max(delivered, reading.revision)
      return reading
    }
    let start = waiting ?? .now
    waiting = start
    guard .now - start >= Self.patience else {
      wake(after: Self.patience)
      return nil
    }
    // The notice has merged with others, to nothing, or the key changes without end. The keys that were changed
    // with it are not known, so everything is compared.
    guard keys == nil else {
      hasToCompareAll = true
      wake()
      return nil
    }
    waiting = nil
    areGroupsKnown = false
    delivered = reading.revision
    return reading
  }

  private static let patience = Duration.seconds(1)

  /// Finds the changes that were made together without a notice: this program did not run, or was slow.
  ///
  /// Only changes since both sides were the same are compared. The history has each commit whole. If it has folded
  /// commits of one program to the same keys, it has their revisions, and they are one change, also for keys that have
  /// their old value again.
  private func joinByHistory(_ keys: Set<ExactString>, _ situations: [ExactString: Situation]) {
    // Notices since the readings may be about other keys.
    areGroupsKnown = changed.isEmpty && !hasToCompareAll
    // All keys that the history lacks may have been changed together. Those that were changed before a salvage, which
    // has lost the history, are taken one by one: one conflict must not discard everything that was not sent.
    let keys = keys.filter { situations[$0]?.isUnchangedHere == false }
    var unknown = keys.filter { key in
      situations[key].map { LocalSide.salvage(before: $0.local.revision ?? $0.localRevision) } == agreements.salvage
    }
    var begun: Set<ExactString> = []
    var together: [Revision: Set<ExactString>] = [:]
    let history = try? local.plain.history()
    var folded = history?.missing ?? []
    for change in history?.changes ?? [] {
      let key = change.key.exact
      let agreed = agreements.table[key]?.local
      guard keys.contains(key), change.revision > agreed ?? 0, !begun.contains(key) else { continue }
      // A key without an agreement began when it was last absent.
      if agreed == nil, change.old == .absent { begun.insert(key) }
      unknown.remove(key)
      while let range = folded.last, range.lowerBound > change.revision { folded.removeLast() }
      // The last of the folded commits follows them.
      let isFolded = folded.last.map { change.revision - 1 <= $0.upperBound } ?? false
      together[isFolded ? folded.last?.lowerBound ?? 0 : change.revision, default: []].insert(key)
    }
    for key in unknown {
      // A change that was folded to nothing is not listed, but the changes made with it may be. A removal has no
      // revision; one that is not listed was folded with the agreement.
      guard let revision = situations[key]?.local.revision ?? agreements.table[key]?.local,
        let range = history?.missing.first(where: { $0.lowerBound <= revision && revision - 1 <= $0.upperBound })
      else { continue }
      together[range.lowerBound, default: []].insert(key)
      unknown.remove(key)
    }
    for keys in together.values { groups.join(keys) }
    groups.join(unknown)
  }

  private func noteSteps(_ plan: SyncPlan, _ situations: [ExactString: Situation]) throws(StoreError) {
    var agreed: [ExactString: Agreement?] = [:]
    for (key, step) in plan.steps {
      var refusal: String?
      switch step {
      case .agree: agreed.updateValue(situations[key]?.agreement, forKey: key)
      case .refuse(let reason): refusal = reason
      case .withhold:
        refusal =
          situations[key]?.local.isDeclarationLost == true
          ? LocalValue.lostDeclaration : situations[key]?.sealMismatch(options.secretsKeys)
      default: break
      }
      note(refusal, for: key)
      if step == .withhold { state.withheld.insert(key) } else { state.withheld.remove(key) }
    }
    try agreements.update(agreed)
    // Those that have changed since they were read belong to the keys that they were changed with.
    groups.remove(plan.keys { $0 == .agree || $0 == .nothing }.subtracting(changed))
  }

  private func note(_ refusal: String?, for key: ExactString) {
    // The reason may have the value.
    if let refusal, state.refusals[key] != refusal {
      log.error(
        "\(place.values)\(LongName.shown(key.text)) is refused; see the status of this machine")
    }
    state.refusals[key] = refusal
  }

  // MARK: - Down

  /// Stores the changes of etcd, and then, in a separate commit, those that replace changes of this machine.
  ///
  /// In between, the store has the values of etcd, and these changes on top. A commit has one tag, so only the changes
  /// that have lost are called a conflict.
  private func bringDown(
    _ plan: SyncPlan, _ situations: [ExactString: Situation], _ session: Session
  ) async throws -> Bool {
    for isConflict in [false, true] {
      let keys = plan.keys { $0 == .download(isConflict: isConflict) }
      guard try await bringDown(keys, isConflict, situations, session) else { return false }
    }
    return true
  }

  private func bringDown(
    _ keys: Set<ExactString>, _ isConflict: Bool, _ situations: [ExactString: Situation], _ session: Session
  ) async throws -> Bool {
    guard !keys.isEmpty else { return true }
    let revisions = try await self.revisions(keys, situations, session)
    let names = try await hosts(Set(revisions.values), session)
    let downloads = keys.compactMap { key in
      situations[key].map { Download(key: key, value: $0.remote.present(nil), local: $0.local) }
    }
    let listed = Set(names.values).sorted().prefix(5).joined(separator: ",")
    let winner = listed.isEmpty ? Self.unknown : listed
    let tag = "fleet:\(winner)\(isConflict ? ":conflict" : "")"
    do {
      let file = isConflict ? try saveValuesBeyondHistory(downloads) : nil
      var isApplied = false
      defer {
        if let file, !isApplied { unlink(file) }
        noteConflictFiles()
      }
      try agreements.note(taking(keys, situations))
      defer { try? agreements.note(nil) }
      guard let refusals = try local.apply(downloads, tag: tag) else { return false }
      isApplied = true
      for (key, reason) in refusals { note(reason, for: key) }
      let done = keys.subtracting(refusals.keys)
      try agree(done, situations)
      for key in done where isConflict {
        note(
          conflict: key, winner: revisions[key].flatMap { names[$0] } ?? winner,
          isItself: situations[key]?.hasRemoteChange == true)
      }
      state.received += done.count
      noteProblem(nil)
      return true
    } catch let error as StoreError {
      noteProblem(error.description)
      wake(after: Self.retry)
      return false
    }
  }

  /// Saves the values that lose and that the history of the store cannot hold; returns the file, nil if there are none.
  private func saveValuesBeyondHistory(_ downloads: [Download]) throws(StoreError) -> String? {
    let values = local.valuesBeyondHistory(downloads)
    guard !values.isEmpty else { return nil }
    let export = Value.object(["kept": .number(1), "values": .dictionary(ValueDictionary(values))])
    return try AtomicFile.writeNew(
      Data((export.json + "\n").utf8), to: "\(options.folder)/\(Self.conflictFile)\(Timestamp.now)")
  }

  private func taking(_ keys: Set<ExactString>, _ situations: [ExactString: Situation]) -> Taking {
    let taken = keys.compactMap { key in situations[key].map { (key, $0.remote.compared) } }
    let after = keys.compactMap { situations[$0]?.localRevision }.min() ?? 0
    return Taking(keys: Dictionary(taken) { $1 }, after: after)
  }

  /// Finds out whether the pending change was stored before this program was killed.
  ///
  /// A change by the user since then is a change of etcd's value, and not a conflict with it.
  func settleTaking() throws(StoreError) {
    guard let taking = agreements.taking else { return }
    var agreed: [ExactString: Agreement?] = [:]
    for change in (try? local.plain.history())?.changes ?? [] where change.revision > taking.after {
      let key = change.key.exact
      guard let etcd = taking.keys[key], change.tag?.utf8.starts(with: "fleet:".utf8) == true else { continue }
      agreed.updateValue(Agreement(etcd: etcd, local: change.revision), forKey: key)
    }
    try agreements.update(agreed)
    try agreements.note(nil)
  }

  /// After a salvage, removes the agreements of keys that the store has lost: they come from etcd again.
  ///
  /// All others have the revisions that they had. The history starts again at a salvage, and has the removals since.
  func settleSalvage() throws {
    let salvage = try local.salvage()
    guard agreements.salvage != salvage else { return }
    let present = try local.readAll(agreements.table.keys).values
    let history = try local.plain.history()
    let removed = Set(history.changes.filter { $0.new == .absent }.map(\.key.exact))
    let lost = agreements.table.keys.filter { key in
      guard let value = present[key], value.value == nil else { return false }
      return value.damage == nil && !removed.contains(key)
    }
    log.warning("the store was damaged and salvaged; missing keys: \(lost.count); those in etcd are restored from it")
    try agreements.forget(Set(lost), after: salvage)
  }

  /// The revisions at which etcd has changed keys; 0 for one that is not known, and none for a key that etcd never had.
  private func revisions(
    _ keys: Set<ExactString>, _ situations: [ExactString: Situation], _ session: Session
  ) async throws -> [ExactString: Int64] {
    var revisions: [ExactString: Int64] = [:]
    var deleted: [(key: ExactString, agreed: Int64)] = []
    for key in keys {
      guard let situation = situations[key] else { continue }
      guard situation.remote.revision == 0 else {
        revisions[key] = situation.remote.revision
        continue
      }
      // No watch has reported it.
      if let agreed = situation.agreed?.etcd, agreed > 0 { deleted.append((key, agreed)) }
    }
    for (key, _) in deleted { revisions[key] = 0 }
    guard let now = mirror?.revision, !deleted.isEmpty else { return revisions }
    let found = try await session.deletions(
      deleted.map { (key: place.key($0.key.text), revision: $0.agreed) }, until: now)
    for (deletion, revision) in zip(deleted, found) { revisions[deletion.key] = revision ?? 0 }
    return revisions
  }

  /// Records that the store has the value of etcd, or has changed since.
  private func agree(_ keys: Set<ExactString>, _ situations: [ExactString: Situation]) throws {
    let present = try local.read(keys).values
    var agreed: [ExactString: Agreement?] = [:]
    for key in keys {
      guard let situation = situations[key], let now = present[key] else { continue }
      let isSame = now.value == situation.remote.present(now.declaration)
      agreed.updateValue(
        isSame && now.value == nil
          ? nil
          : Agreement(etcd: situation.remote.compared, local: isSame ? now.revision : 0, digest: situation.digest),
        forKey: key)
      if !isSame { changed.insert(key) }
    }
    try agreements.update(agreed)
    groups.remove(keys.subtracting(changed))
  }

  static let unknown = "unknown"
  static let retry = Duration.seconds(5)

  /// The machines that have made changes, by the revisions of these.
  private func hosts(_ revisions: Set<Int64>, _ session: Session) async throws -> [Int64: String] {
    if writers.count > 10_000 { writers = [:] }
    if let writer = mirror?.writer { writers[writer.revision] = WriterRecord(writer).host }
    let missing = revisions.filter { $0 > 0 && writers[$0] == nil }.sorted(by: >).prefix(1_000)
    for (revision, record) in zip(missing, try await session.past(missing.map { (place.writer, $0) })) {
      // A change without the record was made by another program.
      let item: Item? = if case .item(let item) = record, item.revision == revision { item } else { nil }
      writers[revision] = item.flatMap { WriterRecord($0).host } ?? Self.unknown
    }
    return Dictionary(uniqueKeysWithValues: revisions.map { ($0, writers[$0] ?? Self.unknown) })
  }

  // MARK: - Up

  private func sendUp(
    _ plan: SyncPlan, _ situations: [ExactString: Situation], _ session: Session
  ) async throws -> Bool {
    let uploads = uploadParts(plan, situations)
    for key in uploads.tooLarge {
      note(
        "the key and its value need more than \(UploadParts.mostBytes) bytes, too many for etcd; shorten the value",
        for: key)
    }
    // Concurrently, `changed` may add the same keys again.
    for part in uploads.parts {
      guard try await send(part, plan, situations, session) else { return false }
    }
    return true
  }

  private func uploadParts(_ plan: SyncPlan, _ situations: [ExactString: Situation]) -> UploadParts {
    UploadParts(plan.uploads, groups, situations.mapValues(\.local), prefix: place.values.utf8.count)
  }

  /// Sends keys together; returns false if etcd has changed one of them, or does not take them now.
  private func send(
    _ part: [ExactString], _ plan: SyncPlan, _ situations: [ExactString: Situation], _ session: Session
  ) async throws -> Bool {
    guard let writer = mirror?.writer, let fence else { return false }
    let values = try part.map { key throws(StoreError) -> (name: ExactString, value: Data?) in
      guard let local = situations[key]?.local, let value = local.value else { return (key, nil) }
      return (
        key, local.isSecret ? try options.secretsKeys.seal(value, at: place.key(key.text)) : Data(value.json.utf8)
      )
    }
    let number = Fence.newNumber()
    var noted: [ExactString: Agreement?] = [:]
    for key in part {
      guard let situation = situations[key] else { continue }
      var agreement = situation.agreed ?? Agreement(etcd: 0, local: 0)
      agreement.sent = Agreement.Sent(
        number: number, local: situation.local.revision, isFirst: situation.agreed == nil)
      noted[key] = agreement
    }
    // The record survives power loss.
    try agreements.update(noted, durability: .durable)
    let record = WriterRecord(host: options.machine.host, keys: WriterRecord(writer).keys)
    // A program that changes a key continuously must not keep etcd busy.
    try await Task.sleep(until: lastSend + .milliseconds(20))
    lastSend = .now
    let revision: Int64?
    self.fence = nil
    do throws(EtcdError) {
      revision = try await session.change(
        values.map { (place.key($0.name.text), $0.value) }
          + [(place.writer, record.bytes), (fenceKey, Fence.bytes(number))],
        ifUnchanged: part.map { (place.key($0.text), situations[$0]?.remote.compared ?? 0) }
          + [(fenceKey, fence.revision)],
        ifExists: writer)
    } catch {
      guard [.noSpace, .denied, .tooLarge, .invalid].contains(error.kind) else { throw error }
      let subject = part.count == 1 ? "a changed key" : "\(part.count) changed keys"
      noteProblem("\(subject) could not be sent to etcd: \(error)")
      // An etcd that has just run out of space reports this also for changes that it has accepted.
      readAllNext()
      wake(after: Self.retry)
      return false
    }
    guard let revision else {
      self.fence = fence
      try agreements.settle(agreements.undecided, nil)
      readAllNext()
      wake()
      return false
    }
    self.fence = Fence(revision: revision, number: number)
    noteSent(values, revision, plan, situations)
    var agreed: [ExactString: Agreement?] = [:]
    for (key, _) in values {
      let local = situations[key]?.local
      agreed.updateValue(
        local?.value.map { value in
          Agreement(
            etcd: mirror?.comparedRevision(of: key) ?? 0, local: local?.revision,
            digest: local?.isSecret == true ? nil : Agreement.digest(value))
        }, forKey: key)
    }
    try agreements.update(agreed)
    noteProblem(nil)
    return true
  }

  private func noteSent(
    _ values: [(name: ExactString, value: Data?)], _ revision: Int64, _ plan: SyncPlan,
    _ situations: [ExactString: Situation]
  ) {
    mirror?.takeOwn(values, revision)
    writers[revision] = options.machine.host
    state.sent += values.count
    for (key, _) in values where plan.steps[key] == .upload(isConflict: true) {
      note(conflict: key, winner: options.machine.host, isItself: true)
    }
    // Keys that have changed since belong to the keys that they were changed with.
    groups.remove(values.map(\.name).filter { !changed.contains($0) })
  }

  /// - Parameter isItself: false for a key that loses because it was changed together with one that both sides have
  ///   changed.
  private func note(conflict key: ExactString, winner: String, isItself: Bool) {
    state.note(Conflict(key: key.text, winner: winner, time: .now))
    log.notice(
      isItself
        ? "\(key) changed on both sides; kept the value from \(winner)"
        : "\(key) was changed together with a key that changed on both sides; the change from \(winner) won")
  }

  private func noteProblem(_ problem: String?) {
    if let problem, state.problem != problem { log.error("\(problem)") }
    state.problem = problem
  }
}
