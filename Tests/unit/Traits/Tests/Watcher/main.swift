// Another process: gives up the rights of root, and prints, for each change, the value that a configuration reader has
// for a key in the store at a location. After each it waits for a line on its standard input, and exits at its end.

import Configuration
import Foundation
import Kept

// Permissions do not restrict root.
if geteuid() == 0 {
  guard setgroups(0, nil) == 0, setgid(65534) == 0, setuid(65534) == 0 else { exit(3) }
}
let words = CommandLine.arguments
let config = ConfigReader(provider: StoreProvider(try Store.open(words[1])))
try await config.watchString(forKey: ConfigKey(words[2])) { updates in
  for await value in updates {
    print(value ?? "absent")
    fflush(nil)
    if readLine() == nil { return }
  }
}
