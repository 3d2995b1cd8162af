// The mark of a salvage: every open reports that something may be missing, until this is acknowledged.

/// Where a damaged database was set aside.
///
/// In C and Python this is the text in ``quarantine``.
public struct SalvageNote: Sendable, Hashable {
  /// The folder with the damaged files.
  public let quarantine: String

  /// The warning that every open reports.
  var warning: StoreError {
    StoreError(
      .salvaged,
      "the store was damaged, and values and declarations may be missing: what could be read was salvaged, and the "
        + "damaged files are in \(quarantine); look at what is missing, then acknowledge the salvage")
  }

  /// Stores the note inside the transaction that fills the new database: note and values appear together.
  ///
  /// - Parameter quarantine: the path inside the store's folder.
  static func write(quarantine: String, _ connection: SQLiteConnection) throws(StoreError) {
    let row = try connection.statement("UPDATE store SET quarantine = ?1")
    try row.bind(1, text: ExactString(quarantine))
    try row.finish()
  }

  static func read(_ reader: LocalReader, in folder: StoreFolder) throws(StoreError) -> SalvageNote? {
    try reader.quarantine().map { SalvageNote(quarantine: folder.shown + "/" + $0) }
  }

  static func acknowledge(_ connection: SQLiteConnection) throws(StoreError) {
    try connection.statement("UPDATE store SET quarantine = NULL WHERE quarantine IS NOT NULL").finish()
  }
}

extension LocalStorage {
  public func salvaged() throws(StoreError) -> SalvageNote? {
    try loader.readDatabase { reader throws(StoreError) in try SalvageNote.read(reader, in: folder) }
  }

  public func acknowledgeSalvage() throws(StoreError) {
    Fork.gate.enter()
    defer { Fork.gate.leave() }
    // A closed store throws here.
    guard try salvaged() != nil else { return }
    try SalvageNote.acknowledge(database.connect(to: loader.journal).connection)
  }
}
