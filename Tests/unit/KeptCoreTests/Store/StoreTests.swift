// The store API: read, write, list, compare and set, on every kind of location.

import Foundation
@testable import KeptSystem
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite struct `A store` {
  let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  /// The same tests in a folder and in memory.
  enum Place: CaseIterable {
    case folder, memory
  }

  private func open(_ place: Place) throws -> Store {
    switch place {
    case .folder: try Store.open(folder.path + "/store")
    case .memory: try Store.open("memory:")
    }
  }

  @Test func `warns of a salvage until it is acknowledged`() throws {
    let path = folder.path + "/store"
    try Store.open(path).close()
    try Data("damaged".utf8).write(to: URL(fileURLWithPath: path + "/values"))
    let warnings = Monitor<[StoreError]>([])
    let options = StoreOptions(errorHandler: { error in warnings.update { $0.append(error) } })
    let store = try Store.open(path, options: options)
    #expect(warnings.read { $0.map(\.code) } == [.salvaged])
    #expect(try store.salvaged()?.quarantine.hasPrefix(path + "/quarantine/") == true)
    try store.acknowledgeSalvage()
    #expect(try store.salvaged() == nil)
    _ = try Store.open(path, options: options)
    #expect(warnings.read { $0.count } == 1)
  }

  @Test func `has nothing to acknowledge in memory`() throws {
    let store = try open(.memory)
    try store.acknowledgeSalvage()
    #expect(try store.salvaged() == nil)
  }

  @Test(arguments: Place.allCases)
  func `names the byte where JSON is wrong, and keeps the old value`(_ place: Place) throws {
    let store = try open(place)
    try store.set(1, forKey: "a")
    let error = #expect(throws: StoreError.self) { try store.setJSON("[1,2,,]", forKey: "a") }
    #expect(error?.code == .invalid)
    #expect(error?.offset == 5)
    #expect(error?.description.hasPrefix("\"a\": ") == true)
    #expect(try store.value(forKey: "a") == 1)
  }

  @Test func `returns by its key what it stored as canonical`() throws {
    let store = try open(.memory)
    try store.set(.uint(5), forKey: "a")
    #expect(try store.value(forKey: "a") == .int(5))
    let signalling = Double(bitPattern: 0x7FF0_0000_0000_0001)
    try store.set([.double(signalling)], forKey: "nan")
    #expect(try store.value(forKey: "nan") == [.double(.nan)])
  }
}
