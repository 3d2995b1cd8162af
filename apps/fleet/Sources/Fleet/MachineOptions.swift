// The options of a machine, for every command.

internal import Etcd
internal import FoundationEssentials
internal import Glibc
internal import Kept
internal import Logging

package struct MachineOptions: Sendable {
  package var host: String
  package var version: String
  /// How often everything is compared with the changes from the watch.
  package var checkInterval: Duration = .seconds(120)
  /// How often a machine reports that it is alive.
  package var reportInterval: Duration = .seconds(300)
  /// The time over which the reports of a fleet are spread.
  package var spread: Duration = .seconds(3)
  package var statusFile: String?
  package var metricsFile: String?
  /// Whether only the user of this process may read the status.
  package var hidesStatus = false
  /// A random text that distinguishes the reports of this process from those of another.
  let process = String(UInt64.random(in: .min ... .max), radix: 16)

  package init(host: String, version: String) { (self.host, self.version) = (host, version) }

  /// Whether a text may name a machine, alone, in lists and in keys of etcd.
  package static func isHost(_ text: String) -> Bool {
    let signs: [Unicode.Scalar] = ["/", ",", ":"]
    return 1...255 ~= text.utf8.count && !DisplayText.escapes(text)
      && !text.unicodeScalars.contains { signs.contains($0) || $0.properties.isWhitespace }
  }

  /// How often the member of etcd must prove that it is alive.
  var proofInterval: Duration { min(max(checkInterval / 2, .milliseconds(500)), .seconds(20)) }
}

/// The files that show the state of the program on this machine.
struct LocalStatus: Sendable {
  let options: MachineOptions
  private var time: ContinuousClock.Instant?

  /// Throws if a file would be in a folder where this program keeps its own files.
  init(_ options: MachineOptions, outside folders: [String]) throws(StoreError) {
    self.options = options
    for (option, path) in [("--status-file", options.statusFile), ("--metrics-file", options.metricsFile)] {
      guard let path, let parent = FileIdentity(AtomicFile.split(path).folder),
        let folder = folders.first(where: { FileIdentity($0) == parent })
      else { continue }
      throw StoreError(
        .invalid, "\(option) \(path) is in \(folder), where kept-fleet keeps its own files; choose another folder")
    }
  }

  /// Calls `save` again and again, so that the files show that the program runs, until the task is cancelled.
  static func renew(_ options: MachineOptions, _ save: @Sendable () async -> Void) async {
    while true {
      do { try await Task.sleep(for: options.proofInterval) } catch { return }
      await save()
    }
  }

  /// Whether a minor change is written.
  var isDue: Bool { time.map { .now - $0 >= .seconds(1) } ?? true }

  mutating func save(_ members: [(ExactString, Value?)], _ metrics: String, _ log: Logger) {
    time = .now
    let common: [(ExactString, Value?)] = [
      ("host", .string(options.host)), ("version", .string(options.version)),
      ("time", .string(Timestamp.now.description)),
      ("interval", .number(options.proofInterval.components.seconds + 1)),
    ]
    do throws(StoreError) {
      if let path = options.statusFile {
        let status = Value.object(common + WritingProcess.members + members).json + "\n"
        try AtomicFile.write(Data(status.utf8), to: path, mode: options.hidesStatus ? 0o600 : 0o644)
      }
      if let path = options.metricsFile { try AtomicFile.write(Data(metrics.utf8), to: path, mode: 0o644) }
    } catch {
      log.warning("\(error.message)")
    }
  }
}

/// The Prometheus text format.
struct Metrics {
  let identifier: String
  private(set) var text = ""

  init(_ identifier: String) { self.identifier = Self.label(identifier) }

  mutating func gauge(_ name: String, _ help: String, _ value: some BinaryInteger) {
    add(name, "gauge", help, [("", Int64(value))])
  }

  mutating func counter(_ name: String, _ help: String, _ value: some BinaryInteger) {
    add(name, "counter", help, [("", Int64(value))])
  }

  mutating func add(_ name: String, _ type: String, _ help: String, _ values: [(labels: String, value: Int64)]) {
    text += "# HELP kept_fleet_\(name) \(help)\n# TYPE kept_fleet_\(name) \(type)\n"
    for (labels, value) in values { text += "kept_fleet_\(name){identifier=\"\(identifier)\"\(labels)} \(value)\n" }
  }

  /// A text between the quotation marks of a label.
  static func label(_ text: String) -> String {
    var label = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\", "\"": label.unicodeScalars += ["\\", scalar]
      case "\n": label += "\\n"
      default: label.unicodeScalars.append(scalar)
      }
    }
    return label
  }

  mutating func add(_ link: Link) {
    gauge("connected", "Whether etcd is connected.", link.isConnected ? 1 : 0)
    gauge("last_heard_timestamp_seconds", "When etcd last answered.", link.heard?.seconds ?? 0)
    counter("connections_total", "Connections to etcd.", link.connections)
  }
}
