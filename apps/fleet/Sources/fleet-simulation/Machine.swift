// One machine of the simulated fleet.

import Etcd
import Fleet
import Synchronization

import struct FoundationEssentials.Data

/// Asks of etcd what `Follower` asks, at the same times, and writes no file.
///
/// The first comparison, and the first report that repeats one, come after a random part of their intervals, as in a
/// fleet that has run for long.
final class Machine: Sendable {
  let number: Int
  private let options: FleetOptions
  private let population: Population
  private let reading = Mutex<Reading?>(nil)
  private let change = Mutex<AsyncStream<Void>.Continuation?>(nil)

  init(_ number: Int, _ options: FleetOptions, _ population: Population) {
    (self.number, self.options, self.population) = (number, options, population)
  }

  /// Follows with one session, until that ends.
  func follow(_ session: Session, _ works: Latch) async throws {
    reading.withLock { $0 = nil }
    take(try await session.read(options.place.documents))
    works.raise()
    population.hasRead(number)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await self.watch(session) }
      group.addTask { try await self.compare(session) }
      group.addTask { try await self.report(session) }
      group.addTask { try await self.reportAgain() }
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  private func take(_ reading: Reading) {
    let isNew = self.reading.withLock { known in
      if let known, known.revision > reading.revision { return false }
      known = reading
      return true
    }
    guard isNew else { return }
    if let document = reading[options.place.key(.managed)] { population.hasDocument(document.revision) }
    noteChange()
  }

  private func noteChange() { _ = change.withLock { $0?.yield() } }

  private func watch(_ session: Session) async throws {
    let created = Atomic(0)
    let next = (reading.withLock { $0 }?.revision ?? 0) + 1
    try await session.watch(options.place.documents, from: next, interval: options.proofInterval) { output in
      guard case .events(let events) = output, let last = events.map(\.revision).max() else {
        self.population.hasProof()
        // etcd confirms each watch.
        if created.add(1, ordering: .relaxed).newValue == self.options.place.documents.count {
          self.population.watches(self.number)
        }
        return
      }
      guard last > self.reading.withLock({ $0 })?.revision ?? 0 else { return }
      self.take(try await session.read(self.options.place.documents, at: last))
    }
  }

  private func compare(_ session: Session) async throws {
    try await Task.sleep(for: options.checkInterval * Double.random(in: 0...1))
    while true {
      let present = try await session.read(options.place.documents, keysOnly: true)
      population.hasCompared(present.revisions != reading.withLock { $0 }?.revisions)
      try await Task.sleep(for: options.checkInterval * Double.random(in: 0.9...1.1))
    }
  }

  private func report(_ session: Session) async throws {
    // A stream ends with the task that reads it.
    let (changes, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    self.change.withLock { $0 = change }
    change.yield()
    for await _ in changes {
      try await Task.sleep(for: options.spread * Double.random(in: 0...1))
      let start = ContinuousClock.now
      let time = try await session.beginFleetTime()
      _ = try await session.change([(options.place.report(of: name, identity), Data(reportText(time).utf8))])
      population.hasReported(.now - start)
    }
  }

  private func reportAgain() async throws {
    try await Task.sleep(for: options.reportInterval * Double.random(in: 0...1))
    while true {
      noteChange()
      try await Task.sleep(for: options.reportInterval * Double.random(in: 0.8...1))
    }
  }

  private var name: String { "machine\(1_000_000 + number)" }
  private var identity: String { "00000000\(10_000_000 + number)" }

  /// As long as a report of `kept-fleet follow`.
  private func reportText(_ time: FleetTime?) -> String {
    let revision = reading.withLock { $0 }?.revision ?? 0
    let stamp = "{\"revision\":\(revision),\"version\":1}"
    return """
      {"clock":{"seconds":\(time?.seconds ?? 0),"term":\(time?.term ?? 0)},"documents":{"declarations":\(stamp),\
      "managed":\(stamp),"system":\(stamp)},"host":"\(name)","interval":300,"machine":"\(identity)",\
      "prefixes":["\(options.place.prefix)"],"process":"\(identity)","time":"2026-01-01T00:00:00Z","version":"0.1.0"}
      """
  }
}

/// How the machines follow.
struct FleetOptions: Sendable {
  let place: Place
  let checkInterval: Duration
  let reportInterval: Duration
  let spread: Duration
  /// As `follow` derives it.
  var proofInterval: Duration { min(checkInterval / 2, .seconds(20)) }
}
