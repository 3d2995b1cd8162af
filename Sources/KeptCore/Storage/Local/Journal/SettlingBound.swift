// Up to where the database may have come, in the file `journal`:
//
//   byte 104  position
//   byte 112  the same with all bits inverted, so that a changed bit makes them differ
//
// It is on the disk before the database has come so far. So a journal whose bound is below the place of the database is
// an earlier copy, and the unsettled commits were in the one that it has replaced.
//
// Only who has the write lock of the database writes it, so it never falls.

import KeptSystem
import KeptValues

extension JournalFile {
  private static let positionOffset = 104
  private static let inverseOffset = 112

  /// Lets the database come to a position, once the file is synced.
  func raiseBound(to position: JournalPosition) throws(StoreError) {
    // Killed in between, the bound is not known until the next settle.
    try write(position, at: Self.positionOffset)
    try write(~position, at: Self.inverseOffset)
  }

  /// Whether a database has come further, as far as that is known.
  func isOlder(than settled: SettledPlace) throws(StoreError) -> Bool {
    let bound = try word(at: Self.positionOffset)
    return try word(at: Self.inverseOffset) == ~bound && bound < settled.place.position
  }

  /// Throws `corrupt` if a database has come further.
  func checkBound(_ settled: SettledPlace) throws(StoreError) {
    guard try isOlder(than: settled) else { return }
    throw StoreError(
      .corrupt,
      "\(shown: path) is older than the database next to it: it was replaced by an earlier copy, and later commits "
        + "are missing")
  }
}
