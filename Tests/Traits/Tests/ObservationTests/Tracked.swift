// What a test does with a tracked reading: it waits until it is told of a change.

import Dispatch
import Kept
import Observation
import Stores
import Testing

/// One tracking of a value, which is told of one change.
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

  /// Expects that the change is told.
  func waitForChange(sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(told.isSignalled, sourceLocation: sourceLocation)
  }

  /// Whether the change has been told by now.
  var isChanged: Bool { told.wait(timeout: .now()) == .success }
}
