// Another process: writes the pairs of a key and a JSON text that follow the store's location, as one transaction.

import Kept

let words = CommandLine.arguments.dropFirst()
if let location = words.first {
  let store = try Store.open(location)
  try store.transaction { transaction in
    for place in stride(from: words.startIndex + 1, to: words.endIndex - 1, by: 2) {
      try transaction.setJSON(words[place + 1], forKey: words[place])
    }
  }
  store.close()
}
