// The row of the database that says which frames of the journal are in it.

import KeptValues

/// The place after the last settled frame, and what the store was like there.
struct SettledPlace: Equatable {
  var place: FramePlace
  var revision: Revision
  /// The schema version of the program; 0 for none.
  var schemaVersion: UInt32
  /// The revision up to which removals are forgotten; writing leaves it as it is.
  var floor: Revision = 0

  /// Whether the database goes with a journal; a new one does not yet, nor a copy.
  var hasJournal: Bool { place.journal != 0 }

  /// Reads it, in the current transaction if there is one.
  static func read(_ connection: SQLiteConnection) throws(StoreError) -> SettledPlace {
    let row = try connection.statement(
      "SELECT journal, position, checksum, revision, schema_version, floor FROM store")
    let found = try row.first { () throws(StoreError) -> SettledPlace? in
      guard let position = JournalPosition(exactly: row.integer(1)), position % 8 == 0,
        position < JournalHeader.mostPosition, let checksum = UInt32(exactly: row.integer(2)),
        let revision = StoredRevision.revision(row.integer(3)), let version = UInt32(exactly: row.integer(4)),
        let floor = StoredRevision.revision(row.integer(5)), floor <= revision
      else { return nil }
      let place = FramePlace(journal: UInt64(bitPattern: row.integer(0)), position: position, previous: checksum)
      return SettledPlace(place: place, revision: revision, schemaVersion: version, floor: floor)
    }
    guard let place = found ?? nil else { throw missing }
    return place
  }

  static let missing = StoreError(
    .corrupt,
    "the store has lost the record of its commits; close it everywhere and open it again to salvage the readable data")

  func write(_ connection: SQLiteConnection) throws(StoreError) {
    let row = try connection.statement(
      "UPDATE store SET journal = ?1, position = ?2, checksum = ?3, revision = ?4, schema_version = ?5")
    try row.bind(1, Int64(bitPattern: place.journal))
    try row.bind(2, Int64(clamping: place.position))
    try row.bind(3, Int64(place.previous))
    try row.bind(4, Int64(clamping: revision))
    try row.bind(5, Int64(schemaVersion))
    try row.finish()
  }
}

/// Numbers that may be revisions.
enum StoredRevision {
  /// The lowest number that is not a valid revision.
  ///
  /// A stored number below 0, or equal to this one or above, is damage. A salvage begins at the seconds since 1970
  /// times 2^30, which is 2^62 in the year 2106.
  static let end: Revision = 3 << 61
  /// The distance from `end` within which a salvage ignores the revisions it finds, because too few would be left.
  static let room: Revision = 1 << 60

  /// Converts a stored number to a revision; nil if the number is damage.
  static func revision(_ number: Int64) -> Revision? {
    Revision(exactly: number).flatMap { $0 < end ? $0 : nil }
  }
}
