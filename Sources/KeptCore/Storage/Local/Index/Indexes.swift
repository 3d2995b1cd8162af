// The indexes of the process: created when needed, used for one store after another, and never freed. Readers count no
// reference, so a late reader may use an index whose store is closed; it finds the gate closed.

import KeptSystem

/// The indexes that serve no store at present.
final class Indexes: Sendable {
  private struct State {
    var all: [Index] = []
    var spare: [Index] = []
  }
  private let state = Monitor(State())

  static let ofThisProcess = {
    let indexes = Indexes()
    Fork.join(indexes)
    return indexes
  }()

  /// Returns an empty index.
  func take() -> Index {
    state.updateQuietly { state in
      if let spare = state.spare.popLast() { return spare }
      let index = Index()
      state.all.append(index)
      return index
    }
  }

  /// Takes back an index that no thread changes any more.
  func put(_ index: Index) {
    index.clear()
    state.updateQuietly { $0.spare.append(index) }
  }
}

extension Indexes: ForkAware {
  /// Resets all indexes in the child of a fork: the threads that read from them were the parent's.
  // Not with a key path: without optimization, making one needs a lock that another thread of the parent may have held.
  func afterForkInChild() { for index in state.read({ $0.all }) { index.afterForkInChild() } }
}
