// A file of an open store that another program has removed, cut off or locked: the error names the file.

import Foundation
@testable import KeptSystem
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite struct `A file of an open store` {
  private let folder: TemporaryFolder
  private let path: String
  private let storage: LocalStorage

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path + "/store"
    storage = try LocalStorage(path: path)
    // The value is longer than what the journal takes.
    try storage.commit(key("large"), .set(.string(String(repeating: "x", count: 200_000))))
  }

  /// What a call says that opens the database again.
  private func error() throws -> StoreError {
    let error = #expect(throws: StoreError.self) { try storage.damage() }
    let found = try #require(error)
    #expect(!found.message.contains("folder no longer exists"))
    #expect(!found.message.contains("cannot be reached"))
    return found
  }

  @Test func `that was removed is named`() throws {
    try FileManager.default.removeItem(atPath: path + "/values.sqlite")
    let error = try error()
    #expect(error.code == .unavailable)
    #expect(error.message.contains("/values.sqlite: "))
    #expect(error.message.contains("the file was removed from the store's folder; put it back"))
  }

  @Test(arguments: [true, false])
  func `and its log that was cut off or removed is named`(isRemoved: Bool) throws {
    let log = path + "/values.sqlite-wal"
    if isRemoved { try FileManager.default.removeItem(atPath: log) } else { truncate(log, 8_000) }
    let error = try error()
    #expect(error.code == .unavailable)
    #expect(error.message.contains("the file values.sqlite-wal was truncated, removed or replaced"))
  }

  @Test(.enabled(if: geteuid() != 0), arguments: ["values.sqlite", "values.sqlite-wal"])
  func `that may not be read is named`(name: String) throws {
    chmod("\(path)/\(name)", 0)
    let error = try error()
    #expect(error.code == .denied)
    #expect(error.message.contains("cannot read and write the file \(name);"))
  }
}
