// Prints the changes of a store made by any process, until "quit" is set: WatchChanges LOCATION
//
// Prints a line for each change: its key, old and new value, and its latency. For the latency, a writer sets a key to
// the current time in the same transaction, as ChangeSettings does.

import Foundation
import Kept

/// The age of the newest date in a notice, in microseconds.
func latency(of notice: Notice, at arrival: Date) -> String {
  let dates = notice.changes.compactMap { change in change.new.flatMap { try? Date(stored: $0) } }
  guard let written = dates.max() else { return "unknown" }
  return "\(Int(arrival.timeIntervalSince(written) * 1_000_000)) µs"
}

/// Standard output may be a pipe, so each line is written at once.
func tell(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

guard CommandLine.arguments.count == 2 else {
  FileHandle.standardError.write(Data("usage: WatchChanges LOCATION\n".utf8))
  exit(2)
}
do {
  let settings = try Store.open(CommandLine.arguments[1])
  // No change from here on is missed.
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
