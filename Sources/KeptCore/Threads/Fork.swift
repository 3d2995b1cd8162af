// What happens around a fork, so that parent and child both go on with the same handles.
//
// prepare  0. What two threads of the child must not meet at is used for the first time (EagerInitialization).
//          1. The gate closes: nobody holds a monitor, and nobody enters one. Monitors need no order among themselves,
//             since a thread that holds one may take more, and the fork waits for it; a fork takes the gate only.
//          2. Each participant lets go of what must not exist twice: SQLite's connections, without a checkpoint.
// parent   3. The gate opens. What was let go is made again when it is needed.
// child    3. The threads are gone: the gate and all monitors (lazily) get new locks.
//          4. Each participant forgets the threads that it counted on, and what was theirs.
//          5. The gate opens.
//
// Whoever forks must not hold a monitor: no code of a user is ever called inside one.

import CPlatform

/// Somebody who must be quiet during a fork, or has something to forget in the child.
///
/// Both are called while no thread holds a ``Monitor``, and may use their own.
protocol ForkAware: AnyObject, Sendable {
  /// Lets go of what must not exist twice.
  func beforeFork()

  /// Forgets the threads of the parent.
  ///
  /// The calling thread is the only one, and was in no call of the library but perhaps in a callback.
  func afterForkInChild()
}

package enum Fork {
  /// How many forks lie between this process and the one in which the library was first used.
  package static var count: UInt64 { gate.forks }

  /// The gate of this process; the handlers are installed with it.
  static let gate: ForkGate = {
    pthread_atfork({ Fork.prepare() }, { Fork.finishInParent() }, { Fork.finishInChild() })
    return ForkGate()
  }()

  /// Lets an object take part in forks until it ``leave(_:)``s, or is gone.
  static func join(_ participant: any ForkAware) {
    crew.update { $0.participants[ObjectIdentifier(participant)] = Participant(object: participant) }
  }

  static func leave(_ participant: any ForkAware) {
    crew.update { $0.participants[ObjectIdentifier(participant)] = nil }
  }

  private struct Participant {
    weak var object: (any ForkAware)?
  }
  private struct Crew {
    var participants: [ObjectIdentifier: Participant] = [:]
    // Those who are told of the fork that is under way: none of them may end in the middle of it.
    var told: [any ForkAware] = []

    mutating func dismiss() -> [any ForkAware] {
      defer { told = [] }
      return told
    }
  }
  private static let crew = Monitor(Crew())

  private static func prepare() {
    _ = EagerInitialization.isOverBeforeFork
    gate.close()
    let told = crew.update { crew in
      crew.told = crew.participants.values.compactMap(\.object)
      return crew.told
    }
    for participant in told { participant.beforeFork() }
  }

  private static func finishInParent() {
    let told = crew.update { $0.dismiss() }
    gate.open()
    // Only now may the last reference to one of them go.
    withExtendedLifetime(told) {}
  }

  private static func finishInChild() {
    gate.forgetThreads()
    let told = crew.update { $0.dismiss() }
    for participant in told { participant.afterForkInChild() }
    gate.open()
    withExtendedLifetime(told) {}
  }
}
