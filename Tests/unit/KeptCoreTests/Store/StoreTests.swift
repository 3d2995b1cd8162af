// The store API: read, write, list, compare and set, on every kind of location.

import Foundation
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

  @Test(arguments: Place.allCases)
  func `reads what was written`(_ place: Place) throws {
    let store = try open(place)
    #expect(try store.value(forKey: "audio.volume") == nil)
    try store.set(70, forKey: "audio.volume")
    #expect(try store.value(forKey: "audio.volume") == 70)
    #expect(try store.json(forKey: "audio.volume") == "70")
    #expect(try store.contains("audio.volume"))
    try store.setJSON(#"{"b": 1, "a": [1.0, null]}"#, forKey: "frame")
    #expect(try store.json(forKey: "frame") == #"{"a":[1.0,null],"b":1}"#)
    #expect(try store.keys() == ["audio.volume", "frame"])
    #expect(try store.keys(prefix: "audio.") == ["audio.volume"])
  }

  @Test func `warns of a salvage until it is acknowledged`() throws {
    let path = folder.path + "/store"
    try Store.open(path).close()
    try Data("damaged".utf8).write(to: URL(fileURLWithPath: path + "/values.sqlite"))
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
  func `removes, and says whether there was anything`(_ place: Place) throws {
    let store = try open(place)
    try store.set(1, forKey: "a")
    #expect(try store.remove("a"))
    #expect(try store.remove("a") == false)
    #expect(try store.contains("a") == false)
    try store.set(1, forKey: "a")
    try store.set(.null, forKey: "a")
    try store.setJSON("null", forKey: "never there")
    #expect(try store.keys().isEmpty)
  }

  @Test(arguments: Place.allCases)
  func `keeps the revision of each key`(_ place: Place) throws {
    let store = try open(place)
    #expect(try store.revision(of: "a") == nil)
    try store.set(1, forKey: "a")
    try store.set(2, forKey: "b")
    #expect(try store.revision(of: "a") == 1)
    #expect(try store.revision(of: "b") == 2)
    try store.remove("a")
    #expect(try store.revision(of: "a") == nil)
    #expect(try store.currentRevision() == 3)
  }

  @Test(arguments: Place.allCases)
  func `sets only at the revision that was read`(_ place: Place) throws {
    let store = try open(place)
    #expect(try store.set("first", forKey: "a", ifRevision: 0) == 1)
    #expect(conflict { try store.set("second", forKey: "a", ifRevision: 0) })
    try store.set(1, forKey: "other")
    #expect(try store.set("first", forKey: "a", ifRevision: 1) == 1, "no change, the same revision")
    #expect(try store.set("second", forKey: "a", ifRevision: 1) == 3)
    #expect(try store.value(forKey: "a") == "second")
  }

  @Test(arguments: Place.allCases)
  func `refuses keys and values beyond the limits, with the key and a sentence`(_ place: Place) throws {
    let store = try open(place)
    for bad in ["", "with a NUL \u{0}", String(repeating: "k", count: 1025)] {
      #expect(code { try store.value(forKey: bad) } == .invalid)
      #expect(code { try store.set(1, forKey: bad) } == .invalid)
      #expect(code { try store.remove(bad) } == .invalid)
      #expect(code { try store.contains(bad) } == .invalid)
    }
    try store.set(1, forKey: String(repeating: "k", count: 1024))
    let large = Value.bytes(Array(repeating: 0, count: Limits.valueBytes))
    try store.set(large, forKey: "large")
    #expect(try store.value(forKey: "large") == large)
    let error = #expect(throws: StoreError.self) {
      try store.set(.bytes(Array(repeating: 0, count: Limits.valueBytes + 1)), forKey: "large")
    }
    #expect(error?.code == .tooLarge)
    #expect(error?.key == "large")
    #expect(try store.value(forKey: "large") == large, "the old value stays")
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

  @Test(arguments: Place.allCases)
  func `returns closed after close, and closes twice`(_ place: Place) throws {
    let store = try open(place)
    store.close()
    store.close()
    #expect(code { try store.value(forKey: "a") } == .closed)
    #expect(code { try store.set(1, forKey: "a") } == .closed)
    #expect(code { try store.keys() } == .closed)
    #expect(code { try store.flush() } == .closed)
    #expect(code { try store.transaction { _ in } } == .closed)
    #expect(code { try store.observe(.prefix("")) { _ in } } == .closed)
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
