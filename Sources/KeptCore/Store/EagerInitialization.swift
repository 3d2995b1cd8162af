// Initializes lazy Swift globals early: on the thread that opens a store, before other threads use them.
//
// Swift guards a lazy initialization with a lock that identifies its owner by a thread id, and the main thread of a
// forked child still has its parent's id. Two threads of such a child that start the same initialization would deadlock
// (docs/decisions/05-transactions-locks-and-forks.md). libkept.so has another lock (KeptC/RuntimeOnce.swift); this is
// for Swift programs, which have the runtime's.

import KeptSchema
import KeptSecrets
import KeptSystem
import KeptValues

enum EagerInitialization {
  /// Runs once per process.
  static let isOver: Bool = {
    Fork.beforeEach { _ = isOverBeforeFork }
    _ = KeyHash.of(UnsafeBufferPointer(start: nil, count: 0))
    StorageRegistry.initialize()
    _ = FileWatch.ofThisProcess
    // JSON of every kind, encoded and decoded: the Base64 tables, and the standard library's state for text and
    // numbers.
    let texts = [
      #"{"$binary":{"base64":"AA==","subType":"00"}}"#, #"{"$date":"2026-01-01T00:00:00Z"}"#, #"[1,2.5,"a",null]"#,
    ]
    return texts.allSatisfy { (try? Value(json: $0))?.json == $0 }
  }()

  /// What declaring a key makes.
  ///
  /// The runtime looks up the types of such arrays under a lock. They are kept, because the compiler leaves out what is
  /// not used.
  nonisolated(unsafe) private static var declaring:
    ([(key: KeyName, declaration: Declaration)], [(key: KeyName, entry: Entry, wasSecret: Bool)]) = ([], [])

  /// The part that opening a store does not need: runs once per process, before its first fork.
  private static let isOverBeforeFork: Bool = {
    _ = KeyFileName.key(at: "%2e.json")
    PatternLibrary.prepare()
    Sodium.prepare()
    let schema =
      #"{"type":"object","properties":{"a":{"type":"string","enum":["a"]},"#
      + #""b":{"type":"array","uniqueItems":true,"items":{"multipleOf":0.5}}}}"#
    guard let key = try? KeyName("a"), let declaration = try? Declaration(json: schema) else { return false }
    var batch = Batch()
    batch.declare(key, declaration)
    declaring = ([(key, declaration)], [(key, Entry(value: nil, revision: 0, declaration: declaration), false)])
    return batch.declarations.count == 1 && (try? declaration.admitted(["a": "a", "b": [1, 1.5]])) != nil
  }()
}
