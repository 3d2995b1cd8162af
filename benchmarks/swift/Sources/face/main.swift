// What a get and a set cost in Swift, through each face, beside a dictionary behind a Mutex.
//
// face FOLDER [--quick] [--only TEXT]; with `face FOLDER --loop NAME COUNT` so many operations and nothing else, for
// callgrind and perf.

import Foundation
import Kept

extension Keys {
  static let volume = Key("audio.volume", default: 50)
  static let device = Key("audio.device", default: "")
  static let absent = Key("audio.absent", default: 1)
}

final class Player {
  @Setting(.volume) var volume
  init(in store: Store) { _volume = Setting(.volume, in: store) }
}

/// A store of 1,000 keys and its faces, and the dictionary.
struct Contest {
  let settings: Store
  let player: Player
  let handle: Handle<Int>
  let numbers = LockedDictionary<Int>()
  let texts = LockedDictionary<String>()

  init(in folder: String) throws {
    settings = try Store.open(folder)
    player = Player(in: settings)
    handle = try settings.handle(.volume)
    for number in 0..<1000 {
      numbers["section.\(number)"] = number
      try settings.set(number, for: Key("section.\(number)", default: 0))
    }
    texts["audio.device"] = "twenty bytes of text"
    numbers["audio.volume"] = 70
    try settings.set(70, for: .volume)
    try settings.set("twenty bytes of text", for: .device)
  }

  // In functions of their own: what is known of a loop in one is not known of another.
  @inline(never) func getSetting(_ count: Int) { for _ in 0..<count { blackHole(player.volume) } }
  @inline(never) func getHandle(_ count: Int) { for _ in 0..<count { blackHole(handle.value) } }
  @inline(never) func getSubscript(_ count: Int) { for _ in 0..<count { blackHole(settings[.volume]) } }
  @inline(never) func getAbsent(_ count: Int) { for _ in 0..<count { blackHole(settings[.absent]) } }
  @inline(never) func getText(_ count: Int) { for _ in 0..<count { blackHole(settings[.device].utf8.count) } }
  @inline(never) func getLocked(_ count: Int) { for _ in 0..<count { blackHole(numbers["audio.volume"] ?? 0) } }
  @inline(never) func getLockedText(_ count: Int) {
    for _ in 0..<count { blackHole(texts["audio.device"]?.utf8.count ?? 0) }
  }

  @inline(never) func setSetting(_ count: Int) { for value in 0..<count { player.volume = value } }
  @inline(never) func setHandle(_ count: Int) { for value in 0..<count { handle.value = value } }
  @inline(never) func setSubscript(_ count: Int) { for value in 0..<count { settings[.volume] = value } }
  @inline(never) func setLocked(_ count: Int) { for value in 0..<count { numbers["audio.volume"] = value } }

  var loops: [(name: String, goals: [String], kept: (Int) -> Void, locked: (Int) -> Void)] {
    [
      ("get Int, @Setting", ["<= 15 ns"], getSetting, getLocked),
      ("get Int, handle", ["<= 15 ns"], getHandle, getLocked),
      ("get Int, store[.key]", ["<= 15 ns"], getSubscript, getLocked),
      ("get Int, store[.key], its default", [], getAbsent, getLocked),
      ("get 20-byte String, store[.key]", [], getText, getLockedText),
      ("set Int, @Setting", [], setSetting, setLocked),
      ("set Int, handle", [], setHandle, setLocked),
      ("set Int, store[.key]", [], setSubscript, setLocked),
    ]
  }

  func measure(only: String, quick: Bool) throws {
    for (name, goals, kept, locked) in loops where only.isEmpty || name.contains(only) {
      let isReading = name.hasPrefix("get")
      let plan = isReading ? Plan.reading(quick: quick) : .writing(quick: quick)
      let contestants = [
        Contestant(name: "Kept", loop: kept), Contestant(name: "Dictionary behind a Mutex", loop: locked),
      ]
      try Row(isReading ? "Reading, Swift" : "Writing, Swift", name, goals: goals, plan, contestants).printed()
    }
  }
}

/// Keeps what is read from being optimised away.
@inline(never) @_optimize(none) func blackHole(_ value: Int) {}

func argument(after name: String) -> String? {
  let arguments = CommandLine.arguments
  return arguments.firstIndex(of: name).flatMap { arguments.indices.contains($0 + 1) ? arguments[$0 + 1] : nil }
}

let folder = "\(CommandLine.arguments.dropFirst().first ?? ".")/swift"
defer { try? FileManager.default.removeItem(atPath: folder) }
let contest = try Contest(in: folder)
if let name = argument(after: "--loop"), let count = CommandLine.arguments.last.flatMap(Int.init) {
  contest.loops.first { $0.name == name }?.kept(count)
} else {
  try contest.measure(only: argument(after: "--only") ?? "", quick: CommandLine.arguments.contains("--quick"))
}
contest.settings.close()
