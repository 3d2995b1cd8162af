// kept-engine-child unreadable FOLDER: a store with files that this user may not read. Prints "ok", or what went wrong.

import CPlatform
import Foundation
import KeptEngine
import KeptSystem
import KeptValues

enum Unreadable {
  static func run(_ folder: String) throws {
    let store = folder + "/store"
    mkdir(store, 0o700)
    // Permissions do not restrict root.
    if geteuid() == 0 {
      let nobody: uid_t = 65534
      guard chown(store, nobody, nobody) == 0, setgroups(0, nil) == 0, setgid(nobody) == 0, setuid(nobody) == 0 else {
        throw Failed("could not become another user")
      }
    }
    try {
      let engine = try Engine(try OpenFolder.own(store))
      for number in 1...3 as ClosedRange<Int64> {
        try set(engine, number)
        if number < 3 { try engine.checkpoint() }
      }
    }()
    let names = try Self.names(store)
    guard names == ["history.1", "journal.2", "pulse", "values"] else { throw Failed("the files are \(names)") }
    for name in names {
      chmod(store + "/" + name, 0)
      try expectRefusal(name, "read and written") {
        let engine = try Engine(try OpenFolder.own(store))
        _ = try engine.past { past, _ in past }
      }
      try expectRefusal(name, "only read") {
        let engine = try ReadOnlyEngine(try OpenFolder.own(store))
        _ = try engine.past { past, _ in past }
      }
      chmod(store + "/" + name, 0o600)
      let left = try Self.names(store)
      guard left == names else { throw Failed("without \(name), the files are \(left)") }
    }
    let engine = try Engine(try OpenFolder.own(store))
    let value = try engine.read { chain throws(StoreError) in try chain.state(of: KeyName("a")).value }
    guard value == .int(3), try engine.damage() == nil else { throw Failed("a is \(String(describing: value))") }
    print("ok")
  }

  private static func names(_ store: String) throws -> [String] {
    try OpenFolder.own(store).names().filter { $0 != "." && $0 != ".." }.sorted()
  }

  private static func expectRefusal(_ name: String, _ how: String, _ body: () throws -> Void) throws {
    do { try body() } catch let error as StoreError {
      guard error.code == .denied, error.message.contains("/" + name + ":") else {
        throw Failed("\(name), \(how): \(error)")
      }
      return
    }
    throw Failed("\(name) is \(how)")
  }

  private static func set(_ engine: Engine, _ number: Int64) throws {
    try engine.commit { chain, frames throws(StoreError) in
      try frames.begin(FrameHead(writer: engine.author, revision: chain.revision + 1, time: number * 5_000_000_000))
      try frames.add(.int(number), for: KeyName("a"))
      try frames.end()
    }
  }
}
