// What Swift makes when it is first needed, made early: by the thread that opens a store, before others use it.
//
// Swift guards a first use by a lock that knows its owner by a thread id, and the main thread of a forked child still
// has its parent's. Two threads of such a child that met at the same first use would wait for ever (decision 10).
// libkept.so has another lock (KeptC/RuntimeOnce.swift); this is for Swift programs, which have the runtime's.

enum EagerInitialization {
  /// Done once for the process.
  static let isOver: Bool = {
    _ = Index.hash(UnsafeBufferPointer(start: nil, count: 0))
    _ = SQLitePatience.vfs
    FilesInUse.prepare()
    _ = FileWatch.ofThisProcess
    _ = Indexes.ofThisProcess
    // JSON of every kind and back: the tables of Base64, and whatever the standard library keeps for text and numbers.
    let texts = [
      #"{"$binary":{"base64":"AA==","subType":"00"}}"#, #"{"$date":"2026-01-01T00:00:00Z"}"#, #"[1,2.5,"a",null]"#,
    ]
    return texts.allSatisfy { (try? Value(json: $0))?.json == $0 }
  }()

  /// What an opening need not wait for: done once for the process, before its first fork.
  static let isOverBeforeFork: Bool = {
    _ = KeyFileName.key(at: "%2e.json")
    let schema =
      #"{"type":"object","properties":{"a":{"type":"string","enum":["a"],"pattern":"a"}},"patternProperties":{"#
      + #""b":{"type":"array","uniqueItems":true,"items":{"multipleOf":0.5}}}}"#
    return (try? Declaration(json: schema).admitted(["a": "a", "b": [1, 1.5]])) != nil
  }()
}
