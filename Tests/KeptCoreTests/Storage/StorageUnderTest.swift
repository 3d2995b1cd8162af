// The storages that the conformance suite runs for, and the folders they live in.

import Foundation
import KeptCore
import Testing

/// A storage that keeps the contract.
///
/// Add a case, and every scenario is told of it too.
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
    case .local: try LocalStorage(path: folder.path + "/store")
    case .simple: SimpleStorageAdapter(Drawer())
    case .listing: SimpleStorageAdapter(ListingDrawer())
    case .directory: SimpleStorageAdapter(try DirectoryStorage(path: folder.path + "/files"))
    }
  }

  /// What each must declare; what it does not is `unsupported`, which is a scenario too.
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

  /// Those that can do something.
  static func able(_ abilities: StorageAbilities) -> [StorageUnderTest] {
    allCases.filter { $0.abilities.isSuperset(of: abilities) }
  }
  static func unable(_ abilities: StorageAbilities) -> [StorageUnderTest] {
    allCases.filter { !$0.abilities.isSuperset(of: abilities) }
  }

  /// Those whose locations can be opened several times.
  static let withLocations: [StorageUnderTest] = [.local]
}

/// A folder that is removed when the last reference to it goes.
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
}

/// Keys in tests are literals that are known to be good.
func key(_ text: String) throws -> KeyName { try KeyName(text) }
