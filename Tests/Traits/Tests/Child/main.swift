// Another process. Opens the store given as its first argument, and then
//   set KEY JSON …    writes all of them as one transaction
//   watch KEY         gives up the rights of root, and prints what a reader of configuration makes of the key: a line for
//                     each change, until its standard input ends

import Configuration
import Foundation
import Kept

/// Prints a line for each state of the key.
func watch(_ key: String, at location: String) async throws {
  let config = ConfigReader(provider: StoreProvider(try Store.open(location)))
  try await config.watchString(forKey: ConfigKey(key)) { updates in
    for await value in updates {
      print(value ?? "absent")
      fflush(nil)
      if readLine() == nil { return }
    }
  }
}

func set(_ words: ArraySlice<String>, at location: String) throws {
  let store = try Store.open(location)
  try store.transaction { transaction in
    for place in stride(from: words.startIndex, to: words.endIndex - 1, by: 2) {
      try transaction.setJSON(words[place + 1], forKey: words[place])
    }
  }
  store.close()
}

let words = CommandLine.arguments
switch words.dropFirst(2).first {
case "set": try set(words.dropFirst(3), at: words[1])
case "watch":
  // For root no permission is missing.
  if geteuid() == 0 {
    guard setgroups(0, nil) == 0, setgid(65534) == 0, setuid(65534) == 0 else { exit(3) }
  }
  try await watch(words[3], at: words[1])
default: exit(2)
}
