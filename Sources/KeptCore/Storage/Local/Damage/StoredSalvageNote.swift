// The note of a salvage in the database.

import KeptSystem
public import KeptValues

extension SalvageNote {
  /// Stores the note inside the transaction that fills the new database: note and values appear together.
  ///
  /// The keys of lost values, noted in `removed` at the revision -1, follow the path; no key has a NUL.
  ///
  /// - Parameter quarantine: the path inside the store's folder.
  static func write(quarantine: String, _ connection: SQLiteConnection) throws(StoreError) {
    let row = try connection.statement(
      """
      UPDATE store SET quarantine = ?1 || ifnull(char(0) || (SELECT group_concat(key, char(0)) FROM
        (SELECT key FROM removed WHERE revision = -1 AND key NOT IN (SELECT key FROM entry)
          ORDER BY key LIMIT 1000)), '')
      """)
    try row.bind(1, text: ExactString(quarantine))
    try row.finish()
    try connection.run("DELETE FROM removed WHERE revision = -1")
  }

  static func read(_ reader: LocalReader, in folder: StoreFolder) throws(StoreError) -> SalvageNote? {
    guard let parts = try reader.quarantine()?.utf8.split(separator: 0) else { return nil }
    var keys: [KeyName] = []
    for part in parts.dropFirst() { if let key = try? KeyName(String(Substring(part))) { keys.append(key) } }
    let place = parts.first.map { String(Substring($0)) } ?? ""
    return SalvageNote(quarantine: folder.shown + "/" + place, lostKeys: keys)
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
