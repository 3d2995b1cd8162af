// kept-engine-child full FOLDER: a store on a small file system that becomes full. Prints "ok", or what went wrong.

import CPlatform
import KeptEngine
import KeptSystem
import KeptValues

enum FullDisk {
  static func run(_ folder: String) throws {
    let store = folder + "/store"
    mkdir(store, 0o700)
    let (a, b) = (try KeyName("a"), try KeyName("b"))
    var engine = try Engine(try OpenFolder.own(store))
    try set(engine, a, .int(0))
    let length = try size(store + "/journal.0")
    try fill(folder, leaving: 0)
    var number: Int64 = 0
    let refused = try untilRefused { () throws(StoreError) in
      try set(engine, a, .int(number + 1))
      number += 1
    }
    guard refused.code == .noSpace, number > 2000 else { throw Failed("\(number) commits, then \(refused)") }
    for key in 0..<20 { try set(engine, KeyName("none\(key)"), nil) }
    // A checkpoint fails, leaves nothing, and is tried again.
    let failure = try untilRefused { () throws(StoreError) in try engine.checkpoint() }
    guard failure.code == .noSpace else { throw Failed("\(failure)") }
    guard let again = engine.maintain(), again >= 1000, !engine.isDirty else { throw Failed("maintenance has ended") }
    guard access(store + "/.new-values", F_OK) != 0, access(store + "/.new-journal.1", F_OK) != 0 else {
      throw Failed("there is a draft")
    }
    engine.close()
    engine = try Engine(try OpenFolder.own(store))
    try expect(engine, .int(number))
    try expect(
      ReadOnlyEngine(try OpenFolder.own(store)).read { chain throws(StoreError) in try chain.state(of: KeyName("a")) },
      number)
    guard try size(store + "/journal.0") - length < 8192 else { throw Failed("the journal has grown") }
    // A commit that does not fit uses none of the remaining room.
    unlink(folder + "/filler")
    try fill(folder, leaving: 100_000)
    let before = try size(store + "/journal.0")
    let tooLong = try untilRefused { () throws(StoreError) in
      try set(engine, b, .bytes(Array(repeating: 7, count: 300_000)))
    }
    guard tooLong.code == .noSpace, try size(store + "/journal.0") == before else { throw Failed("\(tooLong)") }
    try set(engine, a, .int(number + 1))
    engine.close()
    engine = try Engine(try OpenFolder.own(store))
    try expect(engine, .int(number + 1))
    unlink(folder + "/filler")
    try engine.checkpoint()
    try set(engine, b, .bytes(Array(repeating: 7, count: 100_000)))
    try expect(engine, .int(number + 1))
    print("ok")
  }

  private static func set(_ engine: Engine, _ key: KeyName, _ value: Value?) throws(StoreError) {
    try engine.commit { chain, frames throws(StoreError) in
      try frames.begin(FrameHead(writer: engine.author, revision: chain.revision + 1, time: 0))
      if let value { try frames.add(value, for: key) } else { try frames.add(.removed, for: key) }
      try frames.end()
    }
  }

  private static func expect(_ engine: Engine, _ value: Value) throws {
    let found = try engine.read { chain throws(StoreError) in try chain.state(of: KeyName("a")).value }
    guard found == value else { throw Failed("a is \(String(describing: found)), not \(value)") }
  }

  private static func expect(_ state: KeyState, _ number: Int64) throws {
    guard state.value == .int(number) else { throw Failed("a is \(String(describing: state.value)) for a reader") }
  }

  private static func untilRefused(_ body: () throws(StoreError) -> Void) throws -> StoreError {
    for _ in 0..<100_000 {
      do throws(StoreError) { try body() } catch { return error }
    }
    throw Failed("nothing was refused")
  }

  private static func size(_ path: String) throws -> Int {
    var status = stat()
    guard stat(path, &status) == 0 else { throw Failed("\(path) is missing") }
    return Int(status.st_size)
  }

  /// Fills the file system.
  private static func fill(_ folder: String, leaving rest: off_t) throws {
    let file = kept_make_at(AT_FDCWD, folder + "/filler")
    defer { close(file) }
    guard file >= 0 else { throw Failed("could not make a file") }
    let block = [UInt8](repeating: 1, count: 4096)
    var length: off_t = 0
    while write(file, block, block.count) == block.count { length += 4096 }
    ftruncate(file, length - rest)
  }
}
