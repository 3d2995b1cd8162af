// Changes every byte of every file of a store with 1,000 keys, and truncates every file to every length: no value is
// wrong, and no more is lost than was damaged.
//   every-byte PART PARTS   every part is one process, because each opening of a store keeps a page mapped

import EngineDamage
import Foundation

let arguments = CommandLine.arguments.dropFirst().compactMap { Int($0) }
let (part, parts) = arguments.count == 2 ? (arguments[0], arguments[1]) : (0, 1)
do {
  let folder = FileManager.default.temporaryDirectory.appending(path: "kept-damage-\(UUID().uuidString)").path
  let store = try DamagedStore(folder, keys: 1000)
  var judged = 0
  for name in store.names {
    for at in stride(from: part, to: store.files[name]?.count ?? 0, by: parts) {
      try store.judge(.flip(name, at, in: store))
      try store.judge(.truncation(name, at, in: store))
      judged += 2
    }
  }
  if part == 0 {
    for damage in Damage.ofWholeFiles(in: store) { try store.judge(damage) }
  }
  print("part \(part): \(judged) damages of \(store.files.mapValues(\.count))")
} catch {
  print("FAULT \(error)")
  exit(1)
}
