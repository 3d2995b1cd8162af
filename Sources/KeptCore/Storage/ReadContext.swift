// The words that reads through one handle begin with. They outlive the store where C may still refer to it, and point
// to memory that is never freed. So reads count no references, and a late read finds that the store is closed.

import CPlatform
import KeptSystem
import Synchronization

/// The read context of one handle.
///
/// Invariant: while `generation` is not ``closed``, the words point to the pulse and the index of this store. Both
/// serve another store later, so readers check `generation` again after they have read.
package final class ReadContext: @unchecked Sendable {
  // The compiler cannot check it: the words are only accessed atomically.
  let words = UnsafeMutablePointer<kept_read_context>.allocate(capacity: 1)
  private let isLent = Atomic<Bool>(false)

  /// - Parameter storage: nil if the storage keeps no index.
  init(_ storage: (any FastStorage)?) {
    words.initialize(
      to: kept_read_context(
        generation: storage?.generationAddress ?? Self.closed, header: storage?.header, owner: nil, layers: 0))
  }

  deinit { if !isLent.load(ordering: .acquiring) { words.deallocate() } }

  /// A word that is always odd, so that no index entry is current.
  // Never freed and never written.
  nonisolated(unsafe) static let closed: UnsafePointer<UInt64> = {
    let word = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)
    word.initialize(to: 1)
    return UnsafePointer(word)
  }()

  // Every context that was ever lent to C, so that leak checkers find a reference to it.
  private static let lent = Monitor<[UnsafeMutablePointer<kept_read_context>]>([])

  /// Returns the address of the words for C.
  ///
  /// From then on they are kept until the process exits.
  ///
  /// - Parameter owner: can be looked up by the address until it is taken away.
  package func lend(owner: UnsafeMutableRawPointer) -> OpaquePointer {
    if !isLent.exchange(true, ordering: .acquiringAndReleasing) { Self.lent.update { $0.append(words) } }
    _ = kept_read_context_set_owner(words, owner)
    return OpaquePointer(words)
  }

  /// Makes all later reads find nothing.
  func close() { kept_read_context_set_generation(words, Self.closed) }

  /// Directs reads to the index of the handle's own layers.
  func show(_ view: ReadView) { kept_read_context_set_header(words, view.header) }

  /// The word that changes with each change of the layers.
  var layers: UnsafeMutablePointer<UInt64> { kept_read_context_layers(words) }
}
