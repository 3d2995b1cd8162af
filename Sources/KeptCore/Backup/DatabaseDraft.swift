// A database that is made whole under a name of its own, and gets its own when it is on the disk.

import CPlatform

enum DatabaseDraft {
  /// Puts a database at a path, filled by `fill`; gives its revision.
  ///
  /// It is a store of its own, with an id of its own. Whatever fails leaves nothing behind.
  static func place(
    at path: String, replacing: Bool = false, _ fill: (_ draft: String) throws(StoreError) -> Void
  ) throws(StoreError) -> Revision {
    let target = try FileTarget(path)
    try target.check(replacing: replacing)
    let name = StoreFolder.draftName()
    let draft = target.folder.path + "/" + name
    close(try target.folder.make(name))
    defer { for suffix in DatabaseFiles.suffixes { target.folder.remove(name + suffix) } }
    try fill(draft)
    let revision = try makeOwn(draft)
    try StoreFolder.sync(draft)
    try target.place(name, replacing: replacing)
    do throws(StoreError) { try target.folder.sync() } catch {
      if !replacing { target.remove() }
      throw error
    }
    return revision
  }

  /// Fills a draft with what any storage holds at one moment.
  static func fill(_ draft: String, from storage: any Storage) throws(StoreError) {
    let stored = try storage.entries(in: [.prefix("")])
    // A copy must not lose what a person could still mend.
    if let unreadable = stored.unreadable.first { throw unreadable.reason }
    let schemaVersion = storage.abilities.contains(.schemaVersion) ? try storage.schemaVersion() : 0
    Fork.gate.enter()
    defer { Fork.gate.leave() }
    let connection = try SQLiteConnection(path: draft, busyTimeoutMilliseconds: 0)
    try LocalSchema.create(on: connection)
    try connection.write { () throws(StoreError) in
      for keyed in stored.entries { try connection.insert(keyed) }
      if schemaVersion > 0 { try LocalSchema.write(schemaVersion: schemaVersion, connection) }
      try ChangeLog(connection: connection).begin(above: stored.revision)
    }
    try connection.copyLog()
  }

  private static func makeOwn(_ draft: String) throws(StoreError) -> Revision {
    Fork.gate.enter()
    defer { Fork.gate.leave() }
    let connection = try SQLiteConnection(path: draft, busyTimeoutMilliseconds: 0)
    // As stores have it: a copy that SQLite makes has no log.
    let mode = try connection.statement("PRAGMA journal_mode = WAL")
    _ = try mode.first {}
    try connection.statement("UPDATE store SET uuid = randomblob(16), quarantine = NULL").finish()
    try connection.copyLog()
    return try ChangeLog(connection: connection).revision()
  }
}

extension SQLiteConnection {
  /// Adds what is known of a key, as it is, to a new database.
  fileprivate func insert(_ keyed: KeyedEntry) throws(StoreError) {
    if let declaration = keyed.entry.declaration {
      let row = try statement("INSERT INTO declaration (key, schema) VALUES (?1, ?2)")
      try row.bind(1, text: keyed.key.exact)
      try row.bind(2, text: ExactString(declaration.json))
      try row.finish()
    }
    guard let value = keyed.entry.value else { return }
    let row = try statement("INSERT INTO entry (key, kind, value, revision) VALUES (?1, ?2, ?3, ?4)")
    try row.bind(1, text: keyed.key.exact)
    try row.bind(2, kindAnd: value)
    try row.bind(4, Int64(clamping: keyed.entry.revision))
    try row.finish()
  }
}

extension LocalStorage {
  /// Copies the database as it is at one moment into a file that is there, and empty.
  func vacuum(into draft: String) throws(StoreError) {
    // A fork would find a connection that nobody lets go.
    Fork.gate.enter()
    defer { Fork.gate.leave() }
    // Closed stores say so.
    _ = try revision()
    let connection = try database.connect().connection
    // A statement does not keep its connection.
    defer { withExtendedLifetime(connection) {} }
    let statement = try connection.statement("VACUUM INTO ?1")
    try statement.bind(1, text: ExactString(draft))
    try statement.finish()
  }

  /// Copies the database to a folder of the store, under the date and what is said of it; gives the path.
  ///
  /// For whoever has the turn to migrate or restore: then a draft that is there is one of somebody who was killed.
  func setCopyAside(in name: String, _ what: String) throws(StoreError) -> (path: String, revision: Revision) {
    let folder = database.folder.path + "/" + name
    guard kept_make_folder(folder) == 0 || kept_errno() == EEXIST else { throw .system("make the folder", folder) }
    for name in try FolderListing.names(in: folder) where name.hasPrefix(".new-") { unlink("\(folder)/\(name)") }
    let date = try Timestamp(seconds: Moment.secondsSince1970).description
    var path = "\(folder)/\(date)\(what).sqlite"
    var number = 1
    while access(path, F_OK) == 0 {
      number += 1
      path = "\(folder)/\(date)\(what)-\(number).sqlite"
    }
    return (path, try DatabaseDraft.place(at: path) { draft throws(StoreError) in try vacuum(into: draft) })
  }
}
