// The indexes of the process: made when one is needed, lent to one store after the other, and never freed. Readers
// count no reference, so one that is late may look into an index whose store is gone; it finds it closed.

/// The indexes that serve no store now.
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

  /// An empty index.
  func take() -> Index {
    state.updateQuietly { state in
      if let spare = state.spare.popLast() { return spare }
      let index = Index()
      state.all.append(index)
      return index
    }
  }

  /// Takes an index back, which nobody changes any more.
  func put(_ index: Index) {
    index.clear()
    state.updateQuietly { $0.spare.append(index) }
  }
}

extension Indexes: ForkAware {
  func beforeFork() {}

  /// Whoever looked into one was a thread of the parent.
  func afterForkInChild() { for index in state.read(\.all) { index.afterForkInChild() } }
}
