// What the tests of the typed API share: a store in memory that records what its error handler receives.

import Kept
import Synchronization
import Testing

/// A store in memory, and its unhandled failures.
struct TestStore {
  let store: Store
  private let reported = Reported()

  private final class Reported: Sendable {
    let errors = Mutex<[StoreError]>([])
  }

  init() {
    let reported = reported
    let options = StoreOptions(errorHandler: { error in reported.errors.withLock { $0.append(error) } })
    store = Store(storage: MemoryStorage(), options: options)
  }

  /// The errors that the error handler received since the last call.
  func takeReported() -> [StoreError] {
    reported.errors.withLock { errors in
      defer { errors = [] }
      return errors
    }
  }
}

/// The error that a call throws, which must be a StoreError.
func failure(
  _ code: StoreError.Code, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
) -> String {
  var sentence = ""
  #expect(sourceLocation: sourceLocation) {
    try body()
  } throws: { error in
    sentence = "\(error)"
    return (error as? StoreError)?.code == code
  }
  return sentence
}
