// The rows of a get and a set: one key that is used repeatedly, like a property.

import Foundation

struct Operating {
  typealias Loop = (_ count: Int) -> Void

  let kept: KeptFaces
  let locked = LockedDictionaries()
  let suite: Suite

  init(in folder: String) throws {
    kept = try KeptFaces(in: "\(folder)/faces.kept")
    suite = try Suite(in: folder)
  }

  /// For each row the loop of Kept, and those of the candidates that can do the same.
  var loops: [(row: String, goals: [String], kept: Loop, locked: Loop?, suite: Loop)] {
    [
      ("get Int, @Setting", ["<= 15 ns"], kept.getSetting, locked.get, suite.get),
      ("get Int, handle", ["<= 15 ns"], kept.getHandle, locked.get, suite.get),
      ("get Int, store[.key]", ["<= 15 ns"], kept.getSubscript, locked.get, suite.get),
      ("get Int, store[.key], its default", [], kept.getAbsent, locked.getAbsent, suite.getAbsent),
      ("get 20-byte String, store[.key]", [], kept.getText, locked.getText, suite.getText),
      ("set Int, @Setting", [], kept.setSetting, locked.set, suite.set),
      ("set Int, handle", [], kept.setHandle, locked.set, suite.set),
      ("set Int, store[.key]", [], kept.setSubscript, locked.set, suite.set),
      ("set Int, durable or synchronize()", [], kept.setDurable, nil, suite.setSynchronized),
    ]
  }

  func measure(only: String, quick: Bool) throws {
    for (row, goals, kept, locked, suite) in loops where only.isEmpty || row.contains(only) {
      let isReading = row.hasPrefix("get")
      let plan = isReading ? Plan.reading(quick: quick) : .writing(quick: quick)
      let candidates = [
        Candidate("Kept", loop: kept), locked.map { Candidate("Dictionary behind a Mutex", loop: $0) },
        Candidate("UserDefaults", loop: suite),
      ]
      let section = isReading ? "Reading, Swift" : "Writing, Swift"
      try Row(section, row, goals: goals, plan, candidates.compactMap(\.self)).printed()
    }
  }
}
