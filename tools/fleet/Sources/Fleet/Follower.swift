// Keeps the files of two layers as etcd has them.

package import Etcd
internal import FoundationEssentials
internal import Glibc
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
  private var state = FollowState()
  private var isReady = false
  private var statusTime: ContinuousClock.Instant?
  private var reports: AsyncStream<Void>.Continuation?
  private var sent: [String: (content: Value, time: ContinuousClock.Instant)] = [:]

  /// Throws if the folder cannot be made, or another process follows into it.
  package init(
    _ cluster: Cluster, _ options: FollowOptions, log: Logger, onReady: @escaping @Sendable () -> Void
  ) throws(StoreError) {
    (self.cluster, self.options, self.log, self.onReady) = (cluster, options, log, onReady)
    files = try FollowedFiles(options.folder)
    state.applied = files.origins
  }

  /// Follows until the task is cancelled.
  package func run() async {
    saveStatus()
    let endpoints = cluster.endpoints.shuffled()
    var failures = 0
    for turn in 0... {
      let endpoint = endpoints[turn % endpoints.count]
      let connections = state.connections
      do { try await cluster.withSession(endpoint) { try await self.follow($0) } } catch {
        if Task.isCancelled { break }
        lost(endpoint, error)
      }
      failures = state.connections == connections ? failures + 1 : 0
      if failures >= endpoints.count { becomeReady() }
      do { try await Task.sleep(for: Self.pause(failures / endpoints.count)) } catch { break }
    }
    state.isConnected = false
    saveStatus()
  }

  /// Whether the follower still takes its turns, for the watchdog.
  package func answer() {}

  /// A random time, so that the machines of a fleet do not come back all at once.
  private static func pause(_ rounds: Int) -> Duration {
    .seconds(Double.random(in: 0...1) * min(30, pow(2, Double(min(rounds, 10)))))
  }

  private func follow(_ session: Session) async throws {
    apply(try await session.read(options.group.documents), isFirst: true)
    state.isConnected = true
    state.connections += 1
    (state.endpoint, state.connectedSince) = (session.endpoint, .now)
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

  private func lost(_ endpoint: Endpoint, _ error: any Error) {
    state.isConnected = false
    let message = "\(error)"
    if state.lastError?.message != message { log.warning("\(message)") } else { log.debug("\(message)") }
    state.lastError = (.now, message)
    saveStatus()
  }

  private func becomeReady() {
    guard !isReady else { return }
    isReady = true
    onReady()
  }

  // MARK: - Hearing of changes

  private func watch(_ session: Session) async throws {
    while true {
      let next = (state.reading?.revision ?? 0) + 1
      do {
        try await session.watch(options.group.documents, from: next, interval: options.proofInterval) { output in
          try await self.take(output, session)
        }
      } catch let error as EtcdError where error.kind == .compacted {
        log.notice("\(error); reading everything again")
        apply(try await session.read(options.group.documents))
      }
    }
  }

  private func take(_ output: WatchOutput, _ session: Session) async throws {
    state.heard = .now
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
      try await Task.sleep(for: options.checkInterval * Double.random(in: 0.9...1.1))
      let present = try await session.read(options.group.documents, keysOnly: true)
      state.heard = .now
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
        if !state.problems.isEmpty, let reading = state.reading { apply(reading) } else { saveStatusNowAndThen() }
      }
      files.noteRevision(present.revision, of: present.cluster)
    }
  }

  // MARK: - The files

  /// Makes the files what was read; an older reading of the same session changes nothing.
  ///
  /// - Parameter isFirst: whether the session begins with it. An etcd that was restored from a backup has a lower
  ///   revision than before.
  private func apply(_ reading: Reading, isFirst: Bool = false) {
    state.heard = .now
    if !isFirst, let known = state.reading, known.revision > reading.revision { return }
    state.reading = reading
    let resolution = Resolution(options.group, reading.documents)
    for refusal in resolution.refusals where !state.refusals.contains(refusal) {
      let key = Place(refusal.prefix, options.group.identifier).key(refusal.document)
      log.error("\(key) is refused: \(refusal.reason)")
    }
    state.refusals = resolution.refusals
    for layer in DocumentName.layers { apply(resolution.outcomes[layer] ?? .refused, to: layer, reading) }
    state.applied = files.origins
    saveStatus()
    reports?.yield()
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
    do throws(StoreError) {
      if try files.apply(text, to: layer, origin) {
        state.changes += 1
        log.info("\(text == nil ? "removed" : "wrote") \(files.path(layer))")
      }
      state.problems[layer] = nil
    } catch {
      if state.problems[layer] != error.message { log.error("\(error.message)") }
      state.problems[layer] = error.message
    }
  }

  // MARK: - Reporting

  /// Puts a report under each prefix when it has changed, and every few minutes.
  private func report(_ session: Session) async throws {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    reports = continuation
    continuation.yield()
    sent = [:]
    let interval = options.reportInterval
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        while true {
          try await Task.sleep(for: interval * Double.random(in: 0.8...1))
          continuation.yield()
        }
      }
      defer { group.cancelAll() }
      for await _ in stream {
        // Not all machines of a fleet at once.
        try await Task.sleep(for: options.spread * Double.random(in: 0...1))
        try await sendReports(session)
      }
    }
  }

  private func sendReports(_ session: Session) async throws {
    var changes: [String: Data?] = [:]
    var contents: [String: Value] = [:]
    for place in options.group.places {
      let report = Report(state, place, options)
      let key = place.report(of: options.host)
      if let (content, time) = sent[key], content == report.content, .now - time < options.reportInterval * 0.75 {
        continue
      }
      contents[key] = report.content
      changes[key] = Data(report.value.json.utf8)
    }
    guard !changes.isEmpty else { return }
    do {
      _ = try await session.change(changes)
      for (key, content) in contents { sent[key] = (content, .now) }
      noteReport(nil)
    } catch {
      guard !error.isOfOneMember else { throw error }
      noteReport("the report is not in etcd: \(error)")
    }
  }

  private func noteReport(_ problem: String?) {
    guard state.reportProblem != problem else { return }
    if let problem { log.warning("\(problem)") }
    state.reportProblem = problem
    saveStatus()
  }

  // MARK: - The local status

  private func saveStatusNowAndThen() {
    if let statusTime, .now - statusTime < .seconds(1) { return }
    saveStatus()
  }

  private func saveStatus() {
    statusTime = .now
    do throws(StoreError) {
      if let path = options.statusFile {
        try AtomicFile.write(Data((state.status(options, process: getpid()).json + "\n").utf8), to: path)
      }
      if let path = options.metricsFile { try AtomicFile.write(Data(state.metrics(options).utf8), to: path) }
    } catch {
      log.warning("\(error.message)")
    }
  }
}
