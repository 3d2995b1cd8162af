// The cost of a get, a set and an opening in Swift, compared with UserDefaults and a dictionary behind a Mutex.
//
// face FOLDER [--quick] [--only TEXT]; `face FOLDER --loop NAME COUNT` runs one of Kept's operations and then COUNT of
// them, which callgrind counts, and nothing else.

import Foundation

func argument(after name: String) -> String? {
  let arguments = CommandLine.arguments
  return arguments.firstIndex(of: name).flatMap { arguments.indices.contains($0 + 1) ? arguments[$0 + 1] : nil }
}

if let engine = argument(after: "--open").flatMap(Opening.Engine.init(rawValue:)) {
  try Opening(folder: CommandLine.arguments[1], keys: Int(CommandLine.arguments[4]) ?? 0).open(engine)
  exit(0)
}

let folder = "\(CommandLine.arguments.dropFirst().first ?? ".")/swift"
defer { try? FileManager.default.removeItem(atPath: folder) }
if let name = argument(after: "--loop"), let count = CommandLine.arguments.last.flatMap(Int.init) {
  let operating = try Operating(in: folder)
  if let loop = operating.loops.first(where: { $0.row == name })?.kept {
    loop(1)
    profile { loop(count) }
  }
  operating.kept.close()
} else {
  try Suite.keep(in: folder)
  let only = argument(after: "--only") ?? ""
  let isQuick = CommandLine.arguments.contains("--quick")
  let operating = try Operating(in: folder)
  try operating.measure(only: only, quick: isQuick)
  operating.kept.close()
  for opening in [Opening(folder: folder, keys: 1000), Opening(folder: folder, keys: 100_000)]
  where only.isEmpty || opening.row.contains(only) {
    try opening.measure(quick: isQuick)
  }
}
