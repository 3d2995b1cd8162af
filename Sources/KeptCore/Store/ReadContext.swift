// The words that reads of one handle begin with. They outlive the store where C may still name it, and lead to nothing
// that is ever freed: so reads count no reference, and a late one finds that the store is closed.

import CPlatform
import Synchronization

/// Where one handle reads from memory.
///
/// Invariant: while `generation` is not ``closed``, the words lead to the pulse and the index of this store. Both serve
/// another store later (``PulsePages``, ``Indexes``): so readers look at `generation` again after they have read.
package final class ReadContext: @unchecked Sendable {
  // The compiler cannot see it: the words are only touched atomically.
  let words = UnsafeMutablePointer<kept_read_context>.allocate(capacity: 1)
  private let isLent = Atomic<Bool>(false)

  init(_ local: LocalStorage?) {
    words.initialize(
      to: kept_read_context(
        generation: local?.generationWord ?? Self.closed, header: local?.header, owner: nil, layers: 0))
  }

  deinit { if !isLent.load(ordering: .acquiring) { words.deallocate() } }

  /// A word that is odd for ever, so that nothing is current.
  // Never freed and never written.
  nonisolated(unsafe) static let closed: UnsafePointer<UInt64> = {
    let word = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)
    word.initialize(to: 1)
    return UnsafePointer(word)
  }()

  // Every handle that C was ever given, so that leak checkers see who holds it.
  private static let lent = Monitor<[UnsafeMutablePointer<kept_read_context>]>([])

  /// Gives C the address of the words, which from now on are kept for as long as the process lives.
  ///
  /// - Parameter owner: is found by the address until ``disown(_:)``.
  package func lend(owner: UnsafeMutableRawPointer) -> OpaquePointer {
    if !isLent.exchange(true, ordering: .acquiringAndReleasing) { Self.lent.update { $0.append(words) } }
    _ = kept_read_context_set_owner(words, owner)
    return OpaquePointer(words)
  }

  /// Whom an address that was lent belongs to; nil: nobody any more.
  package static func owner(of address: OpaquePointer) -> UnsafeMutableRawPointer? {
    kept_read_context_owner(UnsafePointer(address))
  }

  /// Takes the owner from an address; nil: that was done already.
  package static func disown(_ address: OpaquePointer) -> UnsafeMutableRawPointer? {
    kept_read_context_set_owner(UnsafeMutablePointer(address), nil)
  }

  /// Lets no read find anything any more.
  func close() { kept_read_context_set_generation(words, Self.closed) }

  /// Lets reads go to the index of the handle's own layers.
  func show(_ view: IndexView) { kept_read_context_set_header(words, view.index.header) }

  /// The word that moves with each change of the layers.
  var layers: UnsafeMutablePointer<UInt64> { kept_read_context_layers(words) }
}
