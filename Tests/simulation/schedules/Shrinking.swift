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
    if reads > 0 { add { $0.reads = 0 } }
    if restarts > 0 { add { $0.restarts -= 1 } }
    if turns.hot >= 0 { add { $0.turns.hot = -1 } }
    if turns.gap > 0 { add { $0.turns.gap = turns.gap >= 1000 ? 0 : 3 * turns.gap } }
    if turns.counts_all { add { $0.turns.counts_all = false } }
    for process in programs.indices {
      for thread in programs[process].indices.dropFirst() { add { $0.programs[process].remove(at: thread) } }
      for thread in programs[process].indices {
        for index in programs[process][thread].indices { add { $0.programs[process][thread].remove(at: index) } }
      }
    }
    return plans
  }

  /// The smallest plan that was found to fail, too.
  ///
  /// A smaller plan has other schedules: a few of them are tried. The last one loses changes of the turn.
  func shrunk(_ fails: (Plan) -> Bool) -> Plan {
    var plan = self
    while let next = plan.smaller.flatMap(\.rescheduled).first(where: fails) { plan = next }
    while fails(plan) {
      let switches = min(simulation_switches(), plan.turns.most)
      let fewer = Set([0, switches / 2, switches &- 1]).filter { $0 < switches }.sorted().map(plan.with)
      guard let next = fewer.flatMap(\.rescheduled).first(where: fails) else { return plan.with(switches) }
      plan = next
    }
    return plan
  }

  private var rescheduled: [Plan] {
    (0..<32 as Range<UInt64>).map { number in
      var plan = self
      plan.schedule &+= number
      return plan
    }
  }

  private func with(_ most: UInt32) -> Plan {
    var plan = self
    plan.turns.most = most
    return plan
  }

  /// Its size, in words.
  var size: String {
    let processes = programs.filter { !$0.isEmpty }
    let operations = processes.joined().joined().map { "\($0)" }
    return "\(processes.count) processes, \(operations.count) operations (\(operations.joined(separator: ", "))), "
      + "\(faults.count) failures"
  }
}
