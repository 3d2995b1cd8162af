// What a thread of a simulated process does with the store.

import CKept
import CPlatform
import CScheduler

/// The keys of a store: four numbers, a text, and a number that is secret.
///
/// The value 0 stands for none.
enum Keys {
  static let names = ["a", "b", "c", "d", "text", "secret"]
  static let numbers = 0..<4
  static let text = 4
  static let secret = 5
}

struct Program {
  let plan: Plan
  let folder: String
  private var random: SeededRandom
  private var store: OpaquePointer?
  // No two operations of a run write the same value.
  private var value: Int64

  init(_ plan: Plan, _ folder: String, process: Int, thread: Int) {
    (self.plan, self.folder) = (plan, folder)
    random = SeededRandom(plan.seed ^ UInt64(process * 16 + thread + 1) << 32)
    value = Int64(process * 16 + thread + 1) * 1000
  }

  mutating func run(_ kinds: [Kind]) {
    guard open() else { return }
    for kind in kinds {
      for kind in [kind] + Array(repeating: .get, count: plan.reads) where store != nil { perform(kind) }
    }
    if plan.closes { kept_close(store) }
  }

  private mutating func open(readOnly: Bool = false) -> Bool {
    var options = kept_options()
    options.size = MemoryLayout<kept_options>.size
    options.busy_timeout_ms = 250
    options.access = readOnly ? UInt32(KEPT_READ_ONLY) : 0
    var error = kept_error()
    let status = kept_open(folder, &options, &store, &error)
    return admit(status, error, "open")
  }

  /// Whether a call was done; if it must not fail so, that is a finding.
  private func admit(_ status: kept_status, _ error: kept_error, _ what: String) -> Bool {
    if status == KEPT_OK { return true }
    let isAdmitted =
      status == KEPT_CONFLICT && ["transaction", "durable", "exchange"].contains(what)
      || status == KEPT_BUSY && (plan.mayBeBusy || what == "look")
      // A sync has waited for a checkpoint.
      || status == KEPT_UNAVAILABLE && plan.mayBeBusy && ["durable", "flush"].contains(what)
      || [KEPT_NO_SPACE, KEPT_UNAVAILABLE, KEPT_FAILED].contains(status) && (plan.mayFail || what == "look")
    if !isAdmitted {
      let message = withUnsafeBytes(of: error.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      simulation_finding("\(what) returned \(status): \(message)")
    }
    return false
  }

  private typealias Call = (UnsafeMutablePointer<operation>, inout kept_error) -> kept_status

  /// Records a call.
  private func call(_ kind: Kind, writes: [Int: Int64] = [:], isDurable: Bool = false, _ body: Call) {
    guard let operation = simulation_begin(kind.rawValue) else { return }
    operation.pointee.is_durable = isDurable
    for (key, value) in writes { operation.put(value, for: key) }
    var error = kept_error()
    let status = body(operation, &error)
    operation.pointee.status = status
    if admit(status, error, "\(kind)") {
      operation.pointee.outcome = Int32(OUTCOME_DONE)
    } else if status == KEPT_CONFLICT || status == KEPT_BUSY {
      operation.pointee.outcome = Int32(OUTCOME_REFUSED)
    } else {
      // It may be stored all the same; what was read says nothing.
      operation.pointee.reads = 0
    }
    simulation_end(operation)
  }

  private mutating func fresh() -> Int64 {
    value += 1
    return value
  }

  private mutating func perform(_ kind: Kind) {
    let store = store, key = random.below(plan.keys), fresh = fresh()
    switch kind {
    case .get: call(kind) { Self.read(random.isOne(in: 1 + plan.keys) ? Keys.text : key, of: store, $0, &$1) }
    case .set: call(kind, writes: [key: fresh]) { kept_set_int64(store, Keys.names[key], fresh, &$1) }
    case .secret:
      let schema = "{\"type\":\"integer\",\"secret\":true}"
      call(kind) { kept_declare_json(store, Keys.names[Keys.secret], schema, &$1) }
      call(kind, writes: [Keys.secret: fresh]) { kept_set_int64(store, Keys.names[Keys.secret], fresh, &$1) }
    case .remove:
      let key = random.isOne(in: 1 + plan.keys) ? Keys.text : key
      call(kind, writes: [key: 0]) { operation, error in
        let status = kept_remove(store, Keys.names[key], &error)
        guard status == KEPT_ABSENT else { return status }
        operation.pointee.writes = 0
        operation.found(0, for: key)
        return KEPT_OK
      }
    case .text:
      let text = Self.text(fresh, random.any(of: plan.lengths))
      call(kind, writes: [Keys.text: fresh]) {
        kept_set_string(store, Keys.names[Keys.text], text, text.utf8.count, &$1)
      }
    case .flush: call(kind, isDurable: true) { kept_flush(store, &$1) }
    case .transaction, .durable: transact(kind, key, (key + 1 + random.below(3)) % 4, fresh, store)
    case .snapshot: call(kind) { Self.readAll(store, $0, &$1) }
    case .look:
      var other = Program(plan, folder, process: 0, thread: 0)
      guard other.open(readOnly: true) else { return }
      other.call(kind) { Self.readAll(other.store, $0, &$1) }
      kept_close(other.store)
    case .pause: simulation_sleep(1_500_000_000)
    case .fork: fork()
    case .exchange:
      call(kind, writes: [key: fresh]) { operation, error in
        var revision: UInt64 = 0
        let known = kept_revision_of(store, Keys.names[key], &revision, &error)
        guard known == KEPT_OK || known == KEPT_ABSENT else { return known }
        // A value that is read after its revision can only be newer, and then the write is refused. But a key that
        // was absent may have had a value in between: then the write says that it is absent again.
        let status = Self.read(key, of: store, operation, &error)
        guard status == KEPT_OK else { return status }
        if known == KEPT_ABSENT {
          operation.pointee.reads = 0
          operation.found(0, for: key)
        }
        return kept_set_json_if(store, Keys.names[key], "\(fresh)", revision, &operation.pointee.revision, &error)
      }
    case .reopen:
      kept_close(store)
      self.store = nil
      _ = open()
    }
  }

  /// Forks; the child goes on with the store, or ends at once.
  private mutating func fork() {
    let process = simulation_split()
    guard process > 0 else { return }
    random = SeededRandom(plan.seed ^ UInt64(process) << 40)
    value = Int64(256 + process) * 1000
    let kinds = plan.programs.joined().joined().filter { $0 != .fork }
    for _ in 0..<random.below(4) where store != nil && !kinds.isEmpty { perform(random.any(of: kinds)) }
    if random.isOne(in: 2) { kept_close(store) }
    simulation_exit()
  }

  /// Reads one key and writes two, at once.
  private func transact(_ kind: Kind, _ one: Int, _ other: Int, _ value: Int64, _ store: OpaquePointer?) {
    call(kind, writes: [one: value, other: value], isDurable: kind == .durable) { operation, error in
      var options = kept_transaction_options()
      options.size = MemoryLayout<kept_transaction_options>.size
      options.durability = kind == .durable ? UInt32(KEPT_DURABLE) : UInt32(KEPT_SHARED)
      var transaction: OpaquePointer?
      var status = kept_begin(store, &options, &transaction, &error)
      if status >= 0 { status = Self.read(one, of: transaction, operation, &error) }
      for key in [one, other] where status >= 0 { status = kept_set_int64(transaction, Keys.names[key], value, &error) }
      guard status >= 0 else {
        operation.pointee.writes = 0
        kept_rollback(transaction)
        return status
      }
      return kept_commit(transaction, &operation.pointee.revision, &error)
    }
  }

  // MARK: - Reading

  private static func text(_ value: Int64, _ length: Int) -> String {
    let digits = String(value) + " "
    return String(repeating: digits, count: 1 + length / digits.utf8.count)
  }

  private static func read(
    _ key: Int, of store: OpaquePointer?, _ operation: UnsafeMutablePointer<operation>, _ error: inout kept_error
  ) -> kept_status {
    var value: Int64 = 0
    var status: kept_status
    if key == Keys.text {
      (value, status) = readText(store, &error)
    } else {
      status = kept_get_int64(store, Keys.names[key], &value, &error)
    }
    if status == KEPT_ABSENT { (value, status) = (0, KEPT_OK) }
    if status == KEPT_OK { operation.found(value, for: key) }
    return status
  }

  private static func readText(_ store: OpaquePointer?, _ error: inout kept_error) -> (Int64, kept_status) {
    var length = 0
    var status: kept_status = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: 80_000) { buffer, count in
      // No text begins with it.
      buffer[0] = 0xFF
      status = kept_get_string(store, Keys.names[Keys.text], buffer.baseAddress, buffer.count, &length, &error)
      if status != KEPT_OK, buffer[0] != 0xFF { simulation_finding("a call without a text has written to the buffer") }
      count = status == KEPT_OK ? length : 0
    }
    guard status == KEPT_OK else { return (0, status) }
    let value = bytes.prefix { $0 != 32 }.reduce(Int64(0)) { $0 &* 10 &+ Int64($1) &- 48 }
    if Array(text(value, 0).utf8) != Array(bytes.prefix(String(value).utf8.count + 1))
      || bytes != Array(text(value, bytes.count - String(value).utf8.count - 1).utf8)
    {
      simulation_finding("a torn text: \(String(decoding: bytes.prefix(60), as: UTF8.self))")
    }
    return (value, KEPT_OK)
  }

  private static func readAll(
    _ store: OpaquePointer?, _ operation: UnsafeMutablePointer<operation>, _ error: inout kept_error
  ) -> kept_status {
    var snapshot: OpaquePointer?
    var status = kept_snapshot(store, "", &snapshot, &error)
    for key in Keys.names.indices where status >= 0 { status = read(key, of: snapshot, operation, &error) }
    if status >= 0 { status = kept_store_revision(snapshot, &operation.pointee.revision, &error) }
    kept_snapshot_end(snapshot)
    return status
  }

  // MARK: - Observing, and the end

  mutating func observe() {
    guard open() else { return }
    var error = kept_error()
    var subscription: OpaquePointer?
    let flags = UInt32(KEPT_OBSERVE_PREFIX | KEPT_OBSERVE_INITIAL)
    let status = kept_observe(store, "", flags, { _, notice in Self.note(notice) }, nil, nil, &subscription, &error)
    guard admit(status, error, "observe") else { return }
    simulation_await_end()
    // A commit that a killed process has written, and not published, is published by the next one that has the store
    // alone: observers learn of it only if they still have it open.
    kept_unobserve(subscription)
    call(.snapshot) { Self.readAll(store, $0, &$1) }
    kept_close(store)
  }

  private static func note(_ notice: OpaquePointer?) {
    for index in 0..<kept_notice_count(notice) {
      guard let name = kept_notice_key(notice, index), let change = simulation_observe() else { return }
      change.pointee.key = Int32(Keys.names.firstIndex(of: String(cString: name)) ?? -1)
      change.pointee.is_initial = kept_notice_origin(notice) == KEPT_ORIGIN_INITIAL
      change.pointee.first = kept_notice_first_revision(notice)
      change.pointee.last = kept_notice_revision(notice)
      change.pointee.before = number(kept_notice_old(notice, index))
      change.pointee.after = number(kept_notice_new(notice, index))
    }
  }

  private static func number(_ value: OpaquePointer?) -> Int64 {
    var number: Int64 = 0
    var text: UnsafePointer<CChar>?
    var length = 0
    if value == nil || kept_value_int64(value, &number, nil) == KEPT_OK { return number }
    guard kept_value_string(value, &text, &length, nil) == KEPT_OK, let text else { return -1 }
    return atoll(text)
  }

  /// Reads all, after everything else has ended.
  mutating func conclude() {
    guard open() else { return }
    let store = store
    call(.snapshot) { Self.readAll(store, $0, &$1) }
    var error = kept_error()
    var json: UnsafeMutablePointer<CChar>?
    if admit(kept_verify_json(store, nil, nil, &json, &error), error, "verify"), let json {
      let text = String(cString: json)
      if !text.contains("\"sound\":true") { simulation_finding("the store is damaged: \(text)") }
    }
    kept_close(store)
  }
}

extension UnsafeMutablePointer<operation> {
  func put(_ value: Int64, for key: Int) {
    pointee.writes |= 1 << UInt32(key)
    withUnsafeMutableBytes(of: &pointee.written) { $0.bindMemory(to: Int64.self)[key] = value }
  }

  func found(_ value: Int64, for key: Int) {
    pointee.reads |= 1 << UInt32(key)
    withUnsafeMutableBytes(of: &pointee.read) { $0.bindMemory(to: Int64.self)[key] = value }
  }
}
