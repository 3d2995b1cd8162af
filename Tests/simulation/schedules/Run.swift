// One run: what its processes do, and what is found.

import CKept
import CPlatform
import CScheduler
import CSimulation
import SimulatedDisk

struct Run {
  private let plan: Plan
  private let folder: String
  private var random: SeededRandom
  private var disk = Disk()
  private var losses: [UInt64] = []
  private var started = 0
  private var restarts: Int
  // How many events the disk has.
  private var written = 0

  private init(_ plan: Plan, _ folder: String) {
    (self.plan, self.folder, restarts) = (plan, folder, plan.restarts)
    random = SeededRandom(~plan.seed)
  }

  /// - Returns: what was found; nil if nothing was.
  static func run(_ plan: Plan, in folder: String) -> String? {
    simulation_reset(plan.schedule, plan.turns)
    for fault in plan.faults { simulation_add_fault(fault) }
    var run = Run(plan, folder)
    let found = run.run()
    simulation_kill_all()
    return found
  }

  private mutating func run() -> String? {
    Self.empty(folder)
    for program in plan.programs { start(program) }
    if plan.observes { observe() }
    // Some threads look at the store each second, and never end.
    simulation_limit_time(Self.longest)
    return goOn() ?? conclude() ?? judge()
  }

  // In nanoseconds.
  private static let longest: Int64 = 100_000_000_000

  // MARK: - Processes

  private mutating func start(_ threads: [[Kind]]) {
    let (plan, folder, process) = (plan, folder, started)
    started += 1
    guard !threads.isEmpty, simulation_start() else { return }
    Self.body = { thread in
      var program = Program(plan, folder, process: process, thread: thread)
      program.run(threads[thread])
    }
    for thread in threads.indices.dropFirst() { simulation_thread({ Run.body?(Int($0)) }, Int32(thread)) }
    Self.body?(0)
    simulation_join()
    simulation_exit()
  }
  // Written before the process has threads.
  private nonisolated(unsafe) static var body: ((Int) -> Void)?

  private mutating func observe() {
    started += 1
    guard simulation_start() else { return }
    var program = Program(plan, folder, process: 15, thread: 0)
    program.observe()
    simulation_exit()
  }

  /// Runs the processes until each waits for the end, or has ended.
  private mutating func goOn() -> String? {
    while true {
      switch Int(simulation_continue()) {
      case REQUEST_EXIT: simulation_kill(simulation_requester())
      case REQUEST_KILL:
        simulation_kill(simulation_requester())
        restart()
      case REQUEST_POWER:
        simulation_kill_all()
        losses.append(simulation_steps())
        guard (try? loseData()) != nil else { return "the disk could not be written" }
        restart()
      case REQUEST_IDLE: return nil
      default: return String(cString: simulation_found())
      }
      if simulation_found().pointee != 0 { return String(cString: simulation_found()) }
    }
  }

  private mutating func restart() {
    guard restarts > 0 else { return }
    restarts -= 1
    start(random.any(of: plan.programs))
  }

  private mutating func conclude() -> String? {
    // What others have noticed late, and syncs and checkpoints within seconds.
    simulation_limit_time(20_000_000_000)
    if let found = goOn() { return found }
    simulation_limit_time(Self.longest)
    simulation_wake_ended()
    if let found = goOn() { return found }
    guard simulation_alive() == 0 else { return "threads wait for each other" }
    simulation_clear_faults()
    if simulation_start() {
      var program = Program(plan, folder, process: 14, thread: 0)
      program.conclude()
      simulation_exit()
    }
    return goOn()
  }

  // MARK: - The disk

  /// A folder with nothing but the decision that secrets are stored as they are, which no loss of power takes.
  static func empty(_ folder: String) {
    remove(folder)
    mkdir(folder, 0o700)
    let text = #"{"format":1,"id":"AAAAAAAAAAAAAAAAAAAAAA==","keys":[],"providers":[],"state":"plain"}"#
    let file = kept_open_at(AT_FDCWD, folder + "/" + secrets, O_RDWR | O_CREAT | O_EXCL, 0o600)
    pwrite(file, text, text.utf8.count, 0)
    close(file)
  }

  private static let secrets = "secrets"

  static func remove(_ folder: String) {
    for name in names(folder) where unlink(folder + "/" + name) != 0 { remove(folder + "/" + name) }
    rmdir(folder)
  }

  private static func names(_ folder: String) -> [String] {
    guard let listing = opendir(folder) else { return [] }
    defer { closedir(listing) }
    var names: [String] = []
    while let name = kept_next_name(listing) {
      let name = String(cString: name)
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  /// Lays out what the disk may have kept; the pulse is as it was, or is lost.
  private mutating func loseData() throws {
    for number in written..<simulation_event_count() { disk.add(simulation_event(number).pointee) }
    simulation_lose_power()
    written = simulation_event_count()
    var pulse = [UInt8](repeating: 0, count: 4096)
    let file = kept_open_at(AT_FDCWD, folder + "/pulse", O_RDONLY, 0)
    let hasPulse = file >= 0 && pread(file, &pulse, pulse.count, 0) == pulse.count && random.isOne(in: 2)
    close(file)
    Self.empty(folder)
    let seed = random.any(of: [0, 1, 2 + random.next() % 1_000_000])
    try disk.write(to: folder, seed: seed, inOrder: random.isOne(in: 2))
    disk = Disk(of: folder, Self.names(folder).filter { $0 != Self.secrets })
    guard hasPulse else { return }
    // Of another boot, also after a second loss.
    pulse[32] &+= 1
    let made = kept_open_at(AT_FDCWD, folder + "/pulse", O_RDWR | O_CREAT | O_EXCL, 0o600)
    pwrite(made, pulse, pulse.count, 0)
    close(made)
  }

  // MARK: - Judging

  private func judge() -> String? {
    var answered = losses.map { Answered(begin: $0, end: $0, outcome: .lostPower) }
    // The observer makes one call, before it ends.
    let observer = Int32(plan.programs.count { !$0.isEmpty })
    var final: [Int64]?
    for number in 0..<simulation_operation_count() {
      guard let operation = simulation_operation(number)?.pointee, operation.outcome != OUTCOME_REFUSED else {
        continue
      }
      var one = Answered(begin: operation.begin, end: operation.end)
      one.outcome = operation.outcome == OUTCOME_DONE ? .done : .unknown
      one.reads = Self.set(operation.reads, operation.read)
      one.writes = Self.set(operation.writes, operation.written)
      one.isDurable = operation.is_durable
      one.revision = operation.revision
      answered.append(one)
      if operation.process == observer, one.outcome == .done { final = Keys.names.indices.map { one.reads[$0] ?? 0 } }
    }
    guard Judge.isLinearizable(answered, keys: Keys.names.count) else {
      return "no order of the operations explains them"
    }
    let notices = (0..<simulation_notice_count()).compactMap { simulation_notice($0)?.pointee }
    for process in Set(notices.map(\.process)).union(plan.observes ? [observer] : []).sorted() {
      let own = notices.filter { $0.process == process }.map {
        Observed(
          key: Int($0.key), isInitial: $0.is_initial, first: $0.first, last: $0.last, before: $0.before, after: $0.after
        )
      }
      let known = process == observer ? final : nil
      if let fault = Judge.fault(of: own, final: known, keys: Keys.names.count) { return fault }
    }
    return nil
  }

  private static func set<Values>(_ keys: UInt32, _ values: Values) -> [Int: Int64] {
    withUnsafeBytes(of: values) { values in
      let values = values.bindMemory(to: Int64.self)
      return Dictionary(uniqueKeysWithValues: values.indices.filter { keys >> $0 & 1 == 1 }.map { ($0, values[$0]) })
    }
  }
}

extension Run {
  /// Prints what the processes have done to files, locks and words that they share: protocol.py reads it.
  static func printEvents() {
    for number in 0..<simulation_event_count() {
      guard let event = simulation_event(number)?.pointee else { continue }
      let bytes = UnsafeBufferPointer(start: event.bytes, count: event.count)
      let isZero = bytes.allSatisfy { $0 == 0 }
      let names = [text(event.name), text(event.other)].map { $0.isEmpty ? "-" : $0 }.joined(separator: " ")
      print(
        "\(event.step) \(event.process) \(event.call) \(event.file) \(event.offset) \(event.count) \(names)",
        isZero ? "-" : bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined())
    }
  }

  private static func text<Characters>(_ characters: Characters) -> String {
    withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }

  /// Prints the operations and the steps.
  static func printTrace() {
    for number in 0..<simulation_steps() {
      guard let step = simulation_step(number)?.pointee else { continue }
      let name = String(cString: simulation_step_name(Int32(step.kind)))
      print("\(number) \(step.thread) \(name)\(step.is_result == 1 ? " =" : "") \(step.value)")
    }
    for number in 0..<simulation_operation_count() {
      guard let one = simulation_operation(number)?.pointee else { continue }
      let kind = Kind(rawValue: one.kind).map { "\($0)" } ?? "?"
      let outcome = ["?", "done", "refused"][Int(one.outcome)]
      let end = one.end == .max ? "" : "\(one.end)"
      print(
        "\(one.begin)-\(end) process \(one.process): \(kind) \(outcome) \(one.status)",
        one.reads == 0 ? "" : "found \(set(one.reads, one.read).sorted { $0.key < $1.key })",
        one.writes == 0 ? "" : "wrote \(set(one.writes, one.written).sorted { $0.key < $1.key })",
        one.revision == 0 ? "" : "revision \(one.revision)", one.is_durable ? "durable" : "")
    }
    for number in 0..<simulation_notice_count() {
      guard let one = simulation_notice(number)?.pointee else { continue }
      print("process \(one.process) observed \(one.first)-\(one.last): \(one.key) \(one.before) -> \(one.after)")
    }
  }
}
