// One unreadable file among others: it is an error of its own key, reported once, and all other keys work.

import Foundation
import Testing

@testable import KeptCore

@Suite(.timeLimit(.minutes(5))) struct `A broken file in a directory storage` {
  private let folder: TemporaryFolder
  private let path: String
  private let store: Store
  private let told = Monitor<[StoreError]>([])
  private let heard = Monitor<[String]>([])

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path + "/files"
    let told = self.told
    let storage = SimpleStorageAdapter(try DirectoryStorage(path: path))
    store = Store(storage: storage, options: StoreOptions { error in told.update { $0.append(error) } })
  }

  /// Replaces a file atomically: a partly written file would be broken in another way.
  private func write(_ text: String, _ name: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder.path)/draft"))
    rename("\(folder.path)/draft", "\(path)/\(name)")
  }

  private func observe(initial: Bool = false) throws -> Subscription {
    let heard = self.heard
    return try store.observe(.prefix(""), initial: initial) { notice in
      heard.update { $0 += notice.changes.map { "\($0.key)=\($0.new?.json ?? "-")" } }
    }
  }

  private func hear(_ text: String) { let _: Bool = heard.wait { $0.contains(text) ? true : nil } }
  private func hearOfErrors(_ count: Int) { let _: Bool = told.wait { $0.count >= count ? true : nil } }

  @Test func `is told once, and the others all the same`() throws {
    try write("1", "a.json")
    let subscription = try observe()
    try write("{", "a.json")
    hearOfErrors(1)
    #expect(told.read { $0[0].code == .corrupt && $0[0].key == "a" })
    try write("2", "b.json")
    hear("b=2")
    try write("3", "a.json")
    hear("a=3")
    #expect(heard.read { $0 } == ["b=2", "a=3"], "it was never told as absent")
    #expect(told.read(\.count) == 1)
    subscription.cancel()
    store.close()
  }

  @Test func `was there before: the others are read by their prefix, and whoever observes hears of it`() throws {
    try write("{", "a.json")
    try FileManager.default.createDirectory(atPath: path + "/c.json", withIntermediateDirectories: false)
    try write("2", "b.json")
    let subscription = try observe(initial: true)
    #expect(heard.read { $0 } == ["b=2"])
    hearOfErrors(2)
    #expect(told.read { Set($0.map { "\($0.key ?? "-") \($0.code)" }) } == ["a corrupt", "c unavailable"])
    #expect(try store.keys() == ["a", "b", "c"], "they count as there")
    try write("7", "a.json")
    hear("a=7")
    #expect(told.read(\.count) == 2)
    subscription.cancel()
    store.close()
  }

  @Test func `is told again when it is broken in another way`() throws {
    let subscription = try observe()
    try write("{", "a.json")
    hearOfErrors(1)
    try write("null", "a.json")
    hearOfErrors(2)
    #expect(told.read { $0[0].message != $0[1].message })
    subscription.cancel()
    store.close()
  }

  @Test func `keeps nobody from writing or observing another key`() throws {
    try write("1", "a.json")
    let subscription = try observe()
    try write("{", "a.json")
    // It may have been read already or not; both are correct.
    try store.setJSON("2", forKey: "b")
    let other = try store.observe(.key(key("b"))) { _ in }
    try store.transaction { try $0.setJSON("3", forKey: "b") }
    hear("b=3")
    #expect(code { try store.json(forKey: "a") } == .corrupt)
    #expect(code { try store.setJSON("4", forKey: "a") } == .corrupt)
    #expect(code { try store.observe(.key(key("a"))) { _ in } } == .corrupt, "an error, and no absence")
    #expect(try String(contentsOfFile: path + "/a.json", encoding: .utf8) == "{")
    subscription.cancel()
    other.cancel()
    store.close()
  }
}
