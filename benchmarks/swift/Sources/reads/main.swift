// What a read costs in Swift, beside a dictionary behind a Mutex: nanoseconds, the best and the median of the rounds.

import Foundation
import Kept
import Synchronization

extension Keys {
  static let volume = Key("audio.volume", default: 50)
  static let device = Key("audio.device", default: "")
  static let absent = Key("audio.absent", default: 1)
}

final class LockedDictionary: Sendable {
  private let values = Mutex<[String: Int]>([:])

  subscript(key: String) -> Int? {
    get { values.withLock { $0[key] } }
    set { values.withLock { $0[key] = newValue } }
  }
}

// Fewer under callgrind: reads 2000
let calls = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 500_000
let rounds = 15

/// Runs `body` in rounds of many calls and prints what one took.
func measure(_ name: String, _ body: () throws -> Int) rethrows {
  var sum = 0
  var took: [Double] = []
  for _ in 0..<rounds {
    let duration = try ContinuousClock().measure { for _ in 0..<calls { sum &+= try body() } }
    took.append(Double(duration.components.attoseconds) / 1e9 / Double(calls))
  }
  took.sort()
  let figures = [took[0], took[rounds / 2]].map { String(format: "%8.1f", $0) }.joined()
  print(name.padding(toLength: 40, withPad: " ", startingAt: 0), figures, sum == 0 ? "nothing was read" : "")
}

let folder = FileManager.default.temporaryDirectory.appendingPathComponent("kept-\(UUID().uuidString)")
defer { try? FileManager.default.removeItem(at: folder) }
let settings = try Store.open(folder.path)
defer { settings.close() }
let dictionary = LockedDictionary()
for number in 0..<1000 {
  dictionary["audio.volume.\(number)"] = number
  try settings.set(number, for: Key("audio.volume.\(number)", default: 0))
}
dictionary["audio.volume"] = 70
try settings.set(70, for: .volume)
try settings.set("twenty bytes of text", for: .device)

print("nanoseconds                                  best  median")
measure("settings[.volume]") { settings[.volume] }
try measure("try settings.value(for: .volume)") { try settings.value(for: .volume) }
measure("settings[.device], 20 bytes") { settings[.device].utf8.count }
measure("settings[.absent], its default") { settings[.absent] }
measure("a dictionary behind a Mutex") { dictionary["audio.volume"] ?? 0 }
