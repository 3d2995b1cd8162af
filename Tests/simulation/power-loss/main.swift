// Cuts the power at every event of a store's life: durable commits remain, others are lost only from the end, a commit
// is complete or absent, and nothing is damaged.
//   power-loss SEED [FAILING]   one of FAILING syncs of a file fails (0: none)
//   power-loss cases            looks at what follows from neither, such as an exchanged pulse
//   power-loss strikes          kills the process at each call of each operation, and makes each fail
//   power-loss secrets ROUNDS   kills a process that replaces secrets, and looks for them in all files

import CSimulation
import Foundation
import KeptEngine

let arguments = CommandLine.arguments.dropFirst()
let number = arguments.dropFirst().first.flatMap { Int($0) } ?? 0
do {
  switch arguments.first {
  case "cases":
    try Cases().judge()
    print("the cases are well")
  case "strikes": print("\(try Strikes().judge()) calls were struck")
  case "secrets": print("no secret was left in \(try Secrets().judge(rounds: number)) rounds with kills")
  case let seed:
    let seed = seed.flatMap { UInt64($0) } ?? 1
    recorder_fail(UInt32(clamping: number))
    let life = try Life(seed: seed)
    try life.run()
    let states = try life.judge()
    print("seed \(seed): \(life.commits) commits, \(recorder_count()) events, \(states) states after a loss of power")
  }
} catch {
  print("FAULT \(error)")
  exit(1)
}
