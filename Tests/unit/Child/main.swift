// Opens the store given as its argument, and executes the commands on its standard input, one per line, with tabs
// between the words. With `--as-nobody` it gives up the rights of root first; with `--with-arguments` its own arguments
// are a layer.
//   get KEY · set KEY JSON · remove KEY · revision · encrypt KEYFILE · rotate
//   churn KEY, which never ends · layer PATH · watch PATH · await-change · use-up-descriptors · watch-across-fork PATH
//   fork-during-a-write PATH · fork-while-a-handle-is-written PATH · fork-while-a-handle-is-destroyed PATH
// It answers each with a line: the value as JSON, "absent", "ok", a number, or the error.

import Foundation
import KeptCore

func answer(_ words: [String], _ store: Store) throws -> String {
  switch (words.first, words.count) {
  case ("get", 2):
    return try store.json(forKey: words[1]) ?? "absent"
  case ("set", 3):
    try store.setJSON(words[2], forKey: words[1])
    return "ok"
  case ("remove", 2):
    return try store.remove(words[1]) ? "ok" : "absent"
  case ("revision", 1):
    return String(try store.currentRevision())
  case ("encrypt", 2):
    try store.encryptSecrets(with: .keyFile(words[1]))
    return "ok"
  case ("rotate", 1):
    try store.rotateSecrets()
    return "ok"
  case ("churn", 2):
    print("ok")
    fflush(nil)
    var number = 0
    while true {
      number += 1
      let numbers = Array(repeating: "\(number)", count: 20_000).joined(separator: ",")
      try store.setJSON("[\(numbers)]", forKey: words[1])
    }
  case ("layer", 2): return Watching.read(words[1])
  case ("watch", 2): return Watching.begin(words[1])
  case ("await-change", 1): return Watching.awaitChange()
  case ("use-up-descriptors", 1): return Watching.useUpDescriptors()
  case ("watch-across-fork", 2): return try Forking.watchInBoth(words[1])
  case ("fork-during-a-write", 2): return try ForkingWriters.duringAWrite(store, words[1])
  case ("fork-while-a-handle-is-written", 2): return try ForkingWriters.whileAHandleIsWritten(store, words[1])
  case ("fork-while-a-handle-is-destroyed", 2): return try ForkingWriters.whileAHandleIsDestroyed(store, words[1])
  default:
    return "what is \(words)?"
  }
}

// Permissions do not restrict root, so tests of permissions need another user.
if CommandLine.arguments.contains("--as-nobody"), geteuid() == 0 {
  guard setgroups(0, nil) == 0, setgid(65534) == 0, setuid(65534) == 0 else { exit(3) }
}
let layered = CommandLine.arguments.contains("--with-arguments")
let options = StoreOptions(arguments: layered ? CommandLine.arguments : nil)
let store = try Store.open(CommandLine.arguments[1], options: options)
while let line = readLine() {
  let words = line.split(separator: "\t").map(String.init)
  do { print(try answer(words, store)) } catch { print(error) }
  fflush(nil)
}
store.close()
