// Notices on their way from the commit to the observers, in the order of the commits.

/// A queue that one thread empties.
final class DeliveryQueue: Sendable {
  private struct State {
    var notices: [Notice] = []
    var isEnded = false
  }
  private let state = Monitor(State())

  /// Adds a notice; nobody is called here.
  func append(_ notice: Notice) {
    state.update { if !$0.isEnded { $0.notices.append(notice) } }
  }

  /// Waits for notices and takes all of them; nil after the end.
  func take() -> [Notice]? {
    state.wait { state -> [Notice]?? in
      if state.isEnded { return .some(nil) }
      guard !state.notices.isEmpty else { return nil }
      defer { state.notices = [] }
      return .some(state.notices)
    }
  }

  func end() {
    state.update {
      $0.isEnded = true
      $0.notices = []
    }
  }
}
