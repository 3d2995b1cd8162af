// Reading the index of a storage without counting references, which would cause contention between readers.

import CPlatform

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

  /// Where reads from memory begin; see ``ReadContext``.
  var header: UnsafePointer<kept_index_header> { index._withUnsafeGuaranteedRef(\.header) }

  /// Calls `body` with what the index knows of a key; returns nil if the storage must be read.
  ///
  /// It makes no system call, no String and no allocation.
  @inline(__always)
  func read<Result>(_ key: PreparedBytes, _ body: (IndexedEntry) -> Result) -> Result? {
    find(key) { entry, _ in body(entry) }
  }

  /// Like ``read(_:_:)``, with the place where the key was found.
  @inline(__always)
  func find<Result>(_ key: PreparedBytes, _ body: (IndexedEntry, EntryTable.Place) -> Result) -> Result? {
    let now = kept_load64(generation)
    guard now % 2 == 0 else { return nil }
    return index._withUnsafeGuaranteedRef { $0.find(key, at: now, body) }
  }
}
