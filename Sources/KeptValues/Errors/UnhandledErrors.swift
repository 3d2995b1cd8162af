// Errors without an error handler: a debug build prints the first error of each kind.

import CPlatform
import Synchronization

/// The kinds that this process has printed: a bit for each code.
private let printedKinds = Atomic<UInt64>(0)

extension StoreError {
  /// Prints the error to standard error if it is the first of its kind in this process and this is a debug build.
  ///
  /// A kind is a ``Code``. Nothing is printed in a release build.
  @Sendable package static func printUnhandled(_ error: StoreError) {
    #if DEBUG
    let kind: UInt64 = 1 << UInt64(UInt32(bitPattern: error.code.rawValue) & 63)
    let printed = printedKinds.bitwiseOr(kind, ordering: .relaxed).oldValue
    guard printed & kind == 0 else { return }
    var text = """
      kept: \(error)
      kept: No error handler receives this. A debug build prints the first error of each kind, here "\(error.code)".
      kept: To receive all errors, open the store with an error handler; to print none, open it with
      kept:   StoreOptions(errorHandler: { _ in })

      """
    // In one write, so that lines of other threads do not come in between.
    text.withUTF8 { kept_print_error(UnsafeRawPointer($0.baseAddress), $0.count) }
    #endif
  }
}
