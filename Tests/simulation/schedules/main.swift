// Runs several processes on one store, each thread one step at a time, as a seed says: scripts/simulate.
//   schedules SEED                       runs one seed, and prints its trace
//   schedules SEED events                prints what a seed does to the files, locks and words that processes share
//   schedules SEED shrink                looks for a smaller run of the seed that finds something, and prints its trace
//   schedules FIRST STEP COUNT SECONDS   runs a number of seeds, or ends after a time, and prints what is found;
//                                        with "once", it ends with the first finding

import CKept
import CPlatform
import CScheduler

/// Uses the library once, so that no run does what happens once in a process.
func warmUp() {
  Run.empty(folder)
  simulation_reset(0, turns(gap: 0, counts_all: false, hot: -1, most: .max))
  simulation_enter()
  var plan = Plan(seed: 0)
  plan.closes = true
  var program = Program(plan, folder, process: 0, thread: 0)
  program.run((Kind.allCases + Kind.allCases).filter { $0 != .fork })
  simulation_sleep(10_000_000_000)
  simulation_leave()
}

func end(_ isSound: Bool) -> Never {
  Run.remove(folder)
  exit(isSound ? 0 : 1)
}

simulation_prepare(CommandLine.unsafeArgv)
for fault in JudgeCheck.faults() { print("the judge is wrong: \(fault)") }
guard JudgeCheck.faults().isEmpty else { exit(1) }
let numbers = CommandLine.arguments.dropFirst().compactMap { UInt64($0) }
// To try the finding: KEPT_PLANTED chooses a fault of the simulated system.
switch getenv("KEPT_PLANTED").map({ String(cString: $0) }) {
case "forgotten-syncs": simulation_plant(Int32(SYSTEM_FORGETS_SYNCS))
case "shared-folders": simulation_plant(Int32(SYSTEM_SHARES_FOLDERS))
default: break
}
guard numbers.count == 1 || numbers.count == 4 else {
  print("usage: schedules SEED, or schedules FIRST STEP COUNT SECONDS")
  exit(2)
}
// Of the same length in each process.
let folder = "/dev/shm/kept-schedules-\(10_000_000 + Int(getpid()))"
warmUp()

/// Runs a plan in a process of its own, with the memory that every run begins with.
func fails(_ plan: Plan, quietly: Bool = true) -> Bool {
  let child = simulation_fork()
  if child == 0 {
    let found = Run.run(plan, in: folder)
    if let found, !quietly { print("FAULT with seed \(plan.seed): \(found)") }
    fflush(nil)
    _exit(found == nil ? 0 : 1)
  }
  return !simulation_wait(child)
}

if numbers.count == 1 {
  var plan = Plan(seed: numbers[0])
  let isShrunk = CommandLine.arguments.last == "shrink"
  let size = plan.size
  if isShrunk { plan = plan.shrunk { fails($0) } }
  let found = Run.run(plan, in: folder)
  if CommandLine.arguments.last == "events" {
    Run.printEvents()
    end(found == nil)
  }
  Run.printTrace()
  if isShrunk { print("from \(size)\nto \(plan.size), \(simulation_switches()) changes of the turn") }
  print("seed \(numbers[0]): \(simulation_steps()) steps, checksum \(simulation_hash()), \(found ?? "nothing found")")
  end(found == nil)
}

var (seed, runs, findings) = (numbers[0], UInt64(0), 0)
let deadline = time(nil) + Int(numbers[3])
while runs < numbers[2], time(nil) < deadline, findings == 0 || CommandLine.arguments.last != "once" {
  findings += fails(Plan(seed: seed), quietly: false) ? 1 : 0
  runs += 1
  seed &+= numbers[1]
}
print("\(runs) runs, \(findings) findings")
end(findings == 0)
