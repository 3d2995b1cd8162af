import ArgumentParser
import Etcd
import Fleet
import Glibc
import Kept
import Logging
import ServiceLifecycle
import UnixSignals

struct Follow: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Keeps the administrator's files of a program as they are in etcd.",
    usage: "kept-fleet follow IDENTIFIER --etcd URL... [--prefix PREFIX]...",
    discussion: """
      Writes /etc/kept/IDENTIFIER/managed.json and system.json whenever PREFIX/IDENTIFIER/managed and system change in \
      etcd. A document that is wrong is refused and reported under PREFIX/IDENTIFIER/status; the last good one stays. \
      Without etcd the files stay as they are.
      """)

  @Argument(help: "The identifier of the store, such as com.example.player.") var identifier: String
  @OptionGroup var etcd: EtcdOptions
  @OptionGroup var groups: GroupOptions
  @Option(help: ArgumentHelp("Another folder than /etc/kept/IDENTIFIER.", valueName: "folder"))
  var folder: String?
  @Option(help: ArgumentHelp("The name of this machine in reports.", valueName: "name"))
  var host: String?
  @Option(help: ArgumentHelp("Where `kept-fleet status` finds the local status.", valueName: "file"))
  var statusFile: String?
  @Option(help: ArgumentHelp("Where to write metrics for Prometheus, as NAME.prom.", valueName: "file"))
  var metricsFile: String?
  @Option(help: ArgumentHelp("Compare everything with etcd so often.", valueName: "seconds"))
  var checkEvery = 120.0
  @Option(help: ArgumentHelp("Report so often to etcd, even without a change.", valueName: "seconds"))
  var reportEvery = 300.0
  @Option(help: ArgumentHelp("Spread the reports of a fleet over this time.", valueName: "seconds"))
  var reportWithin = 3.0
  @Option(help: ArgumentHelp("trace, debug, info, notice, warning, error.", valueName: "level"))
  var logLevel = "info"

  func validate() throws {
    if Logger.Level(rawValue: logLevel) == nil { throw ValidationError("--log-level takes no \"\(logLevel)\"") }
    if !(0.1...86_400 ~= checkEvery) { throw ValidationError("--check-every takes seconds from 0.1 to 86400") }
    if !(1...86_400 ~= reportEvery) { throw ValidationError("--report-every takes seconds from 1 to 86400") }
    if !(0...3600 ~= reportWithin) { throw ValidationError("--report-within takes seconds from 0 to 3600") }
  }

  func run() async throws {
    LoggingSystem.bootstrap(StreamLogHandler.standardError)
    var log = Logger(label: "kept-fleet")
    log.logLevel = Logger.Level(rawValue: logLevel) ?? .info
    let group = try groups.group(identifier)
    let host = try host ?? Self.hostName()
    guard !host.isEmpty, !host.contains("/") else { throw ValidationError("--host takes a name without a slash") }
    var options = FollowOptions(
      group: group, folder: folder ?? "/etc/kept/\(identifier)", host: host, version: KeptFleet.version)
    options.checkInterval = .seconds(checkEvery)
    options.reportInterval = .seconds(reportEvery)
    options.spread = .seconds(reportWithin)
    (options.statusFile, options.metricsFile) = (statusFile, metricsFile)
    let manager = ServiceManager()
    let follower = try Follower(try etcd.cluster(), options, log: log) { manager.notify("READY=1") }
    try await ServiceGroup(
      services: [FollowService(follower: follower, manager: manager), Watchdog(follower: follower, manager: manager)],
      gracefulShutdownSignals: [.sigterm, .sigint], logger: Logger(label: "services") { _ in SwiftLogNoOpLogHandler() }
    ).run()
  }

  private static func hostName() throws(StoreError) -> String {
    var name = [CChar](repeating: 0, count: 256)
    let result = gethostname(&name, name.count - 1)
    let bytes = name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    guard result == 0, let text = String(validating: bytes, as: UTF8.self), !text.isEmpty else {
      throw StoreError(.unavailable, "this machine has no name; give one with --host")
    }
    return text
  }
}

private struct FollowService: Service {
  let follower: Follower
  let manager: ServiceManager

  func run() async {
    await cancelWhenGracefulShutdown { await follower.run() }
    manager.notify("STOPPING=1")
  }
}

/// Tells systemd that the follower still takes its turns.
private struct Watchdog: Service {
  let follower: Follower
  let manager: ServiceManager

  func run() async throws {
    guard let interval = manager.watchdogInterval else { return try await gracefulShutdown() }
    await cancelWhenGracefulShutdown {
      while true {
        await follower.answer()
        manager.notify("WATCHDOG=1")
        do { try await Task.sleep(for: interval / 2) } catch { return }
      }
    }
  }
}
