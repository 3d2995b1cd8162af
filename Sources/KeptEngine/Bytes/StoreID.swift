// The identity of a store, and of a place in its commits.

/// The id of a store.
package struct StoreID: Hashable, Sendable {
  package let high: UInt64
  package let low: UInt64

  package init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

  package static func random() -> StoreID {
    StoreID(high: .random(in: 0 ... .max), low: .random(in: 0 ... .max))
  }
}

/// The number of bytes of frames since the store was created, over all journals.
///
/// It is a multiple of 8, so it is even; it only grows, and never wraps: at a gigabyte a second it lasts for 146 years.
package typealias Position = UInt64

extension Position {
  /// A bound that no store reaches.
  static let end: Position = 1 << 62
}
