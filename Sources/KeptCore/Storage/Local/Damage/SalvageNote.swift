// The mark of a salvage: it tells every opener that values may be missing, until somebody acknowledges it.

/// Where a damaged database was set aside.
public struct SalvageNote: Sendable, Hashable {
  /// The folder with the damaged files, inside the store's folder.
  public let quarantine: String

  /// Inside the transaction that fills the new database: note and values appear together.
  static func write(quarantine: String, _ connection: SQLiteConnection) throws(StoreError) {
    try connection.run("CREATE TABLE IF NOT EXISTS salvage (quarantine TEXT NOT NULL) STRICT")
    let row = try connection.statement("INSERT INTO salvage VALUES (?1)")
    try row.bind(1, text: ExactString(quarantine))
    try row.finish()
  }

  static func read(_ connection: SQLiteConnection) throws(StoreError) -> SalvageNote? {
    guard try connection.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'salvage'") > 0 else { return nil }
    let rows = try connection.statement("SELECT quarantine FROM salvage ORDER BY rowid DESC")
    return try rows.first { SalvageNote(quarantine: rows.string(0) ?? "quarantine") }
  }

  static func acknowledge(_ connection: SQLiteConnection) throws(StoreError) {
    guard try read(connection) != nil else { return }
    try connection.statement("DELETE FROM salvage").finish()
  }
}

extension LocalStorage {
  /// Whether the store was damaged, and what was readable of it salvaged, and nobody has acknowledged that yet.
  public func salvage() throws(StoreError) -> SalvageNote? {
    // Closed stores say so.
    Fork.gate.enter()
    defer { Fork.gate.leave() }
    _ = try revision()
    return try SalvageNote.read(database.connect().connection)
  }

  /// Says that a person or a program has seen to what was lost.
  public func acknowledgeSalvage() throws(StoreError) {
    Fork.gate.enter()
    defer { Fork.gate.leave() }
    _ = try revision()
    try SalvageNote.acknowledge(database.connect().connection)
  }
}
