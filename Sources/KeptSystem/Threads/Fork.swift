// Fork handling: parent and child both continue with the same handles.
//
// prepare  0. State whose lazy initialization could deadlock in the child is initialized (EagerInitialization).
//          1. The gate closes: no thread holds a monitor or enters one. Monitors need no order among themselves,
//             since a thread that holds one may take more, and the fork waits for it; a fork takes the gate only.
// parent   2. The gate opens.
// child    2. The other threads no longer exist: the gate and all monitors (lazily) get new locks.
//          3. Each participant discards its record of the parent's threads and their work.
//          4. The gate opens.
//
// A thread that forks must not hold a monitor: user code is never called inside one.

import CPlatform

/// A participant in fork handling: it discards state in the child.
package protocol ForkAware: AnyObject, Sendable {
  /// Discards its record of the parent's threads.
  ///
  /// It may use its own monitors: no thread holds a ``Monitor``. The calling thread is the only one in the child. At
  /// the fork it was in no library call, except perhaps in a callback.
  func afterForkInChild()
}

package enum Fork {
  /// The number of forks between this process and the one that first used the library.
  package static var count: UInt64 { gate.forks }

  /// The gate of this process; the fork handlers are installed with it.
  package static let gate: ForkGate = {
    pthread_atfork({ Fork.prepare() }, { Fork.finishInParent() }, { Fork.finishInChild() })
    return ForkGate()
  }()

  /// Registers an object for fork handling until ``leave(_:)`` or its deallocation.
  package static func join(_ participant: any ForkAware) {
    state.update { $0.participants[ObjectIdentifier(participant)] = Participant(object: participant) }
  }

  package static func leave(_ participant: any ForkAware) {
    state.update { $0.participants[ObjectIdentifier(participant)] = nil }
  }

  /// Calls a function before the gate closes for a fork, and now in a process that is the child of one.
  package static func beforeEach(_ initialize: @escaping @Sendable () -> Void) {
    state.update { $0.initializations.append(initialize) }
    if count > 0 { initialize() }
  }

  private struct Participant {
    weak var object: (any ForkAware)?
  }
  private struct State {
    var participants: [ObjectIdentifier: Participant] = [:]
    var initializations: [@Sendable () -> Void] = []
    // The participants that were notified of the current fork: none of them may be released in the middle of it.
    var notified: [any ForkAware] = []

    mutating func dismiss() -> [any ForkAware] {
      defer { notified = [] }
      return notified
    }
  }
  private static let state = Monitor(State())

  private static func prepare() {
    for initialize in state.read({ $0.initializations }) { initialize() }
    gate.close()
    state.update { state in state.notified = state.participants.values.compactMap(\.object) }
  }

  private static func finishInParent() {
    let notified = state.update { $0.dismiss() }
    gate.open()
    // The last reference to a participant may be released only now.
    withExtendedLifetime(notified) {}
  }

  private static func finishInChild() {
    gate.forgetThreads()
    let notified = state.update { $0.dismiss() }
    for participant in notified { participant.afterForkInChild() }
    gate.open()
    withExtendedLifetime(notified) {}
  }
}
