// Keeps the files of two layers equal to their documents in etcd.

package import Etcd
internal import FoundationEssentials
package import Kept
package import Logging

/// The machine's side: reads the documents, watches them, and writes them to the files.
///
/// A watch only says that something has changed and at which revision: the documents are then read together at that
/// revision. So a transaction is never seen in part, and an event that is lost, repeated or late does no harm.
package actor Follower {
  private let cluster: Cluster
  private let options: FollowOptions
  private let log: Logger
  /// Called once, when the files are up to date or etcd is known to be unreachable.
  private let onReady: @Sendable () -> Void
  private var files: FollowedFiles
  private var identity: MachineIdentity
  private var state = FollowState()
  /// Those whose documents this session may read.
  private var places: [Place] = []
  private var isReady = false
  private var localStatus: LocalStatus
  private var reporting: Reporting

  /// Throws if the folder cannot be made, or another process writes to it.
  package init(
    _ cluster: Cluster, _ options: FollowOptions, log: Logger, onReady: @escaping @Sendable () -> Void
  ) throws(StoreError) {
    (self.cluster, self.options, self.log, self.onReady) = (cluster, options, log, onReady)
    files = try FollowedFiles(options.folder)
    identity = MachineIdentity("\(options.folder)/.kept-fleet-machine")
    localStatus = try LocalStatus(options.machine, outside: [options.folder])
    reporting = Reporting(options.machine)
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
    let reading = try await readFirst(session)
    try await noteLosses(reading, session)
    apply(reading, isFirst: true)
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

  private var documents: [KeyRange] { places.flatMap(\.documents) }

  /// Reads the documents of all groups, or of those whose documents this machine may read.
  private func readFirst(_ session: Session) async throws(EtcdError) -> Reading {
    var unreadable: [Place: String] = [:]
    places = options.group.places
    do throws(EtcdError) {
      let reading = try await session.read(documents)
      state.unreadable = [:]
      return reading
    } catch {
      guard error.kind == .denied, places.count > 1 else { throw error }
      for place in places {
        guard let reason = try await denial(of: place, session) else { continue }
        unreadable[place] = "the documents under \(place.prefix) cannot be read: \(reason), or correct --prefix"
      }
      places.removeAll { unreadable[$0] != nil }
      guard !places.isEmpty else { throw error }
    }
    for (place, problem) in unreadable where state.unreadable[place] == nil { log.error("\(problem)") }
    state.unreadable = unreadable
    return try await session.read(documents)
  }

  /// Finds the documents that were not removed, and that etcd has lost: it is another one, or was restored.
  private func noteLosses(_ reading: Reading, _ session: Session) async throws {
    for (layer, origin) in files.origins {
      let absent = places.compactMap { place -> (key: String, revision: Int64, prefix: String)? in
        let key = place.key(layer)
        guard reading[key] == nil, let source = origin.sources[place.prefix] else { return nil }
        return (key, source.stamp.revision, place.prefix)
      }
      guard origin.cluster == reading.cluster, origin.revision <= reading.revision else {
        try files.noteLoss(of: layer, under: absent.map(\.prefix))
        continue
      }
      let past = try await session.past(absent.map { ($0.key, $0.revision) }, keysOnly: true)
      let lost = zip(absent, past).filter { $1.lacksChange(at: $0.revision) }
      try files.noteLoss(of: layer, under: lost.map(\.0.prefix))
    }
  }

  /// Why etcd does not let this machine read the documents of a group; nil if it does.
  private func denial(of place: Place, _ session: Session) async throws(EtcdError) -> String? {
    do throws(EtcdError) { _ = try await session.read(place.documents, keysOnly: true) } catch {
      guard error.kind == .denied else { throw error }
      return error.message
    }
    return nil
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

  // MARK: - Receiving changes

  private func watch(_ session: Session) async throws {
    while true {
      let next = (state.reading?.revision ?? 0).next
      do {
        try await session.watch(documents, from: next, interval: options.machine.proofInterval) { output in
          try await self.take(output, session)
        }
      } catch let error as EtcdError where error.kind == .compacted {
        log.notice("\(error); reading everything again")
        apply(try await session.read(documents))
      }
    }
  }

  private func take(_ output: WatchOutput, _ session: Session) async throws {
    state.link.heard = .now
    guard case .events(let events) = output, let last = events.map(\.revision).max(),
      last > state.reading?.revision ?? 0
    else { return saveStatusNowAndThen() }
    // At the revision of the event, this member has it: the other members need not be queried.
    do { apply(try await session.read(documents, at: last)) } catch {
      guard error.kind == .compacted else { throw error }
      apply(try await session.read(documents))
    }
  }

  /// Compares the changes that the watch has reported with the present documents.
  ///
  /// A majority of the members answers, so that a member that is cut off is noticed, too.
  private func checkAgainAndAgain(_ session: Session) async throws {
    while true {
      try await Task.sleep(for: options.machine.checkInterval * Double.random(in: 0.9...1.1))
      let present = try await session.read(documents, keysOnly: true)
      state.link.heard = .now
      for place in state.unreadable.keys {
        guard try await denial(of: place, session) == nil else { continue }
        throw EtcdError(.unavailable, "etcd at \(session.endpoint) now permits this machine to read \(place.prefix)")
      }
      if present.revisions != state.reading?.revisions {
        // An event may be on its way.
        try await Task.sleep(for: .seconds(1))
        if state.reading?.revision ?? 0 < present.revision, present.revisions != state.reading?.revisions {
          state.missed += 1
          apply(try await session.read(documents))
          throw EtcdError(.unavailable, "the watch of etcd at \(session.endpoint) missed a change")
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

  /// Writes a reading to the files; an older reading of the same session changes nothing.
  ///
  /// - Parameter isFirst: whether the session begins with it. An etcd that was restored from a backup has a lower
  ///   revision than before.
  private func apply(_ reading: Reading, isFirst: Bool = false) {
    state.link.heard = .now
    if !isFirst, let known = state.reading, known.revision > reading.revision { return }
    state.reading = reading
    let resolution = Resolution(
      options.group, reading.documents, files: files.origins, past: files.past, forgotten: files.forgotten,
      unreadable: Set(state.unreadable.keys))
    for refusal in resolution.refusals where !state.refusals.contains(refusal) {
      let key = Place(refusal.prefix, options.group.identifier).key(refusal.document)
      // The reason may have a value.
      log.error("\(key) is refused; see the status of this machine")
    }
    state.refusals = resolution.refusals
    for layer in DocumentName.layers { apply(resolution, to: layer, reading) }
    state.applied = files.origins
    saveStatus()
    reporting.note()
  }

  private func apply(_ resolution: Resolution, to layer: DocumentName, _ reading: Reading) {
    let text: String?
    switch resolution.outcomes[layer] {
    case .absent, nil: text = nil
    case .text(let merged): text = merged
    case .held(let prefixes):
      let (file, names) = (files.path(layer), prefixes.joined(separator: " and "))
      let documents = prefixes.count > 1 ? "documents" : "document"
      let problem = "\(file) stays unchanged until its \(documents) under \(names) can be used"
      let advice =
        "; .kept-fleet.json has no record of its documents: publish the document, or an empty one, or remove \(file) "
        + "to use the documents in etcd"
      return note(files.forgotten[layer] == nil ? problem : problem + advice, of: layer)
    }
    let sources = options.group.places.compactMap { place -> (String, Source)? in
      if resolution.keepsFile(of: place, layer) {
        return files.origins[layer]?.sources[place.prefix].map { (place.prefix, $0) }
      }
      return reading[place.key(layer)].map { item in
        let stamp = Stamp(revision: item.revision, version: item.version)
        return (place.prefix, Source(stamp: stamp, text: String(decoding: item.value, as: UTF8.self)))
      }
    }
    let origin = Origin(cluster: reading.cluster, revision: reading.revision, sources: Dictionary(sources) { $1 })
    let isWritten = files.origins[layer].map { $0.cluster == origin.cluster && $0.sources == origin.sources } ?? false
    do throws(StoreError) {
      if try files.apply(text, to: layer, origin) {
        state.changes += 1
        if isWritten, text != nil {
          log.warning("\(files.path(layer)) was changed or removed on this machine; wrote it again from etcd")
        } else {
          log.info("\(text == nil ? "removed" : "wrote") \(files.path(layer))")
        }
      }
      note(loss(of: layer, under: resolution.lost[layer] ?? [], reading), of: layer)
    } catch {
      note(error.message, of: layer)
    }
  }

  /// The remedy for documents that etcd has lost, or has an older version of; nil if there are none.
  private func loss(of layer: DocumentName, under prefixes: [String], _ reading: Reading) -> String? {
    func found(_ prefix: String) -> Int64? { reading[Place(prefix, options.group.identifier).key(layer)]?.revision }
    let absent = prefixes.filter { found($0) == nil }
    var problems = prefixes.compactMap { prefix -> String? in
      guard let older = found(prefix) else { return nil }
      let revision = files.origins[layer]?.sources[prefix]?.stamp.revision ?? 0
      return "\(files.path(layer)) keeps the document of revision \(revision) under \(prefix), because etcd was "
        + "restored and has revision \(older); publish the newer document again, or the older one to go back to it"
    }
    if !absent.isEmpty {
      problems.append(
        "\(files.path(layer)) keeps its document under \(absent.joined(separator: " and ")), which etcd has lost; "
          + "publish the document again, or an empty one to remove its settings")
    }
    return problems.isEmpty ? nil : problems.joined(separator: "; ")
  }

  private func note(_ problem: String?, of layer: DocumentName) {
    if let problem, state.problems[layer] != problem { log.error("\(problem)") }
    state.problems[layer] = problem
  }

  // MARK: - Reporting

  /// Puts a report under each prefix, one by one: etcd may not take all.
  private func report(_ session: Session) async throws {
    reporting.begin()
    try await reporting.run { try await self.sendReports(session) }
  }

  private func sendReports(_ session: Session) async throws {
    let reports = places.map {
      ($0.report(of: options.machine.host, identity.text), Report(state, identity, $0, options))
    }
    let due = reporting.due(Dictionary(reports) { $1 })
    guard !due.isEmpty else { return }
    var problem: String?
    for (key, report) in due.sorted(by: { $0.key < $1.key }) {
      switch try await session.put([key: report], after: reporting.revisions) {
      case .put(let revision): reporting.noteSent([key: report], at: revision)
      case .refused(let reason): problem = problem ?? reason
      case .isTaken:
        identity.becomeAnother(log)
        return reporting.note()
      }
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
