// A tracked read in a test, which waits for its change notification.

import Dispatch
import Kept
import KeptValues
import Observation
import Stores
import Testing

/// One tracking of a value, which is notified of one change.
struct Tracked<Value> {
  /// The value read.
  let value: Value
  private let changed = DispatchSemaphore(value: 0)

  init(_ read: () -> Value, onChange: @escaping @Sendable () -> Void = {}) {
    let changed = changed
    value = withObservationTracking(read) {
      onChange()
      changed.signal()
    }
  }

  /// Expects a change notification.
  func waitForChange(sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(changed.isSignalled, sourceLocation: sourceLocation)
  }

  /// Whether the change has been delivered by now.
  var isChanged: Bool { changed.wait(timeout: .now()) == .success }
}
