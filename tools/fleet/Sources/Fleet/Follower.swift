// Keeps the files of two layers as etcd has them.

package import Etcd
internal import FoundationEssentials
package import Kept
package import Logging

/// The machine's side: reads the documents, watches them, and writes what they say to the files.
///
/// A watch only says that something has changed and at which revision: the documents are then read together at that
/// revision. So a transaction is never seen in part, and an event that is lost, repeated or late does no harm.
package actor Follower {
  private let cluster: Cluster
  private let options: FollowOptions
  private let log: Logger
  /// Called once, when the files are as etcd has them or etcd is known to be away.
  private let onReady: @Sendable () -> Void
  private var files: FollowedFiles
  private var identity: MachineIdentity
  private var state = FollowState()
  private var isReady = false
  private var localStatus: LocalStatus
  private var reporting: Reporting

  /// Throws if the folder cannot be made, or another process follows into it.
  package init(
    _ cluster: Cluster, _ options: FollowOptions, log: Logger, onReady: @escaping @Sendable () -> Void
  ) throws(StoreError) {
    (self.cluster, self.options, self.log, self.onReady) = (cluster, options, log, onReady)
    files = try FollowedFiles(options.folder)
    identity = MachineIdentity("\(options.folder)/.kept-fleet-machine")
    (localStatus, reporting) = (LocalStatus(options.machine), Reporting(options.machine))
    state.applied = files.origins
  }

  /// Follows until the task is cancelled; throws if the folder was removed or replaced.
  package func run() async throws {
    saveStatus()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await LocalStatus.renew(self.options.machine) { await self.saveStatusNowAndThen() } }
      group.addTask {
        await self.cluster.keepConnected { session, works in
          try await self.follow(session, works)
        } failed: { endpoint, error, isAway in
          await self.lost(error, isAway)
        }
      }
      group.addTask { try await self.checkFolderAgainAndAgain() }
      defer { group.cancelAll() }
      try await group.next()
    }
    _ = state.link.lose(nil)
    saveStatus()
  }

  /// Whether the follower still takes its turns, for the watchdog.
  package func answer() {}

  private func follow(_ session: Session, _ works: Latch) async throws {
    apply(try await session.read(options.group.documents), isFirst: true)
    works.raise()
    state.link.connect(to: session.endpoint)
    saveStatus()
    becomeReady()
    let revision = state.reading?.revision ?? 0
    log.info("following \(options.group.identifier) at \(session.endpoint) from revision \(revision)")
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await self.watch(session) }
      group.addTask { try await self.checkAgainAndAgain(session) }
      group.addTask { try await self.report(session) }
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  private func lost(_ error: any Error, _ isAway: Bool) {
    log.log(level: state.link.lose(error) ? .warning : .debug, "\(error)")
    saveStatus()
    if isAway { becomeReady() }
  }

  private func becomeReady() {
    guard !isReady else { return }
    isReady = true
    onReady()
  }

  // MARK: - Hearing of changes

  private func watch(_ session: Session) async throws {
    while true {
      let next = (state.reading?.revision ?? 0).next
      do {
        let documents = options.group.documents
        try await session.watch(documents, from: next, interval: options.machine.proofInterval) { output in
          try await self.take(output, session)
        }
      } catch let error as EtcdError where error.kind == .compacted {
        log.notice("\(error); reading everything again")
        apply(try await session.read(options.group.documents))
      }
    }
  }

  private func take(_ output: WatchOutput, _ session: Session) async throws {
    state.link.heard = .now
    guard case .events(let events) = output, let last = events.map(\.revision).max(),
      last > state.reading?.revision ?? 0
    else { return saveStatusNowAndThen() }
    // At the revision of the event, this member has it: the others need not be asked.
    do { apply(try await session.read(options.group.documents, at: last)) } catch {
      guard error.kind == .compacted else { throw error }
      apply(try await session.read(options.group.documents))
    }
  }

  /// Compares what the watch has told with what there is.
  ///
  /// A majority of the members answers, so that a member that is cut off is noticed, too.
  private func checkAgainAndAgain(_ session: Session) async throws {
    while true {
      try await Task.sleep(for: options.machine.checkInterval * Double.random(in: 0.9...1.1))
      let present = try await session.read(options.group.documents, keysOnly: true)
      state.link.heard = .now
      if present.revisions != state.reading?.revisions {
        // An event may be on its way.
        try await Task.sleep(for: .seconds(1))
        if state.reading?.revision ?? 0 < present.revision, present.revisions != state.reading?.revisions {
          state.missed += 1
          apply(try await session.read(options.group.documents))
          throw EtcdError(.unavailable, "the watch of etcd at \(session.endpoint) has missed a change")
        }
      } else {
        if var reading = state.reading, reading.revision < present.revision {
          reading.revision = present.revision
          state.reading = reading
        }
        // The files may have been changed on this machine.
        if let reading = state.reading { apply(reading) }
      }
      files.noteRevision(present.revision, of: present.cluster)
    }
  }

  // MARK: - The files

  private func checkFolderAgainAndAgain() async throws {
    while true {
      try files.checkInPlace()
      do { try await Task.sleep(for: options.machine.proofInterval) } catch { return }
    }
  }

  /// Makes the files what was read; an older reading of the same session changes nothing.
  ///
  /// - Parameter isFirst: whether the session begins with it. An etcd that was restored from a backup has a lower
  ///   revision than before.
  private func apply(_ reading: Reading, isFirst: Bool = false) {
    state.link.heard = .now
    if !isFirst, let known = state.reading, known.revision > reading.revision { return }
    state.reading = reading
    let resolution = Resolution(options.group, reading.documents)
    for refusal in resolution.refusals where !state.refusals.contains(refusal) {
      let key = Place(refusal.prefix, options.group.identifier).key(refusal.document)
      // The reason may have a value.
      log.error("\(key) is refused; the report and the status of this machine say why")
    }
    state.refusals = resolution.refusals
    for layer in DocumentName.layers { apply(resolution.outcomes[layer] ?? .refused, to: layer, reading) }
    state.applied = files.origins
    saveStatus()
    reporting.note()
  }

  private func apply(_ outcome: LayerOutcome, to layer: DocumentName, _ reading: Reading) {
    let text: String?
    switch outcome {
    case .refused: return
    case .absent: text = nil
    case .text(let merged): text = merged
    }
    let sources = options.group.places.compactMap { place in
      reading[place.key(layer)].map { (place.prefix, Stamp(revision: $0.revision, version: $0.version)) }
    }
    let origin = Origin(cluster: reading.cluster, revision: reading.revision, sources: Dictionary(sources) { $1 })
    let isWritten = files.origins[layer].map { $0.cluster == origin.cluster && $0.sources == origin.sources } ?? false
    do throws(StoreError) {
      if try files.apply(text, to: layer, origin) {
        state.changes += 1
        if isWritten, text != nil {
          log.warning("\(files.path(layer)) was changed or removed on this machine; wrote it again, as it is in etcd")
        } else {
          log.info("\(text == nil ? "removed" : "wrote") \(files.path(layer))")
        }
      }
      state.problems[layer] = nil
    } catch {
      if state.problems[layer] != error.message { log.error("\(error.message)") }
      state.problems[layer] = error.message
    }
  }

  // MARK: - Reporting

  /// Puts a report under each prefix.
  private func report(_ session: Session) async throws {
    reporting.begin()
    try await reporting.run { try await self.sendReports(session) }
  }

  private func sendReports(_ session: Session) async throws {
    let reports = options.group.places.map {
      ($0.report(of: options.machine.host, identity.text), Report(state, identity, $0, options))
    }
    let due = reporting.due(Dictionary(reports) { $1 })
    guard !due.isEmpty else { return }
    var problem: String?
    switch try await session.put(due, after: reporting.revisions) {
    case .put(let revision): reporting.noteSent(due, at: revision)
    case .refused(let reason): problem = reason
    case .isTaken:
      identity.becomeAnother(log)
      return reporting.note()
    }
    guard state.reportProblem != problem else { return }
    if let problem { log.warning("\(problem)") }
    state.reportProblem = problem
    saveStatus()
  }

  // MARK: - The local status

  private func saveStatusNowAndThen() { if localStatus.isDue { saveStatus() } }

  private func saveStatus() { localStatus.save(state.status(options), state.metrics(options), log) }
}
