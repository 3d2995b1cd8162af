// The storages for which the conformance suite runs, and their folders.

import Foundation
@testable import KeptCore
@testable import KeptEngineStorage
@testable import KeptSystem
@testable import KeptValues
import Testing

/// A storage that meets the contract.
///
/// Add a case to run every conformance test for it.
enum StorageUnderTest: String, CaseIterable, CustomTestStringConvertible {
  case memory = "MemoryStorage"
  case local = "LocalStorage"
  case engine = "EngineStorage"
  case simple = "SimpleStorage"
  case listing = "ListingStorage"
  case directory = "DirectoryStorage"

  var testDescription: String { rawValue }

  func open(in folder: TemporaryFolder) throws -> any Storage {
    switch self {
    case .memory: MemoryStorage()
    case .local: try LocalStorage(path: path(in: folder))
    case .engine: try EngineStorage(path: path(in: folder))
    case .simple: SimpleStorageAdapter(Drawer())
    case .listing: SimpleStorageAdapter(ListingDrawer())
    case .directory: SimpleStorageAdapter(try DirectoryStorage(path: path(in: folder)))
    }
  }

  /// Opens a storage that ``open(in:)`` has made, without writing to it.
  func openReadOnly(in folder: TemporaryFolder) throws -> any Storage {
    let folder = StoreFolder(path: path(in: folder))
    return self == .engine
      ? try ReadOnlyEngineStorage(folder, because: .request) : try ReadOnlyStorage(folder, because: .request)
  }

  /// The folder of its files.
  func path(in folder: TemporaryFolder) -> String { "\(folder.path)/\(rawValue)" }

  /// What each declares; an ability that it lacks is `unsupported`, which is tested too.
  var abilities: StorageAbilities {
    switch self {
    case .memory: [.atomicBatch, .revisions, .pushesChanges, .declarations, .listsKeys, .schemaVersion]
    case .local, .engine:
      [
        .sharedBetweenProcesses, .atomicBatch, .revisions, .durable, .pushesChanges, .declarations, .listsKeys,
        .schemaVersion,
      ]
    case .simple: [.revisions, .pushesChanges]
    case .listing: [.revisions, .pushesChanges, .listsKeys]
    case .directory: [.sharedBetweenProcesses, .revisions, .durable, .pushesChanges, .listsKeys]
    }
  }

  /// The storages with these abilities.
  static func able(_ abilities: StorageAbilities) -> [StorageUnderTest] {
    allCases.filter { $0.abilities.isSuperset(of: abilities) }
  }
  static func unable(_ abilities: StorageAbilities) -> [StorageUnderTest] {
    allCases.filter { !$0.abilities.isSuperset(of: abilities) }
  }

  /// The storages whose locations can be opened several times.
  static let withLocations: [StorageUnderTest] = [.local, .engine]
  /// The storages that keep a history.
  static let historical: [StorageUnderTest] = [.local, .engine]
}

/// A folder with stores on the engine, which is removed after the test.
struct EngineFolder {
  private let folder: TemporaryFolder
  var path: String { StorageUnderTest.engine.path(in: folder) }

  init() throws { folder = try TemporaryFolder() }

  func open() throws -> EngineStorage { try EngineStorage(path: path) }
}

/// A folder that is removed with the last reference to it.
final class TemporaryFolder: Sendable {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.appendingPathComponent("kept-test-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}

extension Storage {
  /// Commits one edit.
  @discardableResult
  func commit(_ key: KeyName, _ edit: Batch.Edit, _ conditions: Condition...) throws -> Commit {
    var batch = Batch()
    batch.edit(key, edit)
    batch.conditions = conditions
    return try commit(batch)
  }

  func value(_ key: KeyName) throws -> Value? { try entry(for: key)?.value }

  /// Commits more to the key `large` than the largest ring of a LocalStorage holds, which is 8 MiB.
  func overwriteTheRing() throws {
    for index in 0..<900 {
      try commit(key("large"), .set(.string("\(index)" + String(repeating: "x", count: 10_000))))
    }
  }
}

/// Keys in tests are valid literals.
func key(_ text: String) throws -> KeyName { try KeyName(text) }

/// A store for tests of its history, which decide what the history has as one change.
final class HistoricStore {
  let store: Store
  private let path: String
  private let now: Monitor<Int64>

  init(_ kind: StorageUnderTest, in folder: TemporaryFolder, _ name: String = "store") throws {
    let now = Monitor(MonotonicTime.nanosecondsSince1970)
    (path, self.now) = (folder.path + "/" + name, now)
    if kind == .engine {
      store = Store(storage: try EngineStorage(path: path, now: { now.read(\.self) }))
    } else {
      store = try Store.open(path)
    }
  }

  /// Ends the change that commits are a part of.
  func settle() throws {
    if local != nil { _ = try store.history(of: "none") } else { now.update { $0 += 2_000_000_000 } }
  }

  /// Makes commits that may be one change.
  func together(_ body: () throws -> Void) throws {
    guard let local else { return try body() }
    let result: Result<Void, any Error> = try local.loader.settler.withConnection { _ in Result(catching: body) }
    try result.get()
  }

  /// Lets days pass; below zero, the clock was ahead before.
  func age(days: Int64) throws {
    try edit("UPDATE history SET time = time - \(days) * 86400000 WHERE id > 0")
    now.update { $0 += days * 86_400_000_000_000 }
  }

  /// Changes the database, if there is one.
  func edit(_ sql: String) throws {
    try local?.loader.settler.withConnection { connection throws(StoreError) in try connection.run(sql) }
  }

  private var local: LocalStorage? { store.shared.storage as? LocalStorage }
}

/// A suite whose tests each open one store with a history.
protocol HistoricSuite {
  var folder: TemporaryFolder { get }
  var opened: Monitor<HistoricStore?> { get }
}

extension HistoricSuite {
  func open(_ kind: StorageUnderTest) throws -> Store {
    let made = try HistoricStore(kind, in: folder)
    opened.update { $0 = made }
    return made.store
  }

  var historic: HistoricStore {
    get throws {
      let found = opened.read { $0 }
      return try #require(found)
    }
  }
  var store: Store { get throws { try historic.store } }
}
