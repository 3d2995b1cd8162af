// Stores that several processes have open: here each `Engine` is one, with its own locks.

import CPlatform
import Foundation
@testable import KeptEngine
import KeptSystem
import KeptValues
import Testing

@Suite struct EngineTests {
  private let folder: TestFolder

  init() throws { folder = try TestFolder() }

  private func open(milliseconds: Int64 = 5000) throws -> Engine {
    try Engine(try OpenFolder.own(folder.path), timeoutMilliseconds: milliseconds)
  }

  @Test func `a store is in its place after a checkpoint of another process, and not without its files`() throws {
    let (one, other) = (try open(), try open())
    try one.set("a", .int(1))
    for _ in 0..<2 {
      try other.set("a", .int(2))
      try other.checkpoint()
    }
    try one.checkPlace()
    #expect(try one.state(of: "a").value == .int(2))
    try FileManager.default.removeItem(atPath: folder.path + "/journal.2")
    #expect(throws: StoreError.self) { try one.checkPlace() }
    #expect(throws: StoreError.self) { try one.state(of: "a") }
  }

  @Test func `a closed store leaves no mapping, and its position stays readable`() throws {
    func mappings() throws -> Int {
      // Foundation finds that the file has no size.
      let name = URL(filePath: folder.path).lastPathComponent
      return try String(decoding: FileHandle(forReadingAtPath: "/proc/self/maps")?.readToEnd() ?? Data(), as: UTF8.self)
        .components(separatedBy: name + "/pulse").count - 1
    }
    var addresses: Set<UnsafePointer<UInt64>> = []
    for _ in 0..<50 {
      let engine = try open()
      let address = engine.publishedAddress
      try engine.set("a", .int(1))
      engine.close()
      withExtendedLifetime(engine) {}
      addresses.insert(address)
    }
    #expect(addresses.count < 25, "other tests use some at the same time")
    for address in addresses { #expect(address.pointee % 8 <= 1) }
    #expect(try mappings() == 0)
  }

  @Test func `what was set is read, by others and after opening again`() throws {
    let one = try open()
    let other = try open()
    try one.set("a", .int(1))
    #expect(try other.state(of: "a").value == .int(1))
    try other.set("b", .string("ü"))
    try one.set("a", nil)
    #expect(try one.state(of: "b").value == .string("ü"))
    #expect(try other.state(of: "a") == KeyState(value: nil, declaration: nil, revision: 3, changed: 3))
    one.close()
    other.close()
    #expect(throws: StoreError.self) { try one.state(of: "a") }
  }

  @Test func `commits that are published together, or were built elsewhere, are read by all processes`() throws {
    let (one, other) = (try open(), try open())
    try one.commit { chain, writer throws(StoreError) in
      for (number, key) in (["a", "b", "c"] as [KeyName]).enumerated() {
        try writer.begin(FrameHead(writer: 1, revision: chain.revision + 1 + Revision(number), time: 0))
        try writer.add(.int(Int64(number)), for: key)
        try writer.end()
      }
    }
    let frames = FrameWriter()
    try one.takeTurn(timeoutMilliseconds: 5000) { turn throws(StoreError) in
      try turn.read { chain throws(StoreError) in
        frames.begin(at: chain.place)
        try frames.begin(FrameHead(writer: 1, revision: chain.revision + 1, time: 0))
        try frames.add(.int(3), for: "d")
        try frames.end()
      }
      try turn.publish(frames)
    }
    one.add(frames)
    for engine in [one, other] {
      for (number, key) in (["a", "b", "c", "d"] as [KeyName]).enumerated() {
        #expect(try engine.state(of: key).value == .int(Int64(number)))
      }
      #expect(try engine.revision() == 4)
    }
  }

  @Test func `a sealed secret is opened for writers and listings, unless they leave it sealed`() throws {
    final class Opening: SecretOpening {
      func open(_ sealed: [UInt8], of key: KeyName, at revision: Revision) throws(StoreError) -> Value { .bool(true) }
      func reseal(_ value: StoredValue, of key: KeyName, at revision: Revision?) -> [UInt8]? { nil }
    }
    try open().commit { chain, writer throws(StoreError) in
      try writer.begin(FrameHead(writer: 1, revision: 1, time: 0))
      try writer.add(sealed: [1, 2, 3], for: "a")
      try writer.end()
    }
    let engine = try Engine(try OpenFolder.own(folder.path), secrets: Opening())
    var found: [Value?] = []
    try engine.takeTurn(timeoutMilliseconds: 5000) { turn throws(StoreError) in
      try turn.build { chain, _ throws(StoreError) in found.append(try chain.state(of: "a").value) }
    }
    try engine.read { chain throws(StoreError) in
      try chain.forEachState(below: "") { _, state throws(StoreError) in found.append(try state.get().value) }
      try chain.forEachState(below: "", opens: false) { _, state throws(StoreError) in
        found.append(try state.get().value)
      }
    }
    #expect(found == [.bool(true), .bool(true), .bytes([1, 2, 3])])
  }

  @Test func `a store that was opened again has everything`() throws {
    try { try open().set("a", .int(1)) }()
    try { try open().set("b", .int(2)) }()
    let engine = try open()
    #expect(try engine.state(of: "a").value == .int(1))
    #expect(try engine.state(of: "b").value == .int(2))
    #expect(try engine.revision() == 2)
  }

  @Test func `a checkpoint changes nothing that is read`() throws {
    let (one, other) = (try open(), try open())
    for number in 0..<200 { try one.set(KeyName("k\(number % 50)"), number % 7 == 0 ? nil : .int(Int64(number))) }
    let before = try (0..<60).map { try other.state(of: KeyName("k\($0)")) }
    #expect(try one.checkpoint())
    #expect(try (0..<60).map { try one.state(of: KeyName("k\($0)")) } == before)
    #expect(try (0..<60).map { try other.state(of: KeyName("k\($0)")) } == before)
    try other.checkpoint()
    try one.set("k1", .int(-1))
    #expect(try other.state(of: "k1").value == .int(-1))
    #expect(try open().state(of: "k2") == before[2])
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        == ["history.1", "journal.2", "pulse", "values"])
  }

  @Test func `a store whose journal was replaced by another process is in its place`() throws {
    let (one, other) = (try open(), try open())
    try one.set("a", .int(1))
    try other.checkpoint()
    try one.checkPlace()
    unlink(folder.path + "/values")
    #expect(throws: StoreError.self) { try one.checkPlace() }
  }

  @Test func `a failed commit leaves nothing`() throws {
    let engine = try open()
    try engine.set("a", .int(1))
    let refusal = StoreError(.conflict, "another value was expected")
    #expect(throws: StoreError.self) {
      try engine.commit { chain, writer throws(StoreError) in
        try writer.begin(FrameHead(writer: 1, revision: chain.revision + 1, time: 0))
        try writer.add(.int(2), for: "a")
        throw refusal
      }
    }
    #expect(try engine.state(of: "a").value == .int(1))
    #expect(try open().revision() == 1)
  }

  @Test func `a commit next to a process that has the write lock is busy, and is made without waiting or not at all`()
    throws
  {
    let (engine, other) = (try open(), try open())
    func attempt() -> Revision? {
      engine.tryCommit { chain, writer throws(StoreError) in
        try writer.begin(FrameHead(writer: 1, revision: chain.revision + 1, time: 0))
        try writer.add(.int(1), for: "a")
        try writer.end()
        return true
      }
    }
    #expect(attempt() == 1)
    #expect(other.pulse.tryLockForWriting())
    #expect(attempt() == nil)
    let busy = #expect(throws: StoreError.self) { try engine.commit(timeoutMilliseconds: 0) { _, _ in } }
    #expect(busy?.code == .busy)
    other.pulse.unlockForWriting()
    #expect(attempt() == 2)
    try other.set("b", .int(1))
    #expect(attempt() == nil, "the commit of the other process must be read first")
    #expect(try engine.revision() == 3)
    engine.close()
    #expect(attempt() == nil)
    #expect(try other.revision() == 3)
  }

  @Test func `a commit that another process overtakes without the lock leaves nothing`() throws {
    let engine = try open()
    let begin = engine.published
    let error = #expect(throws: StoreError.self) {
      try engine.commit { chain, writer throws(StoreError) in
        try writer.begin(FrameHead(writer: 1, revision: 1, time: 0))
        try writer.add(.int(1), for: "a")
        try writer.end()
        #expect(engine.pulse.words.publish(begin + 8, after: begin))
      }
    }
    #expect(error?.code == .busy)
    #expect(engine.pulse.words.publish(begin, after: begin + 8))
    #expect(try engine.state(of: "a").value == nil && open().revision() == 0)
  }

  @Test func `each commit wakes a process that sleeps`() throws {
    let (engine, other) = (try open(), try open())
    for number in 1...3 as ClosedRange<Int64> {
      // It returns at once, and leaves the mark of a sleeper.
      engine.sleep(seen: engine.published + 8, wakes: engine.wakes, milliseconds: 0)
      let wakes = engine.wakes
      try other.set("a", .int(number))
      #expect(engine.wakes != wakes)
    }
  }

  @Test func `while another process makes a checkpoint none is made, and a sync that needs one is refused`() throws {
    let (engine, other) = (try open(milliseconds: 0), try open())
    try engine.set("a", .int(1))
    // As after a sync that has failed.
    engine.pulse.words.doubt(journal: 0)
    #expect(other.pulse.takeCheckpointing())
    #expect(try !engine.checkpoint())
    let error = #expect(throws: StoreError.self) { try engine.sync() }
    #expect(error?.code == .unavailable)
    other.pulse.releaseCheckpointing()
    try engine.sync()
    #expect(engine.pulse.words.synced >= engine.published)
  }

  @Test func `a commit between a sync and its end leaves the store unsynced`() throws {
    let (engine, other, again) = (try open(), try open(), Monitor<Int64?>(nil))
    try engine.set("a", .int(1))
    try other.takeTurn(timeoutMilliseconds: 5000) { turn throws(StoreError) in
      Thread {
        let next = engine.maintain()
        again.update { $0 = next ?? 0 }
      }.start()
      // It has synced, and waits for the write lock.
      while again.read(\.self) == nil, engine.writing.tryUpdateQuietly({ _ in true }) != nil { sched_yield() }
      try turn.build { chain, writer throws(StoreError) in
        try writer.begin(FrameHead(writer: 1, revision: 2, time: 0))
        try writer.add(.int(2), for: "a")
        try writer.end()
      }
      try turn.publish()
    }
    #expect(again.wait { $0 } == 1000)
    #expect(engine.isDirty)
  }

  @Test func `a long value in a journal is the same as no other`() throws {
    let (engine, text) = (try open(), String(repeating: "x", count: 20_000))
    try engine.set("a", .string(text))
    try engine.read { chain throws(StoreError) in
      guard case .inJournal(let place)? = try chain.change(of: "a")?.value else {
        Issue.record("the value is in memory")
        return
      }
      #expect(try place.isSame(as: .string(text)))
      for other in [.string(text + "x"), .string("y" + text.dropFirst()), .bytes(Array(text.utf8))] as [Value] {
        #expect(try !place.isSame(as: other))
      }
    }
  }

  /// Random operations of three processes, which end, are killed and open again, against a dictionary.
  @Test(arguments: 1...12) func `several processes agree with a model`(seed: UInt64) throws {
    var numbers = SeededRandom(seed)
    var model: [KeyName: KeyState] = [:]
    var revision: Revision = 0
    var engines = [try open(), try open(), try open()]
    let keys = try (0..<30).map { try KeyName("key\($0)") }
    for step in 0..<400 {
      let index = Int.random(in: 0..<engines.count, using: &numbers)
      let engine = engines[index]
      switch Int.random(in: 0..<40, using: &numbers) {
      case 0: try engine.checkpoint()
      case 1: try engine.sync()
      case 2:
        engines[index] = try open()
      case 3:
        // All end at once, as if they were killed: nothing is written at the end.
        engines = []
        engines = [try open(), try open(), try open()]
      case 4..<25:
        revision += 1
        try engine.commit { chain, writer throws(StoreError) in
          #expect(chain.revision == revision - 1)
          try writer.begin(FrameHead(writer: engine.author, revision: revision, time: 0))
          for _ in 0..<Int.random(in: 1...4, using: &numbers) {
            guard let key = keys.randomElement(using: &numbers) else { continue }
            var known = try chain.state(of: key)
            if let before = model[key] {
              known = before
            }
            switch Int.random(in: 0..<6, using: &numbers) {
            case 0:
              (known.value, known.revision) = (nil, revision)
              try writer.add(.removed, for: key)
            case 1:
              known.declaration = #"{"type":"integer"}"#
              try writer.add(.declared, ExactString(known.declaration ?? ""), for: key)
            case 2:
              known.declaration = nil
              try writer.add(.undeclared, for: key)
            default:
              let size = Int.random(in: 0..<10, using: &numbers) == 0 ? 20_000 : 10
              (known.value, known.revision) = (.bytes(Array(repeating: UInt8(step % 256), count: size)), revision)
              try known.value.map { value throws(StoreError) in try writer.add(value, for: key) }
            }
            known.changed = revision
            model[key] = known
          }
          try writer.end()
        }
      default:
        for key in keys.shuffled(using: &numbers).prefix(5) {
          let expected = model[key] ?? KeyState(value: nil, declaration: nil, revision: 0, changed: 0)
          #expect(try engine.state(of: key) == expected, "step \(step), \(key)")
        }
        #expect(try engine.revision() == revision)
      }
    }
  }

  @Test func `without its pulse, an open store takes no newcomers, and goes on`() throws {
    let engine = try open()
    try engine.set("a", .int(1))
    unlink(folder.path + "/pulse")
    #expect(throws: StoreError.self) { try open(milliseconds: 20) }
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/pulse"))
    try engine.set("a", .int(2))
    #expect(try engine.state(of: "a").value == .int(2))
  }

  @Test func `the last process to close leaves a short journal, and others leave it`() throws {
    let (one, other) = (try open(), try open())
    for number in 0..<200 { try one.set("a", .int(Int64(number))) }
    one.close()
    #expect(FileManager.default.fileExists(atPath: folder.path + "/journal.0"))
    other.close()
    #expect(FileManager.default.fileExists(atPath: folder.path + "/journal.1"))
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/journal.0"))
    #expect(try open().state(of: "a").value == .int(199))
  }

  @Test func `the last process to close leaves a short journal next to a checkpoint of some megabytes`() throws {
    func journals() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix("journal") }
    }
    let engine = try open()
    try engine.set("long", .bytes(Array(repeating: 1, count: 3 << 20)))
    engine.close()
    let (before, again) = (try journals(), try open())
    for number in 0..<200 { try again.set("a", .int(Int64(number))) }
    again.close()
    #expect(try journals() != before)
  }

  @Test func `maintenance makes a checkpoint of a long journal, and syncs`() throws {
    let engine = try open()
    try engine.set("a", .bytes(Array(repeating: 1, count: 60_000)))
    #expect(engine.maintain() == nil)
    #expect(!engine.isDirty)
    #expect(FileManager.default.fileExists(atPath: folder.path + "/journal.0"))
    try engine.set("a", .bytes(Array(repeating: 2, count: 60_000)))
    #expect(engine.isDirty)
    #expect(engine.maintain() == nil)
    #expect(FileManager.default.fileExists(atPath: folder.path + "/journal.1"))
    #expect(!engine.isDirty)
    #expect(try engine.state(of: "a").value == .bytes(Array(repeating: 2, count: 60_000)))
    // Where the format of the files says that it is.
    let synced = try folder.contents("pulse").withUnsafeBytes { $0.number(192, UInt64.self) }
    #expect(synced == engine.published)
    engine.close()
    #expect(engine.maintain() == nil)
  }

  @Test func `maintenance makes a checkpoint after a sync that has failed`() throws {
    let engine = try open()
    try engine.set("a", .int(1))
    engine.pulse.words.doubt(journal: 0)
    #expect(engine.maintain() == nil)
    #expect(engine.pulse.words.doubt == 0 && !engine.isDirty)
    #expect(FileManager.default.fileExists(atPath: folder.path + "/journal.1"))
  }

  @Test func `a commit next to journals that are too long makes a checkpoint first`() throws {
    let engine = try open()
    for number in 1...5 as ClosedRange<UInt8> {
      try engine.set("a", .bytes(Array(repeating: number, count: 14 << 20)))
    }
    #expect(FileManager.default.fileExists(atPath: folder.path + "/journal.0"))
    try engine.set("b", .int(1))
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/journal.0"))
    #expect(try engine.state(of: "a").value == .bytes(Array(repeating: 5, count: 14 << 20)))
  }

  @Test func `a checkpoint removes what a killed process has left, and names what it cannot remove`() throws {
    let engine = try open()
    try engine.set("a", .int(1))
    for name in [".new-values", ".new-history.1", "history.1"] { try folder.write([1], to: name) }
    try engine.checkpoint()
    #expect(try engine.past().changes.count == 1)
    mkdir(folder.path + "/.new-values", 0o700)
    try engine.set("a", .int(2))
    let error = #expect(throws: StoreError.self) { try engine.checkpoint() }
    #expect(error?.message.contains("could not create a file in \(folder.path)") == true, "\(error as Any)")
  }

  @Test func `a process that closes erases secrets next to an idle one, and maintenance does`() throws {
    func holds(_ text: String) throws -> Bool {
      try FileManager.default.contentsOfDirectory(atPath: folder.path).contains {
        Data(try folder.contents($0)).range(of: Data(text.utf8)) != nil
      }
    }
    let (one, other) = (try open(), try open())
    try one.declare("a", #"{"secret":true}"#)
    try one.set("a", .string("hush-1"), second: 1)
    try one.set("a", .string("hush-2"), second: 5, erases: true)
    let due = try #require(other.maintain(now: 0))
    #expect(other.maintain(now: due - 1) == 1)
    #expect(try holds("hush-1"), "a checkpoint that is new is not replaced")
    #expect(other.maintain(now: due) == nil)
    #expect(try !holds("hush-1") && holds("hush-2"))
    try one.set("a", .string("hush-3"), second: 9, erases: true)
    one.close()
    #expect(try !holds("hush-2") && holds("hush-3"))
    other.close()
    #expect(try open().state(of: "a").value == .string("hush-3"))
  }

  @Test func `the keys that have changed are known over several checkpoints`() throws {
    let engine = try open()
    for key in ["a", "b", "c"] as [KeyName] { try engine.set(key, .int(1)) }
    let base = try engine.read { $0.revision }
    try engine.checkpoint()
    try engine.set("b", .int(2))
    try engine.checkpoint()
    try engine.set("c", nil)
    try engine.checkpoint()
    try engine.set("d", .int(1))
    #expect(try engine.read { chain throws(StoreError) in try chain.keys(changedAfter: base) } == ["b", "c", "d"])
  }

  @Test func `a checkpoint that fails is tried again after longer and longer pauses`() throws {
    let engine = try open()
    let draft = folder.path + "/.new-values"
    var now: Int64 = 1_000_000
    func maintain() throws -> Int64? {
      // Commits are synced all the same.
      try engine.set("a", .bytes(Array(repeating: 1, count: 100_000)))
      defer { #expect(!engine.isDirty) }
      return engine.maintain(now: now)
    }
    mkdir(draft, 0o700)
    for pause: Int64 in [1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 64_000] {
      #expect(try maintain() == pause)
      now += pause
    }
    rmdir(draft)
    now -= 1
    #expect(try maintain() == 1)
    #expect(FileManager.default.fileExists(atPath: folder.path + "/journal.0"))
    now += 1
    // It had begun with a journal that ended at its first attempt, and the one since is long too.
    #expect(try maintain() == 1000)
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/journal.0"))
    #expect(try maintain() == nil)
    mkdir(folder.path + "/.new-values", 0o700)
    #expect(try maintain() == 1000, "the pauses begin anew")
  }

  @Test(.enabled(if: SystemStart.id != 0)) func `what was synced before is not synced by the next process`() throws {
    let engine = try open()
    try engine.set("a", .int(1))
    engine.close()
    #expect(try !open().isDirty)
    // Killed, a process has synced nothing.
    try { try open().set("a", .int(2)) }()
    #expect(try open().isDirty)
  }

  @Test func `a reader sees what others commit, over checkpoints, and changes nothing`() throws {
    let engine = try open()
    try engine.set("a", .int(1))
    let reader = try ReadOnlyEngine(try OpenFolder.own(folder.path))
    func seen() throws -> Value? { try reader.read { chain throws(StoreError) in try chain.state(of: "a").value } }
    #expect(try seen() == .int(1))
    for number in 2..<40 as Range<Int64> {
      try engine.set("a", .int(number))
      if number % 3 == 0 { try engine.checkpoint() }
      #expect(try seen() == .int(number))
    }
    engine.close()
    let before = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(try ReadOnlyEngine(try OpenFolder.own(folder.path)).read { $0.revision } == 39)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == before)
    // It had no lock: another process can still open the store alone.
    #expect(try open().state(of: "a").value == .int(39))
  }

  @Test func `a reader believes a pulse only while a process has the store open`() throws {
    func seen() throws -> Value? {
      try ReadOnlyEngine(try OpenFolder.own(folder.path)).read { chain throws(StoreError) in
        try chain.state(of: "a").value
      }
    }
    func findings() throws -> [Finding] { try Verification.findings(in: OpenFolder.own(folder.path)) }
    let first = try open()
    try first.set("a", .int(1))
    first.close()
    let yesterday = try folder.contents("pulse")
    let second = try open()
    try second.set("a", .int(2))
    let frames = FrameWriter()
    try second.read { chain throws(StoreError) in
      frames.begin(at: chain.place)
      try frames.begin(FrameHead(writer: 1, revision: 3, time: 0))
      try frames.add(.int(3), for: "a")
      try frames.end()
      // As by a writer that has not published it yet.
      try chain.last.write(frames.bytes, at: chain.place.position)
    }
    #expect(try seen() == .int(2) && findings() == [])
    second.close()
    try folder.write(yesterday, to: "pulse")
    // The next process that opens the store commits it.
    #expect(try seen() == .int(3) && findings() == [])
    #expect(try open().state(of: "a").value == .int(3))
  }

  @Test func `a process with observers knows the keys of commits that a checkpoint has`() throws {
    let (one, other) = (try open(), try open())
    try one.set("a", .int(1))
    try one.read { $0.isObserved = true }
    try other.set("b", .int(2))
    try other.checkpoint()
    try other.set("c", .int(3))
    let keys = try one.read { chain throws(StoreError) in try chain.keys(changedAfter: 0) }
    #expect(keys == ["a", "b", "c"])
  }

  @Test func `a reader needs no pulse of a store without commits`() throws {
    try open().close()
    unlink(folder.path + "/pulse")
    #expect(try ReadOnlyEngine(try OpenFolder.own(folder.path)).read { $0.revision } == 0)
  }

  @Test func `a reader does not make a store`() throws {
    #expect(throws: StoreError.self) { try ReadOnlyEngine(try OpenFolder.own(folder.path)) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }

  @Test func `a reader says corrupt of a store without its journal`() throws {
    let engine = try open()
    try engine.set("a", .int(1))
    let reader = try ReadOnlyEngine(try OpenFolder.own(folder.path))
    unlink(folder.path + "/journal.0")
    let opened = #expect(throws: StoreError.self) { try ReadOnlyEngine(try OpenFolder.own(folder.path)) }
    #expect(opened?.code == .corrupt)
    // What was open before stays so.
    #expect(try reader.read { $0.revision } == 1)
    withExtendedLifetime(engine) {}
  }

  @Test func `a seal without its journal does not count`() throws {
    try {
      let engine = try open()
      try engine.set("a", .int(1))
    }()
    // As after a loss of power that has taken the name, which rule 3 excludes.
    let bytes = try folder.contents("journal.0")
    let writer = FrameWriter()
    let journal = Journal(
      folder.open("journal.0"), try #require(try Journal.header(of: folder.open("journal.0"))), begin: 0)
    let scanner = try FrameScanner(journal, at: journal.first(after: 0))
    while try scanner.read() != nil {}
    writer.begin(at: scanner.place)
    try writer.seal(next: 77)
    try journal.write(writer.bytes, at: scanner.place.position)
    #expect(try folder.contents("journal.0") != bytes)
    let engine = try open()
    #expect(try engine.state(of: "a").value == .int(1))
    try engine.set("a", .int(2))
    #expect(try open().state(of: "a").value == .int(2))
  }

  /// Tests/simulation/power-loss kills the process at each call.
  @Test func `no file has a replaced secret, wherever the process that replaced it has ended`() throws {
    for round in 0..<256 {
      let folder = try TestFolder()
      func open() throws -> Engine { try Engine(try OpenFolder.own(folder.path)) }
      func maintain(_ engine: Engine) { _ = engine.maintain(now: .max / 2) }
      let secrets = (0..<5).map { "secret-\(round)-\($0)" }
      // Each bit decides whether a step is followed by a checkpoint; at the end, the process does not close the store.
      try {
        let engine = try open()
        try engine.set("token", .string(secrets[0]), second: 1)
        try engine.set("token", .string(secrets[1]), second: 10)
        if round & 1 == 0 { try engine.checkpoint() }
        try engine.commit { chain, writer throws(StoreError) in
          try writer.begin(FrameHead(writer: engine.author, revision: chain.revision + 1, time: 0, erases: true))
          try writer.add(.declared, "{\"secret\":true}", for: "token")
          try writer.end()
        }
        if round & 2 == 0 { maintain(engine) }
        for number in 2...3 + round >> 7 {
          try engine.set("token", .string(secrets[number]), second: Int64(100 * number), erases: true)
          if round & 1 << number == 0 { maintain(engine) }
        }
        if round & 32 == 0 { try engine.set("token", nil, second: 1000, erases: true) }
        if round & 64 == 0 { maintain(engine) }
      }()
      let next = try open()
      // The first call may only finish a checkpoint.
      for _ in 0..<2 { maintain(next) }
      let value = try next.state(of: "token").value
      for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
        let bytes = Data(try folder.contents(name))
        for secret in secrets where value != .string(secret) {
          #expect(bytes.range(of: Data(secret.utf8)) == nil, "round \(round): \(name) has \(secret)")
        }
      }
    }
  }
}

extension Engine {
  func state(of key: KeyName) throws(StoreError) -> KeyState {
    try read { chain throws(StoreError) in try chain.state(of: key) }
  }

  func revision() throws(StoreError) -> Revision { try read { chain throws(StoreError) in chain.revision } }

  /// Sets or removes a key.
  func set(_ key: KeyName, _ value: Value?) throws {
    try commit { chain, writer throws(StoreError) in
      try writer.begin(FrameHead(writer: author, revision: chain.revision + 1, time: 0))
      if let value { try writer.add(value, for: key) } else { try writer.add(.removed, for: key) }
      try writer.end()
    }
  }
}
