// Keeps the values of a user the same on this machine and in etcd.

package import Etcd
internal import FoundationEssentials
package import Kept
package import Logging

/// The machine's side of `sync`.
///
/// It compares what may have changed, brings down what etcd has changed, and sends what the store has changed. The
/// store is read and written in transactions, and etcd at one revision. What it is compared with is in `Agreements`.
package actor Syncer {
  let cluster: Cluster
  let options: SyncOptions
  let log: Logger
  let local: LocalSide
  /// Excludes another process that keeps its agreements in another folder.
  private let storeLock: FolderLock
  var agreements: Agreements
  var state = SyncState()
  var mirror: Mirror?
  /// Keys that may have changed on either side since they were last compared.
  var changed: Set<ExactString> = []
  /// Whether all keys may have.
  var hasToCompareAll = false
  var groups = Groups()
  /// The revision of the store up to which `groups` and `changed` are complete.
  ///
  /// A later change of a key may be part of a transaction whose other keys are not known yet.
  var delivered: Revision = 0
  /// When a comparison began to wait for notices; nil if none does.
  var waiting: ContinuousClock.Instant?
  /// Whether nothing has been compared yet.
  var isFirst = true
  /// Whether secrets that other keys have sealed are sealed again: once, as machines may disagree about the first key.
  var isResealing = true
  /// Whether `groups` has all that was changed together.
  var areGroupsKnown = false
  /// What etcd has of the last transaction of this machine; nil while that is not known.
  var fence: Fence?
  var identity: MachineIdentity
  var isIdentityTaken = false
  var writers: [Int64: String] = [:]
  var lastSend = ContinuousClock.now
  private var events: [Event] = []
  private var hasToReadAll = false
  /// Ends with its session.
  private var wakeUp: AsyncStream<Void>.Continuation?
  /// Called once, when both sides were compared or etcd is known to be away.
  private let onReady: @Sendable () -> Void
  private var isReady = false
  private var localStatus: LocalStatus
  var reporting: Reporting
  private var session: Session?

  var place: SyncPlace { options.place }

  /// Throws if the store cannot be opened, or another process keeps it the same.
  package init(
    _ cluster: Cluster, _ options: SyncOptions, log: Logger, onReady: @escaping @Sendable () -> Void
  ) throws(StoreError) {
    (self.cluster, self.options, self.log, self.onReady) = (cluster, options, log, onReady)
    agreements = try Agreements(options.folder)
    identity = MachineIdentity("\(options.folder)/machine")
    local = try LocalSide(options)
    storeLock = try FolderLock(local.folder, mode: 0o700)
    localStatus = try LocalStatus(options.machine, outside: [options.folder, local.folder])
    reporting = Reporting(options.machine)
    if let warning = agreements.warning { log.warning("\(warning)") }
  }

  /// Runs until the task is cancelled; throws if the store or the agreements must be opened again.
  package func run() async throws {
    saveStatus()
    let notices = local.plain.notices()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for await notice in notices { await self.take(notice) }
        guard !Task.isCancelled else { return }
        try await self.checkFiles(isThorough: true)
        throw StoreError(.unavailable, "the store can no longer be read; run kept doctor, and restart kept-fleet")
      }
      group.addTask { await LocalStatus.renew(self.options.machine) { await self.saveStatusNowAndThen() } }
      group.addTask { try await self.checkFilesAgainAndAgain() }
      group.addTask {
        await self.cluster.keepConnected { session, works in
          try await self.sync(session, works)
        } failed: { _, error, isAway in
          await self.lost(error, isAway)
        }
      }
      defer { group.cancelAll() }
      try await group.next()
    }
    _ = state.link.lose(nil)
    saveStatus()
  }

  /// Whether it still takes its turns, for the watchdog.
  package func answer() {}

  func wake() { wakeUp?.yield() }

  func wake(after duration: Duration) {
    Task {
      try? await Task.sleep(for: duration)
      wake()
    }
  }

  // MARK: - The files

  private func checkFilesAgainAndAgain() async throws {
    var lastThorough: ContinuousClock.Instant?
    while true {
      let isThorough = lastThorough.map { .now - $0 >= options.machine.checkInterval } ?? true
      if isThorough { lastThorough = .now }
      try await checkFiles(isThorough: isThorough)
      do { try await Task.sleep(for: options.machine.proofInterval) } catch { return }
    }
  }

  /// Throws when the store or the agreements must be opened again.
  ///
  /// As long as it is open, it cannot be salvaged, and other programs are refused.
  private func checkFiles(isThorough: Bool) async throws {
    do throws(StoreError) {
      try local.check(isThorough: isThorough)
      try agreements.check(isThorough: isThorough)
    } catch {
      noteDamage(error.message)
      await sendLastReport()
      throw error
    }
    // A store that is busy is asked again.
    do { noteDamage(try local.salvageProblem()) } catch {}
    noteConflictFiles()
  }

  static let conflictFile = "conflict-"

  /// Names the files of values that have lost a conflict, until they are removed.
  func noteConflictFiles() {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: options.folder)) ?? []
    let files = names.filter { $0.utf8.starts(with: Self.conflictFile.utf8) }.sorted()
    let problem =
      files.isEmpty
      ? nil
      : "values that lost a conflict and do not fit into the history of the store are in \(options.folder): "
        + "\(files.joined(separator: ", ")); import them with kept import, then remove the files"
    guard state.conflictFiles != problem else { return }
    if let problem { log.warning("\(problem)") }
    state.conflictFiles = problem
    saveStatus()
    reporting.note()
  }

  private func noteDamage(_ damage: String?) {
    guard state.damage != damage else { return }
    if let damage { log.error("\(damage)") }
    state.damage = damage
    saveStatus()
    reporting.note()
  }

  /// Reports why this program ends, if etcd answers soon.
  private func sendLastReport() async {
    guard let session else { return }
    await withTaskGroup(of: Void.self) { group in
      group.addTask { try? await self.sendReport(session) }
      group.addTask { try? await Task.sleep(for: .seconds(3)) }
      await group.next()
      group.cancelAll()
    }
  }

  private func take(_ notice: Notice) {
    delivered = max(delivered, notice.revision)
    if notice.mayHaveMissed { (hasToCompareAll, areGroupsKnown) = (true, false) }
    // What this process has written is agreed.
    if notice.origin != .process {
      let keys = Set(notice.changes.map(\.key.exact))
      changed.formUnion(keys)
      if notice.revisions.lowerBound == notice.revision { groups.join(keys) } else { areGroupsKnown = false }
    }
    if !state.link.isConnected { saveStatusNowAndThen() }
    wake()
  }

  private func lost(_ error: any Error, _ isAway: Bool) {
    session = nil
    log.log(level: state.link.lose(error) ? .warning : .debug, "\(error)")
    saveStatus()
    if isAway { becomeReady() }
  }

  private func becomeReady() {
    guard !isReady else { return }
    isReady = true
    onReady()
  }

  // MARK: - A session

  private func sync(_ session: Session, _ works: Latch) async throws {
    try await begin(session)
    self.session = session
    let (wakes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    wakeUp = continuation
    try await work(session)
    // Not before: a session that ends each time in its first comparison does not work.
    works.raise()
    state.link.connect(to: session.endpoint)
    saveStatus()
    log.info("keeping \(options.store) the same as \(place.values) at \(session.endpoint)")
    becomeReady()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await self.watch(session) }
      group.addTask { try await self.checkAgainAndAgain(session) }
      group.addTask { try await self.report(session) }
      group.addTask { for await _ in wakes { try await self.work(session) } }
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  /// Reads everything, and opens the agreements with this etcd.
  private func begin(_ session: Session) async throws {
    var reading = try await readEverything(session)
    if Mirror(reading, place).writer == nil {
      let record = WriterRecord(host: options.machine.host, keys: Fence.newNumber())
      _ = try await session.change([(place.writer, record.bytes)], ifUnchanged: [(place.writer, 0)])
      reading = try await readEverything(session)
    }
    let (first, cluster) = (try writer(reading), reading.cluster)
    let sides = Sides(
      cluster: cluster, keys: WriterRecord(first).keys, prefix: place.place.prefix, store: local.identity)
    let isNew = try agreements.open(sides, salvage: try local.salvage())
    try settleTaking()
    if isNew { log.notice("the store or etcd was replaced: everything is compared again") }
    reading = try await decide(reading, session, isNew: isNew)
    _ = try writer(reading)
    try settleSalvage()
    (mirror, events, hasToReadAll) = (Mirror(reading, place), [], false)
    state.link.heard = .now
    hasToCompareAll = true
  }

  private func writer(_ reading: Reading) throws(StoreError) -> Item {
    if let writer = Mirror(reading, place).writer { return writer }
    throw StoreError(.conflict, "another program keeps deleting \(place.writer); find it and stop it")
  }

  private func watch(_ session: Session) async throws {
    try await session.watch([place.range], from: (mirror?.revision ?? 0).next, interval: options.machine.proofInterval)
    { output in
      await self.take(output)
    }
  }

  private func take(_ output: WatchOutput) {
    state.link.heard = .now
    guard case .events(let events) = output else {
      return saveStatusNowAndThen()
    }
    self.events += events
    wake()
  }

  /// Compares what the watch has told with what there is, and everything that was refused anew.
  private func checkAgainAndAgain(_ session: Session) async throws {
    while true {
      try await Task.sleep(for: options.machine.checkInterval * Double.random(in: 0.9...1.1))
      // A majority of the members answers, so that a member that is cut off is noticed, too.
      let present = Mirror(try await session.read([place.range], keysOnly: true), place)
      state.link.heard = .now
      // Watches do not tell of them.
      if mirror?.unreadable != present.unreadable { readAllNext() }
      if mirror?.lacks(present) == true {
        // An event may be on its way.
        try await Task.sleep(for: .seconds(1))
        if mirror?.lacks(present) == true {
          state.missed += 1
          throw EtcdError(.unavailable, "the watch of etcd at \(session.endpoint) missed a change")
        }
      }
      hasToCompareAll = true
      wake()
    }
  }

  /// Does everything that there is to do.
  private func work(_ session: Session) async throws {
    while !Task.isCancelled {
      try await takeEvents(session)
      guard hasToCompareAll || !changed.isEmpty else { break }
      let (keys, areAll) = (changed, hasToCompareAll)
      (changed, hasToCompareAll) = ([], false)
      var isDone = false
      defer {
        if !isDone {
          changed.formUnion(keys)
          hasToCompareAll = hasToCompareAll || areAll
        }
      }
      isDone = try await compare(areAll ? nil : keys, session)
      if !isDone { break }
    }
    state.pending = state.storeProblem == nil ? changed.count : nil
    state.revision = mirror?.revision
    noteNames()
    saveStatus()
    reporting.note()
  }

  private func noteNames() {
    guard let mirror, mirror.unreadable > 0 else { return state.nameProblem = nil }
    let (only, example) = (
      mirror.strange.first.map { ": \($0)" } ?? "", mirror.strange.first.map { ", such as \($0)" } ?? ""
    )
    let problem =
      mirror.unreadable == 1
      ? "a key under \(place.values) is not UTF-8 and stays in etcd\(only); delete it"
      : "\(mirror.unreadable) keys under \(place.values) are not UTF-8 and stay in etcd\(example); delete them"
    if state.nameProblem != problem { log.error("\(problem)") }
    state.nameProblem = problem
  }

  private func takeEvents(_ session: Session) async throws {
    if hasToReadAll {
      let reading = try await decide(try await readEverything(session), session)
      let later = Mirror(reading, place)
      guard later.writer != nil else { throw EtcdError(.unavailable, "\(place.writer) was deleted") }
      changed.formUnion(mirror?.differences(later) ?? [])
      (mirror, hasToReadAll) = (later, false)
    }
    let events = events
    self.events = []
    guard let revision = events.map(\.revision).max(), let known = mirror, revision > known.revision else { return }
    if known.knows(events) {
      mirror?.advance(to: revision)
      return
    }
    let reading = try await session.read(
      [place.range], at: revision, changedFrom: known.revision.next)
    guard let (names, isComplete) = mirror?.take(reading, events) else { return }
    // Whether the user's settings are to be removed everywhere cannot be told from it.
    guard mirror?.writer != nil else { throw EtcdError(.unavailable, "\(place.writer) was deleted") }
    changed.formUnion(names)
    if !isComplete {
      state.missed += 1
      hasToReadAll = true
      try await takeEvents(session)
    }
  }

  /// Everything is to be read from etcd before the next comparison.
  func readAllNext() { hasToReadAll = true }

  // MARK: - Reporting

  private func report(_ session: Session) async throws {
    reporting.begin()
    try await reporting.run { try await self.sendReport(session) }
  }

  private func sendReport(_ session: Session) async throws {
    let key = place.place.report(of: options.machine.host, identity.text)
    let due = reporting.due([key: Report(state, identity, options)])
    guard !due.isEmpty else { return }
    var problem: String?
    switch try await session.put(due, after: reporting.revisions) {
    case .put(let revision): reporting.noteSent(due, at: revision)
    case .refused(let reason): problem = reason
    case .isTaken:
      // Not while a transaction of the old one is on its way.
      isIdentityTaken = true
      readAllNext()
      return wake()
    }
    guard state.reportProblem != problem else { return }
    if let problem { log.warning("\(problem)") }
    state.reportProblem = problem
    saveStatus()
  }

  private func saveStatusNowAndThen() { if localStatus.isDue { saveStatus() } }

  private func saveStatus() {
    if !state.link.isConnected, state.pending != nil { state.pending = changed.count }
    localStatus.save(state.status(options), state.metrics(options), log)
  }
}
