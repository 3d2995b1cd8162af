// The options and the service of commands that run on a machine until they are stopped.

import ArgumentParser
import Fleet
import Glibc
import Kept
import Logging
import ServiceLifecycle
import UnixSignals

struct MachineArguments: ParsableArguments {
  @Option(help: ArgumentHelp("The name of this machine in reports.", valueName: "name"))
  var host: String?
  @Option(help: ArgumentHelp("Where `kept-fleet status` finds the local status.", valueName: "file"))
  var statusFile: String?
  @Option(help: ArgumentHelp("Where to write metrics for Prometheus, as NAME.prom.", valueName: "file"))
  var metricsFile: String?
  @Option(help: ArgumentHelp("Compare everything with etcd every N seconds.", valueName: "seconds"))
  var checkEvery = 120.0
  @Option(help: ArgumentHelp("Report to etcd every N seconds, even without a change.", valueName: "seconds"))
  var reportEvery = 300.0
  @Option(help: ArgumentHelp("Spread the reports of a fleet over this time.", valueName: "seconds"))
  var reportWithin = 3.0
  @Option(help: ArgumentHelp("trace, debug, info, notice, warning, error.", valueName: "level"))
  var logLevel = "info"

  func validate() throws {
    if Logger.Level(rawValue: logLevel) == nil {
      throw ValidationError("\"\(logLevel)\" is not a log level; use info or another level that --help lists")
    }
    if !(0.1...86_400 ~= checkEvery) {
      throw ValidationError("--check-every must be between 0.1 and 86400 seconds")
    }
    if !(1...86_400 ~= reportEvery) {
      throw ValidationError("--report-every must be between 1 and 86400 seconds")
    }
    if !(0...3600 ~= reportWithin) {
      throw ValidationError("--report-within must be between 0 and 3600 seconds")
    }
    for (option, path) in [("--status-file", statusFile), ("--metrics-file", metricsFile)] {
      guard let path, !AtomicFile.mayReplace(path) else { continue }
      throw ValidationError("\(path) is not a regular file, so \(option) cannot replace it; use another path")
    }
    if host.map(MachineOptions.isHost) == false {
      throw ValidationError(
        "--host must be 1 to 255 bytes long, without slashes, commas, colons, spaces or control characters")
    }
  }

  func options() throws(StoreError) -> MachineOptions {
    var options = MachineOptions(host: try hostOrName(), version: KeptFleet.version)
    options.checkInterval = .seconds(checkEvery)
    options.reportInterval = .seconds(reportEvery)
    options.spread = .seconds(reportWithin)
    (options.statusFile, options.metricsFile) = (statusFile, metricsFile)
    return options
  }

  /// The log on standard error.
  func logger() -> Logger {
    LoggingSystem.bootstrap { LineLogHandler($0) }
    var log = Logger(label: "kept-fleet")
    log.logLevel = Logger.Level(rawValue: logLevel) ?? .info
    return log
  }

  private func hostOrName() throws(StoreError) -> String {
    if let host { return host }
    var name = [CChar](repeating: 0, count: 256)
    let result = gethostname(&name, name.count - 1)
    let bytes = name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    guard result == 0, let text = String(validating: bytes, as: UTF8.self), MachineOptions.isHost(text) else {
      throw StoreError(.unavailable, "this machine has no usable name; specify one with --host")
    }
    return text
  }
}

/// A program that runs until it is cancelled, and reports that it is alive.
protocol Runnable: Sendable {
  func run() async throws
  func answer() async
}

extension Follower: Runnable {}
extension Syncer: Runnable {}

extension ServiceManager {
  /// Runs until SIGTERM or SIGINT arrives, and notifies systemd.
  func run(_ runnable: some Runnable) async throws {
    try await ServiceGroup(
      services: [RunnableService(runnable: runnable, manager: self), Watchdog(runnable: runnable, manager: self)],
      gracefulShutdownSignals: [.sigterm, .sigint], logger: Logger(label: "services") { _ in SwiftLogNoOpLogHandler() }
    ).run()
  }
}

private struct RunnableService: Service {
  let runnable: any Runnable
  let manager: ServiceManager

  func run() async throws {
    try await cancelWhenGracefulShutdown { try await runnable.run() }
    manager.notify("STOPPING=1")
  }
}

private struct Watchdog: Service {
  let runnable: any Runnable
  let manager: ServiceManager

  func run() async throws {
    guard let interval = manager.watchdogInterval else { return try await gracefulShutdown() }
    await cancelWhenGracefulShutdown {
      while true {
        await runnable.answer()
        manager.notify("WATCHDOG=1")
        do { try await Task.sleep(for: interval / 2) } catch { return }
      }
    }
  }
}
