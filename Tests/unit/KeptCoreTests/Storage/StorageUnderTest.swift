// The storages for which the conformance suite runs, and their folders.

import Foundation
import KeptCore
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
    case .local: try LocalStorage(path: folder.path + "/store")
    case .simple: SimpleStorageAdapter(Drawer())
    case .listing: SimpleStorageAdapter(ListingDrawer())
    case .directory: SimpleStorageAdapter(try DirectoryStorage(path: folder.path + "/files"))
    }
  }

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
