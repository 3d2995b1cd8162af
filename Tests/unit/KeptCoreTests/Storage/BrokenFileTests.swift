// One unreadable file among others: it is an error of its own key, reported once, and all other keys work.

import Foundation
@testable import KeptSystem
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite(.timeLimit(.minutes(30))) struct `A broken file in a directory storage` {
  private let folder: TemporaryFolder
  private let path: String
  private let store: Store
  private let reported = Monitor<[StoreError]>([])
  private let received = Monitor<[String]>([])

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path + "/files"
    let reported = self.reported
    let storage = SimpleStorageAdapter(try DirectoryStorage(path: path))
    store = Store(storage: storage, options: StoreOptions { error in reported.update { $0.append(error) } })
  }

  /// Replaces a file atomically: a partly written file would be broken in another way.
  private func write(_ text: String, _ name: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder.path)/draft"))
    rename("\(folder.path)/draft", "\(path)/\(name)")
  }

  private func observe(initial: Bool = false) throws -> Subscription {
    let received = self.received
    return try store.observe(.prefix(""), initial: initial) { notice in
      received.update { $0 += notice.changes.map { "\($0.key)=\($0.new?.json ?? "-")" } }
    }
  }

  private func awaitChange(_ text: String) { let _: Bool = received.wait { $0.contains(text) ? true : nil } }
  private func awaitErrors(_ count: Int) { let _: Bool = reported.wait { $0.count >= count ? true : nil } }

  @Test func `is reported once, and the others are delivered`() throws {
    try write("1", "a.json")
    let subscription = try observe()
    try write("{", "a.json")
    awaitErrors(1)
    #expect(reported.read { $0[0].code == .corrupt && $0[0].key == "a" })
    try write("2", "b.json")
    awaitChange("b=2")
    try write("3", "a.json")
    awaitChange("a=3")
    #expect(received.read { $0 } == ["b=2", "a=3"], "it was never delivered as absent")
    #expect(reported.read(\.count) == 1)
    subscription.cancel()
    store.close()
  }

  @Test func `that existed before lets the others be read by prefix, and is reported to observers`() throws {
    try write("{", "a.json")
    try FileManager.default.createDirectory(atPath: path + "/c.json", withIntermediateDirectories: false)
    try write("2", "b.json")
    let subscription = try observe(initial: true)
    #expect(received.read { $0 } == ["b=2"])
    awaitErrors(2)
    #expect(reported.read { Set($0.map { "\($0.key ?? "-") \($0.code)" }) } == ["a corrupt", "c unavailable"])
    #expect(try store.keys() == ["a", "b", "c"], "they count as there")
    try write("7", "a.json")
    awaitChange("a=7")
    #expect(reported.read(\.count) == 2)
    subscription.cancel()
    store.close()
  }

  @Test func `is replaced by a transaction that has tried to read it`() throws {
    try write("{", "a.json")
    try store.transaction { transaction in
      #expect(throws: StoreError.self) { try transaction.entry(for: key("a")) }
      _ = try transaction.set(2, forKey: "a")
    }
    #expect(try store.entry(for: key("a"))?.value == 2)
    store.close()
  }

  @Test func `is reported again when it is broken in another way`() throws {
    let subscription = try observe()
    try write("{", "a.json")
    awaitErrors(1)
    try write("null", "a.json")
    awaitErrors(2)
    #expect(reported.read { $0[0].message != $0[1].message })
    subscription.cancel()
    store.close()
  }

  @Test func `does not prevent writing or observing another key`() throws {
    try write("1", "a.json")
    let subscription = try observe()
    try write("{", "a.json")
    // It may have been read already or not; both are correct.
    try store.setJSON("2", forKey: "b")
    let other = try store.observe(.key(key("b"))) { _ in }
    try store.transaction { try $0.setJSON("3", forKey: "b") }
    awaitChange("b=3")
    #expect(code { try store.json(forKey: "a") } == .corrupt)
    #expect(code { try store.observe(.key(key("a"))) { _ in } } == .corrupt, "an error, and no absence")
    #expect(try String(contentsOfFile: path + "/a.json", encoding: .utf8) == "{")
    subscription.cancel()
    other.cancel()
    store.close()
  }
}
