// A list of declarations that a program declares at each start. A store that has all of them need not read it again.

import CPlatform
import KeptValues

/// The mark of a list whose keys a store has declared as the list says, with no stored value that does not fit.
///
/// Only a change of a declaration that was there before, and values that were not checked, make it wrong: the commit
/// that makes them removes the marks of all lists.
package struct DeclaredList: Equatable, Sendable {
  // Of the text. The seed is known to no author of a list, and other versions of the library may read a list otherwise.
  private let hash: UInt64
  private let count: UInt64

  static let bytes = 16
  /// How many a store has.
  package static let most = 4

  package init(_ text: UnsafeRawBufferPointer, of store: StoreID, version: UInt64) {
    hash = kept_hash(text.baseAddress, text.count, store.high ^ version)
    count = UInt64(text.count)
  }

  /// Those in some bytes: a length of 0 ends them.
  static func all(in bytes: UnsafeRawBufferPointer) -> [DeclaredList] {
    var lists: [DeclaredList] = []
    while lists.count < most, let list = DeclaredList(bytes, at: Self.bytes * lists.count) { lists.append(list) }
    return lists
  }

  private init?(_ bytes: UnsafeRawBufferPointer, at start: Int) {
    guard let hash = bytes.number(start, UInt64.self), let count = bytes.number(start + 8, UInt64.self), count > 0
    else { return nil }
    (self.hash, self.count) = (hash, count)
  }

  func write(to buffer: ByteBuffer) throws(StoreError) {
    try buffer.add(number: hash)
    try buffer.add(number: count)
  }
}
