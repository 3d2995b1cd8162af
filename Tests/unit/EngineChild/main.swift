// A process of the engine's tests. The other files describe its modes. kept-engine-child FOLDER SEED commits until it
// is killed: each commit counts one of its keys and the key "total" up together, and is written to standard output as a
// line. Now and then it makes a checkpoint, syncs, or opens the store again.

import CPlatform
import KeptEngine
import KeptSystem
import KeptValues

func count(_ folder: String, _ seed: UInt64) throws(StoreError) {
  var numbers = seed
  func next(_ bound: UInt64) -> UInt64 {
    numbers = numbers &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return (numbers >> 33) % bound
  }
  let (own, total) = (try KeyName("process\(seed)"), try KeyName("total"))
  while true {
    let engine = try Engine(try OpenFolder.own(folder), timeoutMilliseconds: 30_000)
    for _ in 0..<(20 + next(400)) {
      var made: (Int64, Int64) = (0, 0)
      try engine.commit(timeoutMilliseconds: 30_000) { chain, writer throws(StoreError) in
        func number(_ key: KeyName) throws(StoreError) -> Int64 {
          if case .int(let number)? = try chain.state(of: key).value { return number }
          return 0
        }
        made = (try number(own) + 1, try number(total) + 1)
        try writer.begin(FrameHead(writer: engine.author, revision: chain.revision + 1, time: 0))
        try writer.add(.int(made.0), for: own)
        // Of any length, so that seals and frames lie everywhere.
        try writer.add(.bytes(Array(repeating: 7, count: Int(next(300)))), for: KeyName("filler\(next(20))"))
        try writer.add(.int(made.1), for: total)
        try writer.end()
      }
      let line = "\(made.0) \(made.1)\n"
      _ = line.withCString { write(STDOUT_FILENO, $0, strlen($0)) }
      switch next(60) {
      case 0: try engine.checkpoint()
      case 1: try engine.sync()
      default: break
      }
    }
  }
}

let arguments = CommandLine.arguments
do {
  if arguments[1] == "fork" {
    try Forking.run(arguments[2], arguments[3])
  } else if arguments[1] == "full" {
    try FullDisk.run(arguments[2])
  } else if arguments[1] == "memory" {
    try LittleMemory.run(arguments[2])
  } else if arguments[1] == "unreadable" {
    try Unreadable.run(arguments[2])
  } else if arguments[1] == "observe" {
    try Observing.run(arguments[2])
  } else {
    try count(arguments[1], UInt64(arguments[2]) ?? 1)
  }
} catch {
  kept_print_error("\(error)\n", "\(error)\n".utf8.count)
  exit(1)
}
