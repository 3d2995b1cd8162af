// Migrations in one program: which steps run, and what remains when one fails.

import Foundation
@testable import KeptSchema
@testable import KeptSystem
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite(.timeLimit(.minutes(30))) struct `Migrations` {
  private let folder: TemporaryFolder
  private let settings: Store

  init() throws {
    folder = try TemporaryFolder()
    settings = try Store.open(folder.path + "/store", options: StoreOptions(busyTimeoutMilliseconds: 2000))
    try settings.set(7, forKey: "volume")
  }

  private let renamed = Migration(to: 1, "volume becomes audio.volume") { try $0.rename("volume", to: "audio.volume") }
  private let doubled = Migration(to: 2, "percent") { transaction in
    let volume = try number(transaction.value(forKey: "audio.volume"))
    try transaction.set(.int(volume * 2), forKey: "audio.volume")
  }

  @Test func `run from the version of the store`() throws {
    try settings.migrate([renamed])
    #expect(try settings.migrate([renamed, doubled], backup: false) == .from(version: 1, backup: nil))
    #expect(try settings.value(forKey: "audio.volume") == 14)
  }

  @Test(arguments: ["memory:", "folder"])
  func `run in a store that holds declarations and no values`(_ location: String) throws {
    let declared = try Store.open(location == "folder" ? folder.path + "/declared" : location)
    try declared.declare(Declaration(json: #"{"type":"string"}"#), forKey: "volume")
    let retyped = Migration(to: 1, "volume becomes a number") { transaction in
      try transaction.undeclare("volume")
      try transaction.declare(Declaration(json: #"{"type":"integer"}"#), forKey: "volume")
    }
    guard case .from(version: 0, _) = try declared.migrate([retyped]) else {
      Issue.record("the step was not run")
      return
    }
    try declared.set(1, forKey: "volume")
  }

  @Test func `change nothing when one fails, and the error names it`() throws {
    struct Broken: Error, Equatable {}
    try settings.declare(Declaration(json: #"{"type":"integer"}"#), forKey: "volume")
    let broken = Migration(to: 2, "divide by zero") { transaction in
      try transaction.set("half done", forKey: "mark")
      throw Broken()
    }
    let failure = #expect(throws: MigrationFailure.self) { try settings.migrate([renamed, broken]) }
    #expect(failure?.version == 2 && failure?.name == "divide by zero" && failure?.reason as? Broken == Broken())
    #expect(failure?.description.hasPrefix("the migration to version 2, \"divide by zero\", failed") == true)
    #expect(try settings.value(forKey: "volume") == 7 && settings.keys() == ["volume"])
    #expect(try settings.declaration(forKey: "volume") != nil && settings.schemaVersion() == 0)
  }

  @Test func `leave a backup of the state before`() throws {
    guard case .from(_, let path?) = try settings.migrate([renamed]) else {
      Issue.record("there is none")
      return
    }
    #expect(path.hasPrefix(folder.path + "/store/backups/"))
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    try FileManager.default.createDirectory(atPath: folder.path + "/old", withIntermediateDirectories: false)
    try FileManager.default.copyItem(atPath: path, toPath: folder.path + "/old/values")
    let old = try Store.open(folder.path + "/old")
    #expect(try old.value(forKey: "volume") == 7 && old.schemaVersion() == 0)
    #expect(try old.currentRevision() == 1, "revisions go on from where they were")
  }

  @Test func `run once where many threads begin together`() async throws {
    for index in 1...20 { try settings.set(.int(Int64(index)), forKey: "k\(index)") }
    let one = Migration(to: 1, "count up") { transaction in
      for key in try transaction.keys(prefix: "k") {
        try transaction.set(.int(number(transaction.value(forKey: key)) + 100), forKey: key)
      }
    }
    let path = folder.path + "/store"
    let migrated = try await withThrowingTaskGroup(of: Migrated.self) { group in
      for _ in 0..<8 { group.addTask { try Store.open(path).migrate([one]) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(migrated.count { $0 == Migrated.nothing } == 7)
    #expect(try (1...20).allSatisfy { try settings.value(forKey: "k\($0)") == .int(Int64($0 + 100)) })
    #expect(try FileManager.default.contentsOfDirectory(atPath: path + "/backups").count == 1)
  }

  @Test func `are run again after a conflicting write`() throws {
    let other = try Store.open(folder.path + "/store")
    nonisolated(unsafe) var runs = 0
    let slow = Migration(to: 1, "slow") { transaction in
      let volume = try number(transaction.value(forKey: "volume"))
      runs += 1
      if runs == 1 { try other.set(50, forKey: "volume") }
      try transaction.set(.int(volume + 1), forKey: "volume")
    }
    try settings.migrate([slow])
    #expect(runs == 2)
    #expect(try settings.value(forKey: "volume") == 51)
  }

  @Test func `wait for another process that migrates, or carry on`() throws {
    let impatient = try Store.open(folder.path + "/store", options: StoreOptions(busyTimeoutMilliseconds: 50))
    // The results of continuing and of waiting; nil until both are known.
    let met = Monitor<(Migrated?, StoreError.Code?)?>(nil)
    let one = renamed
    let long = Migration(to: 1, "long") { transaction in
      try transaction.rename("volume", to: "audio.volume")
      let thread = Thread {
        let carriedOn = try? impatient.migrate([one], whileOthersDo: .carryOn)
        let refusal = code { try impatient.migrate([one]) }
        met.update { $0 = (carriedOn, refusal) }
      }
      thread.start()
      _ = met.wait(milliseconds: 60_000) { $0 }
      #expect(try impatient.value(forKey: "volume") == 7, "readers read the old value")
    }
    try settings.migrate([long])
    let (carriedOn, refusal) = try #require(met.read { $0 })
    #expect(carriedOn == .elsewhere && refusal == .busy)
    #expect(try impatient.migrate([renamed]) == .nothing)
  }

  @Test func `finish while others constantly write other keys`() throws {
    // Reading all of them takes longer than a write by another thread.
    try settings.transaction { transaction in
      for number in 0..<2000 { try transaction.set(.int(Int64(number)), forKey: "number.\(number)") }
    }
    let (settings, writing) = (settings, Monitor(true))
    let thread = Thread {
      var count: Int64 = 0
      while writing.read({ $0 }) {
        count += 1
        _ = try? settings.set(.int(count), forKey: "others")
      }
      writing.update { $0 = true }
    }
    thread.start()
    _ = code { try settings.migrate([renamed, doubled]) }
    writing.update { $0 = false }
    _ = writing.wait(milliseconds: 60_000) { $0 ? true : nil }
    #expect(try settings.value(forKey: "audio.volume") == 14 && settings.schemaVersion() == 2)
  }

  @Test func `need a storage that keeps a version`() throws {
    let files = try Store.open("dir:" + folder.path + "/files")
    #expect(code { try files.migrate([renamed]) } == .unsupported)
    settings.close()
    #expect(code { try settings.migrate([renamed]) } == .closed)
    #expect(code { try settings.schemaVersion() } == .closed)
  }
}

/// The integer of a value; 0 for any other.
private func number(_ value: KeptValues.Value?) -> Int64 {
  if case .int(let number)? = value { number } else { 0 }
}
