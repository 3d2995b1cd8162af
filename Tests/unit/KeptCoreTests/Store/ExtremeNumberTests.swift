// Numbers from callers and files: none of them, however extreme, crashes the process.

import CPlatform
import Foundation
@testable import KeptSystem
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite(.timeLimit(.minutes(30))) struct `A timeout` {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private func location(_ kind: String, _ name: String = "store") -> String {
    switch kind {
    case "memory": "memory:"
    case "directory": "dir:\(folder.path)/\(name)"
    default: "\(folder.path)/\(name)"
    }
  }

  @Test(arguments: ["memory", "folder", "directory"], [Int.max, .max - 1, Int(UInt32.max) + 1, -1, .min])
  func `of any number lets a store be written`(_ kind: String, _ timeout: Int) throws {
    let store = try Store.open(location(kind), options: StoreOptions(busyTimeoutMilliseconds: timeout))
    try store.set(1, forKey: "a")
    try store.updateValue("a") { $0 = 2 }
    try store.transaction { try $0.set(3, forKey: "a") }
    #expect(try store.value(forKey: "a") == 3)
    store.close()
  }

  @Test(arguments: ["memory", "folder"], [Int.max, .min])
  func `of any number lets a store be migrated and imported into`(_ kind: String, _ timeout: Int) throws {
    let store = try Store.open(location(kind), options: StoreOptions(busyTimeoutMilliseconds: timeout))
    try store.set(1, forKey: "a")
    try store.migrate([Migration(to: 1, "nothing") { _ in }])
    #expect(try store.schemaVersion() == 1)
    try store.import(#"{"b":2}"#, ImportOptions(format: .json))
    #expect(try store.value(forKey: "b") == 2)
  }

  @Test(arguments: [Int.max, .min])
  func `of any number lets a store be restored`(_ timeout: Int) throws {
    let store = try Store.open(location("folder"), options: StoreOptions(busyTimeoutMilliseconds: timeout))
    try store.set(1, forKey: "a")
    try store.backup(to: folder.path + "/copy")
    try store.remove("a")
    try store.restore(from: folder.path + "/copy")
    #expect(try store.value(forKey: "a") == 1)
  }

  @Test(arguments: [Int.max, .min])
  func `of any number is one that a storage takes`(_ timeout: Int) throws {
    let local = Store(storage: try LocalStorage(path: folder.path + "/local", busyTimeoutMilliseconds: timeout))
    try local.set(1, forKey: "a")
    let directory = try DirectoryStorage(path: folder.path + "/directory", busyTimeoutMilliseconds: timeout)
    let adapted = Store(storage: SimpleStorageAdapter(directory))
    try adapted.set(1, forKey: "a")
    #expect(try local.value(forKey: "a") == 1 && adapted.value(forKey: "a") == 1)
  }

  @Test func `counts as the nearest one from 0 to 49 days`() {
    for (given, counted) in [(-1, 0), (.min, 0), (0, 0), (5000, 5000), (.max, Int(UInt32.max))] as [(Int, Int)] {
      #expect(StoreOptions(busyTimeoutMilliseconds: given).patience == counted)
    }
  }
}

@Suite struct `The time of a file` {
  /// A file that was modified and changed at this time, in seconds after 1970.
  private func status(_ seconds: Int, _ nanoseconds: Int = 0) -> stat {
    var status = stat()
    let time = timespec(tv_sec: seconds, tv_nsec: nanoseconds)
    #if os(Linux)
    (status.st_mtim, status.st_ctim) = (time, time)
    #else
    (status.st_mtimespec, status.st_ctimespec) = (time, time)
    #endif
    return status
  }

  @Test(arguments: [
    Int.min, .min + 1, -9_223_372_037, -9_223_372_036, -7_500_000_000, -1, 0, 9_223_372_036, 9_223_372_037, .max,
  ])
  func `may be any number of seconds`(_ seconds: Int) {
    let stamp = FileStamp(status(seconds, 999_999_999))
    // None of these is the present time.
    #expect(stamp.isSettled && stamp.vouches(for: stamp))
    #expect(!stamp.isSame(as: FileStamp(status(1_000_000_000))))
  }

  @Test func `is the nearest that can be counted`() {
    #expect(kept_nanoseconds(1, 5) == 1_000_000_005)
    #expect(kept_nanoseconds(-1, 5) == -999_999_995)
    #expect(kept_nanoseconds(9_223_372_036, 854_775_807) == .max)
    #expect(kept_nanoseconds(9_223_372_036, 854_775_808) == .max)
    #expect(kept_nanoseconds(.max, 0) == .max)
    #expect(kept_nanoseconds(.min, 999_999_999) == .min)
  }

  @Test(arguments: [Int.max, 1 << 40, -(1 << 40), .min])
  func `may be as far away as the file system stores it`(_ seconds: Int) throws {
    let folder = try TemporaryFolder()
    let store = try Store.open("dir:" + folder.path)
    try store.set(1, forKey: "a")
    let file = try #require(
      FileManager.default.enumerator(atPath: folder.path)?
        .compactMap { $0 as? String }.first { $0.hasSuffix(".json") })
    let time = timespec(tv_sec: seconds, tv_nsec: 0)
    #expect(utimensat(AT_FDCWD, folder.path + "/" + file, [time, time], 0) == 0)
    #expect(try store.value(forKey: "a") == 1)
    #expect(try Store.open("dir:" + folder.path).value(forKey: "a") == 1)
  }
}
