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
        localRevision: reading.storeRevision, remoteRevision: mirror.revision)
    }
    if !hasReadHistory {
      hasReadHistory = true
      // What a new machine has was not changed against anything in etcd: one conflict shall not cost it everything.
      if !agreements.table.isEmpty { joinByHistory(SyncPlan(situations, groups, options).localChanges) }
    }
    let plan = SyncPlan(situations, groups, options)
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
    }
    guard reading.revision > delivered, hasReadHistory else {
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
    // not known: everything is compared, and what no notice has told of counts as changed together.
    guard keys == nil else {
      hasToCompareAll = true
      wake()
      return nil
    }
    waiting = nil
    groups.join(reading.values.filter { $0.value.revision ?? 0 > delivered }.keys)
    delivered = reading.revision
    return reading
  }

  private static let patience = Duration.seconds(1)

  /// Finds out which changes were made together while this program did not run.
  ///
  /// The history merges the changes that one program makes to a key within a moment, and so hides what else a
  /// transaction has changed: transactions that were close together count as one.
  private func joinByHistory(_ keys: Set<ExactString>) {
    guard !keys.isEmpty, let history = try? local.plain.history() else { return }
    var near: Set<ExactString> = []
    var time: Timestamp?
    for change in history.changes where keys.contains(change.key.exact) {
      if let time, abs(time.seconds - change.time.seconds) > 1 {
        groups.join(near)
        near = []
      }
      near.insert(change.key.exact)
      time = change.time
    }
    groups.join(near)
  }

  private func noteSteps(_ plan: SyncPlan, _ situations: [ExactString: Situation]) throws(StoreError) {
    var agreed: [ExactString: Agreement?] = [:]
    for (key, step) in plan.steps {
      var refusal: String?
      switch step {
      case .agree: agreed.updateValue(situations[key]?.agreement, forKey: key)
      case .refuse(let reason): refusal = reason
      default: break
      }
      note(refusal, for: key)
      if step == .withhold { state.withheld.insert(key) } else { state.withheld.remove(key) }
    }
    try agreements.update(agreed)
    groups.remove(plan.keys { $0 == .agree || $0 == .nothing })
  }

  private func note(_ refusal: String?, for key: ExactString) {
    if let refusal, state.refusals[key] != refusal { log.error("\(place.values)\(key) is refused: \(refusal)") }
    state.refusals[key] = refusal
  }

  // MARK: - Down

  private func bringDown(
    _ plan: SyncPlan, _ situations: [ExactString: Situation], _ session: Session
  ) async throws -> Bool {
    let keys = plan.downloads
    guard !keys.isEmpty else { return true }
    let names = try await hosts(Set(keys.compactMap { situations[$0]?.remote.revision }), session)
    let isConflict = keys.contains { plan.steps[$0] == .download(isConflict: true) }
    let downloads = keys.compactMap { key in
      situations[key].map { Download(key: key, value: $0.remote.present(nil), local: $0.local) }
    }
    let shown = Set(names.values).sorted()
    let tag = "fleet:\(shown.prefix(5).joined(separator: ","))\(isConflict ? ":conflict" : "")"
    do {
      guard let refusals = try local.apply(downloads, tag: tag) else { return false }
      for (key, reason) in refusals { note(reason, for: key) }
      let done = keys.subtracting(refusals.keys)
      try agree(done, situations)
      for key in done where plan.steps[key] == .download(isConflict: true) {
        note(conflict: key, winner: names[situations[key]?.remote.revision ?? 0] ?? Self.unknown)
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
    let uploads = UploadParts(plan.uploads, groups, situations.mapValues(\.local))
    for key in uploads.tooLarge {
      note("the value has over \(UploadParts.mostBytes) bytes, which etcd does not take; make it smaller", for: key)
    }
    // Meanwhile, `changed` may take up the same keys anew.
    for part in uploads.parts {
      guard try await send(part, plan, situations, session) else { return false }
    }
    return true
  }

  /// Sends keys together; returns false if etcd has changed one of them, or does not take them now.
  private func send(
    _ part: [ExactString], _ plan: SyncPlan, _ situations: [ExactString: Situation], _ session: Session
  ) async throws -> Bool {
    var noted: [ExactString: Agreement?] = [:]
    for key in part {
      guard let situation = situations[key] else { continue }
      var agreement = situation.agreed ?? Agreement(etcd: 0, local: 0)
      agreement.sent = Agreement.Sent(local: situation.local.revision, value: situation.local.value)
      noted[key] = agreement
    }
    try agreements.update(noted)
    guard let writer = mirror?.writer else { return false }
    let record = WriterRecord(host: options.machine.host, keys: WriterRecord(writer).keys)
    // A program that changes a key without end shall not keep etcd busy.
    try await Task.sleep(until: lastSend + .milliseconds(20))
    lastSend = .now
    let values = part.map { key in
      (name: key, value: situations[key]?.local.value.map { Data($0.json.utf8) })
    }
    do {
      let revision = try await session.change(
        values.map { (place.key($0.name.text), $0.value) } + [(place.writer, record.bytes)],
        ifUnchanged: part.map { (place.key($0.text), situations[$0]?.remote.compared ?? 0) }, ifExists: writer)
      guard let revision else {
        readAllNext()
        wake()
        return false
      }
      noteSent(values, revision, plan, situations)
    } catch {
      guard [.noSpace, .denied, .tooLarge, .invalid].contains(error.kind) else { throw error }
      noteProblem("\(part.count) changed keys are not in etcd: \(error)")
      wake(after: Self.retry)
      return false
    }
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
      note(conflict: key, winner: options.machine.host)
    }
    // What has changed meanwhile belongs to what it was changed with.
    groups.remove(values.map(\.name).filter { !changed.contains($0) })
  }

  private func note(conflict key: ExactString, winner: String) {
    state.note(Conflict(key: key.text, winner: winner, time: .now))
    log.notice("\(key) had changed on both sides; that of \(winner) counts")
  }

  private func noteProblem(_ problem: String?) {
    if let problem, state.problem != problem { log.error("\(problem)") }
    state.problem = problem
  }
}
