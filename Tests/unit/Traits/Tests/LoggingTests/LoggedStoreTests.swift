// The log of failures that are not caught: the message, the level, and omissions.

import Foundation
import InMemoryLogging
import Kept
import KeptValues
import Logging
import Synchronization
import Testing

extension Keys {
  fileprivate static let volume = Key("audio.volume", default: 50)
}

/// A store in memory, and the log that it writes.
private struct LoggedStore {
  let store: Store
  let log: InMemoryLogHandler

  init(_ arguments: String..., errorHandler: @escaping @Sendable (StoreError) -> Void = { _ in }) throws {
    let log = InMemoryLogHandler()
    self.log = log
    let options = StoreOptions(arguments: ["program"] + arguments, errorHandler: errorHandler)
    store = try Store.open("memory:", options: options, logger: Logger(label: "test") { _ in log })
  }

  /// The only line that was written.
  func line() throws -> InMemoryLogHandler.Entry {
    try #require(log.entries.count == 1, "\(log.entries)")
    return log.entries[0]
  }
}

@Suite struct `A store with a logger` {
  @Test func `logs a value of the wrong type, with the key, the code and the store`() throws {
    let logged = try LoggedStore()
    try logged.store.set("loud", forKey: "audio.volume")
    #expect(logged.store[.volume] == 50)
    let line = try logged.line()
    #expect(line.level == .warning)
    #expect(line.message == #""audio.volume": holds a string, not an int"#)
    #expect(
      line.metadata == ["kept.store": "memory:", "kept.code": "wrong type", "kept.key": "audio.volume"])
  }

  @Test func `is silent while all is well, and about what it throws`() throws {
    let logged = try LoggedStore()
    logged.store[.volume] = 70
    #expect(logged.store[.volume] == 70)
    #expect(throws: StoreError.self) { try logged.store.set(1, forKey: "") }
    logged.store.close()
    #expect(throws: StoreError.self) { try logged.store.value(for: .volume) }
    #expect(logged.log.entries.isEmpty)
  }

  @Test func `logs the use of a closed store as an error`() throws {
    let logged = try LoggedStore()
    logged.store.close()
    logged.store[.volume] = 1
    let line = try logged.line()
    #expect(line.level == .error && line.metadata["kept.code"] == "closed")
    #expect(line.message == "the store was closed; open it again" && line.metadata["kept.key"] == nil)
  }

  @Test func `gives notice of a write that the command line hides`() throws {
    let logged = try LoggedStore("-audio.volume", "30")
    logged.store[.volume] = 70
    let line = try logged.line()
    #expect(line.level == .notice && line.metadata["kept.code"] == "shadowed")
    #expect(line.metadata["kept.key"] == "audio.volume")
  }

  @Test func `never writes a secret`() throws {
    let logged = try LoggedStore("-token", "hunter2")
    try logged.store.declare(Key<Int?>("token", secret: true))
    #expect(logged.store[Key<Int?>("token")] == nil)
    try logged.store.undeclare("token")
    try logged.store.declare(Key<String?>("token", .length(2...4), secret: true))
    logged.store[Key<String?>("token")] = "swordfish"
    let lines = logged.log.entries
    #expect(lines.count >= 2 && lines.allSatisfy { $0.metadata["kept.key"] == "token" })
    #expect(!lines.contains { "\($0)".contains("hunter2") || "\($0)".contains("swordfish") })
  }

  @Test func `keeps a key with line breaks in one line`() throws {
    let logged = try LoggedStore()
    let key = Key("a\nERROR all is lost\u{1B}[2J\u{2028}é", default: 1)
    try logged.store.set(true, forKey: key.name)
    #expect(logged.store[key] == 1)
    let line = try logged.line()
    #expect(line.metadata["kept.key"] == #"a\nERROR all is lost\u{1B}[2J\u{2028}é"#)
    #expect("\(line.message)".hasPrefix(#""a\nERROR all is lost\u{1B}[2J\u{2028}é": holds a bool"#))
  }

  @Test func `calls the program's own error handler with the same`() throws {
    let received = Mutex<[StoreError.Code]>([])
    let logged = try LoggedStore { error in received.withLock { $0.append(error.code) } }
    try logged.store.set("loud", forKey: "audio.volume")
    _ = logged.store[.volume]
    #expect(received.withLock(\.self) == [.wrongType])
    #expect(try logged.line().level == .warning)
  }

  @Test func `logs at the highest level that values may be lost`() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("kept-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let first = try Store.open(folder.path)
    try first.set(1, forKey: "a")
    first.close()
    try Data(repeating: 0x55, count: 20_000).write(to: folder.appendingPathComponent("values"))
    let log = InMemoryLogHandler()
    _ = try Store.open(folder.path, logger: Logger(label: "test") { _ in log })
    #expect(log.entries.map(\.level) == [.critical])
    #expect(log.entries.first?.metadata == ["kept.code": "salvaged", "kept.store": "\(folder.path)"])
  }

  @Test func `may be on a storage of one's own`() throws {
    let log = InMemoryLogHandler()
    let store = Store(storage: MemoryStorage(), logger: Logger(label: "test") { _ in log })
    store[Key("", default: 1)] = 2
    let line = try #require(log.entries.first)
    #expect(line.metadata["kept.store"] == "MemoryStorage" && line.metadata["kept.code"] == "invalid")
  }

  @Test func `respects the level of the logger`() throws {
    var log = InMemoryLogHandler()
    log.logLevel = .error
    let store = Store(storage: MemoryStorage(), logger: Logger(label: "test") { [log] _ in log })
    try store.set("loud", forKey: "audio.volume")
    _ = store[.volume]
    #expect(log.entries.isEmpty)
    store.close()
    _ = store[.volume]
    #expect(log.entries.map(\.level) == [.error])
  }
}

@Suite struct `A failure` {
  @Test func `is as loud as what it puts at risk`() {
    let levels: [StoreError.Code: Logger.Level] = [
      .shadowed: .notice, .wrongType: .warning, .misfit: .warning, .locked: .warning, .conflict: .warning,
      .busy: .error, .noSpace: .error, .denied: .error, .unavailable: .error, .closed: .error, .failed: .error,
      .corrupt: .critical, .salvaged: .critical,
    ]
    for (code, level) in levels { #expect(StoreError(code, "x").logLevel == level, "\(code)") }
  }

  @Test func `of a kind that a later version adds is an error`() {
    #expect(StoreError(StoreError.Code(rawValue: -99), "x").logLevel == .error)
  }
}
