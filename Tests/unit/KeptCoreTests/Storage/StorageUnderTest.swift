// The storages for which the conformance suite runs, and their folders.

import Foundation
@testable import KeptCore
import KeptEngine
@testable import KeptSystem
@testable import KeptValues
import Testing

/// A storage that meets the contract.
///
/// Add a case to run every conformance test for it.
enum StorageUnderTest: String, CaseIterable, CustomTestStringConvertible {
  case memory = "MemoryStorage"
  case local = "LocalStorage"
  case simple = "SimpleStorage"
  case listing = "ListingStorage"
  case directory = "DirectoryStorage"

  var testDescription: String { rawValue }

  func open(in folder: TemporaryFolder) throws -> any Storage {
    switch self {
    case .memory: MemoryStorage()
    case .local: try LocalStorage(path: path(in: folder))
    case .simple: SimpleStorageAdapter(Drawer())
    case .listing: SimpleStorageAdapter(ListingDrawer())
    case .directory: SimpleStorageAdapter(try DirectoryStorage(path: path(in: folder)))
    }
  }

  /// The folder of its files.
  func path(in folder: TemporaryFolder) -> String { "\(folder.path)/\(rawValue)" }

  /// What each declares; an ability that it lacks is `unsupported`, which is tested too.
  var abilities: StorageAbilities {
    switch self {
    case .memory: [.atomicBatch, .revisions, .pushesChanges, .declarations, .listsKeys, .schemaVersion]
    case .local:
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
  static let withLocations: [StorageUnderTest] = [.local]
}

/// A folder with a LocalStorage, which is removed after the test.
struct LocalFolder {
  private let folder: TemporaryFolder
  var path: String { StorageUnderTest.local.path(in: folder) }

  init() throws { folder = try TemporaryFolder() }

  func open() throws -> LocalStorage { try LocalStorage(path: path) }
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

  /// Makes checkpoints after which no other process knows each commit since its last read, but only their result.
  func forgetCommits() throws {
    let engine = try #require(self as? LocalStorage).engine
    for number: Int64 in 1...2 {
      try commit(key("forgotten"), .set(.int(number)))
      try engine.checkpoint()
    }
  }
}

/// Keys in tests are valid literals.
func key(_ text: String) throws -> KeyName { try KeyName(text) }
