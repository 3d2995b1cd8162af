// Reading the index of a storage without counting references, which would cause contention between readers.

import CPlatform
import KeptValues

/// The index of a storage, and the generation for which it must be current.
///
/// Invariant: while it is used the storage exists, which keeps both.
// @unchecked: the word is only accessed atomically.
struct CurrentIndex: @unchecked Sendable {
  /// The address of the generation; see ``Storage/generation``.
  let generation: UnsafePointer<UInt64>
  private let index: Unmanaged<Index>

  init(_ view: IndexView, at generation: UnsafePointer<UInt64>) {
    self.generation = generation
    index = .passUnretained(view.index)
  }

  /// Calls `body` with what the index knows of a key, and where; returns nil if the storage must be read.
  ///
  /// It makes no system call, no String and no allocation.
  @inline(__always)
  func find<Result>(_ key: PreparedBytes, _ body: (IndexedEntry, KeyHint) -> Result) -> Result? {
    let now = kept_load64(generation)
    guard now % 2 == 0 else { return nil }
    return index._withUnsafeGuaranteedRef { $0.find(key, at: now, body) }
  }
}
