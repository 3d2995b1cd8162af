// A fleet of machines in one process, against a real etcd: apps/fleet/benchmarks/capacity.py runs it.

import ArgumentParser
import Etcd
import Fleet
import Foundation

@main
struct FleetSimulation: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fleet-simulation",
    abstract: "Follows documents in etcd with many machines in one process.",
    discussion: """
      Reads commands from standard input, one a line, and answers each with a line of JSON. Times are in milliseconds.

        write COUNT         puts a key that no machine watches, one put after the other
        start SECONDS       connects all machines within a time
        publish BYTES       puts a document, and waits until all machines have read it and reported
        wait SECONDS        waits
        away                waits until all machines have noticed that etcd is away
        back                waits until all machines watch again
        counts              says what the machines have done so far
      """)

  @Option(parsing: .upToNextOption, help: "The members of etcd.") var etcd: [String]
  @Option(help: "The number of machines.") var machines = 100
  @Option(help: "How many machines use one connection; machines of a fleet have one each.") var share = 1
  @Option(help: "The first part of the keys.") var prefix = "/kept"
  @Option(help: "As of kept-fleet follow.") var checkEvery = 120.0
  @Option(help: "As of kept-fleet follow.") var reportEvery = 300.0
  @Option(help: "As of kept-fleet follow.") var reportWithin = 3.0
  @Option(help: "As of kept-fleet follow.") var timeout = 5.0
  @Option(help: "How many seconds a command may take.") var patience = 180.0

  func validate() throws {
    if let url = etcd.first(where: { Endpoint($0) == nil }) {
      throw ValidationError("\(url) is not the URL of a member")
    }
    if machines < 1 || share < 1 { throw ValidationError("--machines and --share must be 1 or more") }
  }

  func run() async throws {
    let options = FleetOptions(
      place: Place(prefix, "com.example.player"), checkInterval: .seconds(checkEvery),
      reportInterval: .seconds(reportEvery), spread: .seconds(reportWithin))
    let cluster = Cluster(
      etcd.compactMap { Endpoint($0) }, tls: TLSFiles(), login: nil, patience: .seconds(timeout))
    // A writer that gave up would end the run.
    let writers = Cluster(cluster.endpoints, tls: cluster.tls, login: nil, patience: .seconds(patience))
    let population = Population()
    let all = (0..<machines).map { Machine($0, options, population) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      defer { group.cancelAll() }
      var isStarted = false
      for await line in Self.commands() {
        let words = line.split(separator: " ").map(String.init)
        let number = words.count > 1 ? Double(words[1]) ?? 0 : 0
        var answer = Answer()
        let control = Control(cluster: writers, options: options, population: population, machines: machines)
        switch words.first {
        case "start" where !isStarted:
          isStarted = true
          let start = ContinuousClock.now
          for first in stride(from: 0, to: machines, by: share) {
            let some = Array(all[first..<min(first + share, machines)])
            group.addTask { await Self.connect(some, within: number, cluster, population) }
          }
          answer.add("read", await control.until(patience) { population.readTimes }.map { $0 - start })
          answer.add("watching", await control.until(patience) { population.watchTimes }.map { $0 - start })
        case "write": answer.add("write", try await control.write(Int(number)))
        case "publish": try await control.publish(Int(number), patience, &answer)
        case "wait": try await Task.sleep(for: .seconds(number))
        case "away": await control.untilAway(patience)
        case "back":
          let start = ContinuousClock.now
          answer.add("watching", await control.until(patience) { population.watchTimes }.map { $0 - start })
        case "counts": break
        default: throw ValidationError("\"\(line)\" is not a command")
        }
        control.add(&answer)
        try FileHandle.standardOutput.write(contentsOf: Data("\(answer.json)\n".utf8))
        let error = population.takeError().map { "\($0)\n" } ?? ""
        try FileHandle.standardError.write(contentsOf: Data(error.utf8))
      }
    }
  }

  private static func connect(
    _ machines: [Machine], within seconds: Double, _ cluster: Cluster, _ population: Population
  ) async {
    try? await Task.sleep(for: .seconds(seconds) * Double.random(in: 0...1))
    await cluster.keepConnected { session, works in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for machine in machines { group.addTask { try await machine.follow(session, works) } }
        defer { group.cancelAll() }
        try await group.next()
      }
    } failed: { _, error, _ in
      population.lost(machines, error)
    }
  }

  /// The lines of standard input, read on a thread of their own, which may block.
  private static func commands() -> AsyncStream<String> {
    let (lines, line) = AsyncStream.makeStream(of: String.self)
    Thread.detachNewThread {
      while let text = readLine() { line.yield(text) }
      line.finish()
    }
    return lines
  }
}
