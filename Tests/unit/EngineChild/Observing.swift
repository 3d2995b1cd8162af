// kept-engine-child observe FOLDER: prints each change of a store that another process makes, as a line, until the key
// "end" has a value.

import CPlatform
import KeptSystem
import KeptValues

@testable import KeptCore

enum Observing {
  static func run(_ folder: String) throws {
    let storage = try LocalStorage(path: folder)
    var revision = try storage.revision()
    print("observes")
    fflush(nil)
    while true {
      guard try storage.wait(after: revision) else { continue }
      guard case .changed(let delta) = try storage.changes(after: revision) else { throw Failed("changes are too old") }
      guard delta.upTo > revision else { continue }
      revision = delta.upTo
      let changes = delta.entries.map { "\($0.key.text)=\($0.entry.value.map(\.json) ?? "")" }
      print("\(revision)\(delta.mayHaveMissed ? " merged" : "") \(changes.joined(separator: " "))")
      fflush(nil)
      if delta.entries.contains(where: { $0.key.text == "end" }) { return }
    }
  }
}
