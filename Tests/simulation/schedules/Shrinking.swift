// Fewer processes, operations, failures and changes of the turn that still find something.

import CScheduler

extension Plan {
  /// Plans that are a little smaller.
  private var smaller: [Plan] {
    var plans: [Plan] = []
    func add(_ change: (inout Plan) -> Void) {
      var plan = self
      change(&plan)
      plans.append(plan)
    }
    for process in programs.indices where !programs[process].isEmpty { add { $0.programs[process] = [] } }
    for index in faults.indices { add { $0.faults.remove(at: index) } }
    if observes { add { $0.observes = false } }
    if restarts > 0 { add { $0.restarts -= 1 } }
    if turns.hot >= 0 { add { $0.turns.hot = -1 } }
    if turns.gap > 0 { add { $0.turns.gap = turns.gap >= 1000 ? 0 : 3 * turns.gap } }
    for process in programs.indices {
      for thread in programs[process].indices.dropFirst() { add { $0.programs[process].remove(at: thread) } }
      for thread in programs[process].indices {
        for index in programs[process][thread].indices { add { $0.programs[process][thread].remove(at: index) } }
      }
    }
    return plans
  }

  /// The smallest plan that was found to fail, too.
  func shrunk(_ fails: (Plan) -> Bool) -> Plan {
    var plan = self
    while let next = plan.smaller.first(where: fails) { plan = next }
    return plan
  }
}
