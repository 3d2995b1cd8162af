// One comparison of both sides, and what follows from it.

internal import Etcd
internal import FoundationEssentials
internal import Kept
internal import Logging

extension Syncer {
  /// Compares keys, nil for all, and makes both sides the same.
  ///
  /// - Returns: false if it has to be done again, when something has changed or after a while.
  func compare(_ keys: Set<ExactString>?, _ session: Session) async throws -> Bool {
    guard let mirror, let reading = try read(keys, mirror) else { return false }
    var situations: [ExactString: Situation] = [:]
    for key in keys ?? Set(reading.values.keys).union(mirror.items.keys).union(agreements.table.keys) {
      situations[key] = Situation(
        local: reading.values[key] ?? .absent, remote: RemoteValue(mirror, key), agreed: agreements.table[key],
        localRevision: reading.storeRevision,
        remoteRevision: mirror.revision)
    }
    // What a new machine has was not changed against anything in etcd: one conflict shall not cost it everything.
    if isFirst, agreements.table.isEmpty { areGroupsKnown = true }
    isFirst = false
    var plan = SyncPlan(situations, groups, options)
    if !areGroupsKnown, plan.hasConflict || uploadParts(plan, situations).parts.count > 1 {
      joinByHistory(plan.localChanges, situations)
      plan = SyncPlan(situations, groups, options)
    }
    try noteSteps(plan, situations)
    guard try await bringDown(plan, situations, session) else { return false }
    return try await sendUp(plan, situations, session)
  }

  /// Reads the store; nil if notices have to be waited for.
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
    // The notice has merged with others, to nothing, or the key changes without end. What else was changed with it is
    // not known: everything is compared.
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

  /// Finds out which changes were made together where no notice has told: this program did not run, or was slow.
  ///
  /// Only what has changed since both sides were the same counts. The history has each commit whole. Where it has
  /// folded commits of one program to the same keys, it has their revisions, and they count as one, also for keys that
  /// have become what they were.
  private func joinByHistory(_ keys: Set<ExactString>, _ situations: [ExactString: Situation]) {
    areGroupsKnown = true
    // Of keys that the history lacks, all may have been changed together. Of those that were changed before a salvage,
    // which has lost the history, each is taken alone: one conflict shall not cost everything that was not sent.
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
      // A key of which nothing was agreed began when it was last absent.
      if agreed == nil, change.old == .absent { begun.insert(key) }
      unknown.remove(key)
      while let range = folded.last, range.lowerBound > change.revision { folded.removeLast() }
      // The last of the commits that were folded comes right behind them.
      let isFolded = folded.last.map { change.revision - 1 <= $0.upperBound } ?? false
      together[isFolded ? folded.last?.lowerBound ?? 0 : change.revision, default: []].insert(key)
    }
    for key in unknown {
      // A change that was folded to nothing is not listed, but what it was made together with may be. A removal has no
      // revision; one that is not listed was folded with what was agreed.
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
        // What is deleted in etcd now is not removed here when the key is not secret any more.
        if situations[key]?.agreed != nil { agreed.updateValue(nil, forKey: key) }
        if situations[key]?.local.isDeclarationLost == true {
          refusal = LocalValue.lostDeclaration
        } else if situations[key]?.remote.value != nil {
          refusal = "it is declared secret, and etcd has a value of it; delete that, or give --secrets on all machines"
        }
      default: break
      }
      note(refusal, for: key)
      if step == .withhold { state.withheld.insert(key) } else { state.withheld.remove(key) }
    }
    try agreements.update(agreed)
    groups.remove(plan.keys { $0 == .agree || $0 == .nothing })
  }

  private func note(_ refusal: String?, for key: ExactString) {
    // The reason may have the value.
    if let refusal, state.refusals[key] != refusal {
      log.error(
        "\(place.values)\(LongName.shown(key.text)) is refused; the report and the status of this machine say why")
    }
    state.refusals[key] = refusal
  }

  // MARK: - Down

  /// Takes over what etcd has changed, and then, in a commit of its own, what replaces changes of this machine.
  ///
  /// In between, the store has what etcd has, and these changes on top. A commit has one tag: so only what has lost is
  /// called a conflict.
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
      try agreements.note(taking(keys, situations))
      defer { try? agreements.note(nil) }
      guard let refusals = try local.apply(downloads, tag: tag) else { return false }
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

  private func taking(_ keys: Set<ExactString>, _ situations: [ExactString: Situation]) -> Taking {
    let taken = keys.compactMap { key in situations[key].map { (key, $0.remote.compared) } }
    let after = keys.compactMap { situations[$0]?.localRevision }.min() ?? 0
    return Taking(keys: Dictionary(taken) { $1 }, after: after)
  }

  /// Finds out whether what was about to go into the store did before this program was killed.
  ///
  /// What the user has changed since is then a change of what etcd has, and no conflict with it.
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

  /// After a salvage, forgets what was agreed of keys that the store has lost: they come from etcd again.
  ///
  /// All others have the revisions that they had. The history begins anew at a salvage, and has what was removed since.
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
    log.warning("the store was damaged and salvaged; \(lost.count) keys are missing, and come from etcd if it has them")
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
      // No watch has told of it.
      if let agreed = situation.agreed?.etcd, agreed > 0 { deleted.append((key, agreed)) }
    }
    for (key, _) in deleted { revisions[key] = 0 }
    guard let now = mirror?.revision, !deleted.isEmpty else { return revisions }
    let found = try await session.deletions(
      deleted.map { (key: place.key($0.key.text), revision: $0.agreed) }, until: now)
    for (deletion, revision) in zip(deleted, found) { revisions[deletion.key] = revision ?? 0 }
    return revisions
  }

  /// Writes down that the store has what etcd has, or has changed since.
  private func agree(_ keys: Set<ExactString>, _ situations: [ExactString: Situation]) throws {
    let present = try local.read(keys).values
    var agreed: [ExactString: Agreement?] = [:]
    for key in keys {
      guard let situation = situations[key], let now = present[key] else { continue }
      let isSame = now.value == situation.remote.present(now.declaration)
      agreed.updateValue(
        isSame && now.value == nil
          ? nil : Agreement(etcd: situation.remote.compared, local: isSame ? now.revision : 0),
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
    for start in stride(from: 0, to: missing.count, by: Session.mostOperations) {
      try await lookUp(Array(missing[start..<min(start + Session.mostOperations, missing.count)]), session)
    }
    return Dictionary(uniqueKeysWithValues: revisions.map { ($0, writers[$0] ?? Self.unknown) })
  }

  private func lookUp(_ revisions: [Int64], _ session: Session) async throws {
    let records: [Item?]
    do { records = try await session.read(place.writer, at: revisions) } catch {
      guard error.kind == .compacted else { throw error }
      guard revisions.count > 1 else { return }
      let half = revisions.count / 2
      try await lookUp(Array(revisions[..<half]), session)
      return try await lookUp(Array(revisions[half...]), session)
    }
    for (revision, record) in zip(revisions, records) {
      // A change without the record was made by another program.
      writers[revision] = record.flatMap { $0.revision == revision ? WriterRecord($0).host : nil } ?? Self.unknown
    }
  }

  // MARK: - Up

  private func sendUp(
    _ plan: SyncPlan, _ situations: [ExactString: Situation], _ session: Session
  ) async throws -> Bool {
    let uploads = uploadParts(plan, situations)
    for key in uploads.tooLarge {
      note("the value has over \(UploadParts.mostBytes) bytes, which etcd does not take; make it smaller", for: key)
    }
    // At the same time, `changed` may take up the same keys again.
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
    let number = Fence.newNumber()
    var noted: [ExactString: Agreement?] = [:]
    for key in part {
      guard let situation = situations[key] else { continue }
      var agreement = situation.agreed ?? Agreement(etcd: 0, local: 0)
      agreement.sent = Agreement.Sent(
        number: number, local: situation.local.revision, isFirst: situation.agreed == nil)
      noted[key] = agreement
    }
    // Also when the power fails, this machine knows what it has sent.
    try agreements.update(noted, durability: .durable)
    let record = WriterRecord(host: options.machine.host, keys: WriterRecord(writer).keys)
    // A program that changes a key without end shall not keep etcd busy.
    try await Task.sleep(until: lastSend + .milliseconds(20))
    lastSend = .now
    let values = part.map { key in
      (name: key, value: situations[key]?.local.value.map { Data($0.json.utf8) })
    }
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
      noteProblem("\(part.count) changed keys are not in etcd: \(error)")
      // An etcd whose space has just run out says so also of what it has taken.
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
    for (key, value) in values {
      let etcd = mirror?.comparedRevision(of: key) ?? 0
      agreed.updateValue(
        value == nil ? nil : Agreement(etcd: etcd, local: situations[key]?.local.revision), forKey: key)
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
    // What has changed since belongs to what it was changed with.
    groups.remove(values.map(\.name).filter { !changed.contains($0) })
  }

  /// - Parameter isItself: false for a key that loses because it was changed together with one that both sides have
  ///   changed.
  private func note(conflict key: ExactString, winner: String, isItself: Bool) {
    state.note(Conflict(key: key.text, winner: winner, time: .now))
    let what = isItself ? "changed on both sides" : "was changed together with a key that changed on both sides"
    log.notice("\(key) \(what); kept the value from \(winner)")
  }

  private func noteProblem(_ problem: String?) {
    if let problem, state.problem != problem { log.error("\(problem)") }
    state.problem = problem
  }
}
