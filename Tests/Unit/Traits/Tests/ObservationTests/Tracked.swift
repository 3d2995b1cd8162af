// A tracked read in a test, which waits for its change notification.

import Dispatch
import Kept
import Observation
import Stores
import Testing

/// One tracking of a value, which is notified of one change.
struct Tracked<Value> {
  /// What was read.
  let value: Value
  private let told = DispatchSemaphore(value: 0)

  init(_ read: () -> Value, onChange: @escaping @Sendable () -> Void = {}) {
    let told = told
    value = withObservationTracking(read) {
      onChange()
      told.signal()
    }
  }

  /// Expects a change notification.
  func waitForChange(sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(told.isSignalled, sourceLocation: sourceLocation)
  }

  /// Whether the change has been delivered by now.
  var isChanged: Bool { told.wait(timeout: .now()) == .success }
}
