// Prints what changes in a store as it changes, whichever process does it, until "quit" is set: WatchChanges LOCATION
//
// A line for each change: its key, old and new value, and how long it took to come here. For that a writer sets in the
// same transaction a key to the time, as ChangeSettings does.

import Foundation
import Kept

/// The age of the newest date in a notice, in microseconds.
func latency(of notice: Notice, at arrival: Date) -> String {
  let dates = notice.changes.compactMap { change in change.new.flatMap { try? Date(stored: $0) } }
  guard let written = dates.max() else { return "unknown" }
  return "\(Int(arrival.timeIntervalSince(written) * 1_000_000)) µs"
}

/// Standard output may be a pipe: whoever reads it hears of each line at once.
func tell(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

guard CommandLine.arguments.count == 2 else {
  FileHandle.standardError.write(Data("usage: WatchChanges LOCATION\n".utf8))
  exit(2)
}
do {
  let settings = try Store.open(CommandLine.arguments[1])
  // From here on nothing is missed.
  let notices = settings.notices()
  tell("watching")
  for await notice in notices {
    let age = latency(of: notice, at: Date())
    for change in notice.changes {
      tell("\(change.key): \(change.old?.json ?? "null") → \(change.new?.json ?? "null")  latency \(age)")
    }
    if notice.changes.contains(where: { $0.key.text == "quit" }) { break }
  }
  settings.close()
} catch {
  FileHandle.standardError.write(Data("\(error)\n".utf8))
  exit(1)
}
