// engine-benchmark FOLDER [PART…]: the storage on KeptEngine next to the one on SQLite, in one run, in turns. Prints
// the median of each figure. Both are opened as parts of KeptCore, so build it with
//
//   swift run -c release -Xswiftc -enable-testing engine-benchmark FOLDER
//
// FOLDER should be on a disk: memory has no syncs to wait for. PART is get, open, commit, whole or import; without one,
// all are measured.

import CPlatform
@testable import KeptCore
import KeptEngine
@testable import KeptEngineStorage
import KeptSystem
import KeptValues

enum Kind: String, CaseIterable {
  case local = "SQLite"
  case engine = "engine"

  func open(_ path: String) throws -> any Storage {
    switch self {
    case .local: try LocalStorage(path: path)
    case .engine: try EngineStorage(path: path)
    }
  }
}

func fail(_ text: String) -> Never {
  kept_print_error(text + "\n", text.utf8.count + 1)
  exit(1)
}

func nanoseconds(_ body: () throws -> Void) rethrows -> Double {
  let clock = ContinuousClock()
  let took = try clock.measure(body)
  return Double(took.components.seconds) * 1e9 + Double(took.components.attoseconds) / 1e9
}

/// The memory that belongs to this process alone.
func privateBytes() -> Int {
  guard let file = fopen("/proc/self/smaps_rollup", "r") else { return 0 }
  defer { fclose(file) }
  var line = [CChar](repeating: 0, count: 256)
  var total = 0
  while fgets(&line, 256, file) != nil {
    let words = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self).split(
      separator: " ")
    if words.count > 1, words[0].hasPrefix("Private_"), let count = Int(words[1]) { total += count << 10 }
  }
  return total
}

/// As in benchmarks/rivals.
func key(_ number: Int) -> String {
  func digits(_ number: Int, _ count: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
  }
  return "section-\(digits(number / 1000, 3)).setting-\(digits(number, 6))"
}

/// Makes a store of `count` keys, and closes it.
func fill(_ kind: Kind, _ path: String, _ count: Int) throws {
  let storage = try kind.open(path)
  for start in stride(from: 0, to: count, by: 10_000) {
    var batch = Batch()
    for number in start..<min(start + 10_000, count) { batch.edit(try KeyName(key(number)), .set(.int(Int64(number)))) }
    _ = try storage.commit(batch)
  }
  if let storage = storage as? EngineStorage { try storage.engine.checkpoint() }
  storage.close()
}

/// The nanoseconds of a get of an integer, in an order without pattern.
func get(_ store: Store, _ keys: [PreparedKey], _ order: [Int]) -> Double {
  var (sum, out): (Int64, Int64) = (0, 0)
  let took = nanoseconds {
    for index in order {
      guard store.readInt64(keys[index].prepared, &out) == .value else { fail("\(keys[index].name) is not in memory") }
      sum &+= out
    }
  }
  guard sum == order.reduce(0, { $0 + Int64($1) }) else { fail("a wrong value was read") }
  return took / Double(order.count)
}

struct Benchmark {
  let root: String
  var figures: [String: [Kind: [Double]]] = [:]
  var names: [String] = []
  mutating func note(_ name: String, _ kind: Kind, _ figure: Double) {
    if figures[name] == nil { names.append(name) }
    figures[name, default: [:]][kind, default: []].append(figure)
  }

  /// The folder of a store, which is made with `count` keys if it does not exist.
  func folder(_ kind: Kind, _ count: Int, _ name: String = "keys") throws -> String {
    let path = "\(root)/\(kind.rawValue)-\(count)-\(name)"
    if access(path, F_OK) != 0 { try fill(kind, path, count) }
    return path
  }

  mutating func measureGets(_ kind: Kind, _ count: Int) throws {
    let path = try folder(kind, count)
    let keys = try (0..<count).map { PreparedKey(try KeyName(key($0))) }
    let order = Array(0..<count).shuffled()
    let (storage, before) = (try kind.open(path), privateBytes())
    let store = Store(storage: storage)
    for index in order { _ = try store.value(forKey: keys[index].name.text) }
    note("private bytes for each of \(count) keys read", kind, Double(privateBytes() - before) / Double(count))
    let rounds = max(1, 1_000_000 / count)
    let times = (0..<rounds).map { _ in get(store, keys, order) }.sorted()
    note("get of an int64, \(count) keys, ns", kind, times[times.count / 2])
    storage.close()
  }

  /// Opens a store, reads an integer, and closes it.
  mutating func noteOpening(_ name: String, _ kind: Kind, _ path: String, _ key: KeyName, _ expected: Int64) throws {
    var storage: (any Storage)?
    let took = try nanoseconds {
      let opened = try kind.open(path)
      guard try opened.entry(for: key)?.value == .int(expected) else { fail("a wrong value was read") }
      storage = opened
    }
    storage?.close()
    note("open to first value, 1000 keys\(name), µs", kind, took / 1000)
  }

  mutating func measureOpening(_ kind: Kind, joining: Bool) throws {
    let path = try folder(kind, 1000)
    let other = joining ? try kind.open(path) : nil
    defer { other?.close() }
    let name = try KeyName(key(500))
    for _ in 0..<50 { try noteOpening(joining ? ", joining" : ", alone", kind, path, name, 500) }
  }

  mutating func measureCommits(_ kind: Kind) throws {
    let store = Store(storage: try kind.open(folder(kind, 1000)))
    let name = try KeyName(key(7))
    for _ in 0..<20 {
      let took = try nanoseconds {
        for number in 0..<1000 { _ = try store.put(.int(Int64(number)), for: name, ifRevision: nil) }
      }
      note("commit of one int64, µs", kind, took / 1e6)
    }
    _ = try store.put(.int(7), for: name, ifRevision: nil)
    let names = try (0..<1000).map { try KeyName(key($0)) }
    for round in 0..<20 {
      let took = try nanoseconds {
        try store.transaction { transaction in
          for (index, name) in names.enumerated() {
            _ = try transaction.put(.int(Int64(round % 2 == 0 ? -index : index)), for: name, ifRevision: nil)
          }
        }
      }
      note("set in a transaction of 1000, ns", kind, took / 1000)
    }
    store.close()
  }

  /// Opens a store of 1,000 keys after 64 KiB of commits, next to a process that has it open.
  mutating func measureOpeningWithCommits(_ kind: Kind) throws {
    let path = try folder(kind, 1000, "frames")
    let name = try KeyName(key(500))
    for _ in 0..<10 {
      let writer = Store(storage: try kind.open(path))
      // A commit of one int64 has 80 bytes.
      for number in 0..<800 { _ = try writer.put(.int(Int64(number)), for: name, ifRevision: nil) }
      try noteOpening(" and 64 KiB of commits", kind, path, name, 799)
      writer.close()
    }
  }

  mutating func measureWhole(_ kind: Kind) throws {
    let storage = try kind.open(folder(kind, 100_000))
    let store = Store(storage: storage)
    for _ in 0..<5 {
      note("snapshot of 100000 keys, ms", kind, try nanoseconds { _ = try store.snapshot() } / 1e6)
      if let storage = storage as? EngineStorage {
        note("the snapshot of the engine alone, ms", kind, try nanoseconds { _ = try storage.engine.snapshot() } / 1e6)
      }
      note("export of 100000 keys, ms", kind, try nanoseconds { _ = try store.export() } / 1e6)
    }
    store.close()
  }

  /// Commits 100,000 keys while another thread, as another process, commits one again and again.
  mutating func measureImport(_ kind: Kind) throws {
    let path = try folder(kind, 1000, "import")
    var batch = Batch()
    for number in 0..<100_000 {
      batch.edit(try KeyName(key(number)), .set(.int(Int64.random(in: 0 ... .max))))
    }
    let (storage, other) = (try kind.open(path), Store(storage: try kind.open(path)))
    let (isOver, longest, name) = (Monitor(false), Monitor<Double?>(nil), try KeyName("another"))
    try LibraryThread.start {
      var most = 0.0
      var number: Int64 = 0
      while !isOver.read({ $0 }) {
        number += 1
        let took = nanoseconds { _ = try? other.put(.int(number), for: name, ifRevision: nil) }
        most = max(most, took)
        // Without pauses, the storage on SQLite does not get the write lock.
        MonotonicTime.letPass(microseconds: 100)
      }
      longest.update { $0 = most }
    }
    note("commit of 100000 keys, ms", kind, try nanoseconds { _ = try storage.commit(batch) } / 1e6)
    isOver.update { $0 = true }
    note("the longest commit of another thread at the same time, ms", kind, longest.wait { $0 } / 1e6)
    other.close()
    note("close after it, ms", kind, nanoseconds { storage.close() } / 1e6)
  }
}

guard CommandLine.arguments.count >= 2 else { fail("usage: engine-benchmark FOLDER [PART…]") }
var benchmark = Benchmark(root: CommandLine.arguments[1] + "/engine-benchmark-\(getpid())")
let parts = CommandLine.arguments.dropFirst(2)
func isWanted(_ part: String) -> Bool { parts.isEmpty || parts.contains(part) }
mkdir(benchmark.root, 0o700)
do {
  for _ in 0..<3 {
    for kind in Kind.allCases where isWanted("get") { try benchmark.measureGets(kind, 1000) }
    for kind in Kind.allCases where isWanted("get") { try benchmark.measureGets(kind, 100_000) }
    for kind in Kind.allCases where isWanted("open") { try benchmark.measureOpening(kind, joining: false) }
    for kind in Kind.allCases where isWanted("open") { try benchmark.measureOpening(kind, joining: true) }
    for kind in Kind.allCases where isWanted("open") { try benchmark.measureOpeningWithCommits(kind) }
    for kind in Kind.allCases where isWanted("commit") { try benchmark.measureCommits(kind) }
    for kind in Kind.allCases where isWanted("whole") { try benchmark.measureWhole(kind) }
    for kind in Kind.allCases where isWanted("import") { try benchmark.measureImport(kind) }
  }
} catch { fail("\(error)") }
for name in benchmark.names {
  let row = Kind.allCases.map { kind in
    let all = (benchmark.figures[name]?[kind] ?? []).sorted()
    let median = all.isEmpty ? 0 : all[all.count / 2]
    return "\(kind.rawValue) \((median * 10).rounded() / 10)"
  }
  print(name + ": " + row.joined(separator: ", "))
}
