// How a database is copied while others write: by SQLite, in one read transaction, into a draft that gets its name when
// it is whole and on the disk.

import CPlatform

extension LocalStorage {
  /// Copies the database as it is at one moment; gives the revision of that moment.
  ///
  /// The copy is a store of its own, with another id. Nothing stands under the path until it is whole.
  /// - Parameter replacing: whether it may take the place of a file.
  func copy(to path: String, replacing: Bool = false) throws(StoreError) -> Revision {
    let place = StoreFolder(path: StoreFolder.parent(of: path))
    let draft = place.draftName()
    defer { for suffix in ["", "-wal", "-shm", "-journal"] { unlink(draft + suffix) } }
    try StoreFolder.makeFile(draft)
    try vacuum(into: draft)
    let revision = try Self.makeStore(draft)
    try StoreFolder.sync(draft)
    let isPlaced = replacing ? rename(draft, path) == 0 : link(draft, path) == 0
    guard isPlaced else {
      guard kept_errno() != EEXIST else {
        throw StoreError(.invalid, "\(path) is there already; give another path, or say that it may be replaced")
      }
      throw .system("put the copy at", path)
    }
    try StoreFolder.sync(place.path)
    return revision
  }

  /// Copies the database to the folder `backups`, before it is migrated; gives the path.
  func backUp(before version: UInt32) throws(StoreError) -> String {
    let folder = database.folder.path + "/backups"
    guard mkdir(folder, 0o700) == 0 || kept_errno() == EEXIST else { throw .system("make the folder", folder) }
    let date = try Timestamp(seconds: Moment.secondsSince1970).description
    var path = "\(folder)/\(date)-before-version-\(version).sqlite"
    var number = 1
    while access(path, F_OK) == 0 {
      number += 1
      path = "\(folder)/\(date)-before-version-\(version)-\(number).sqlite"
    }
    _ = try copy(to: path)
    return path
  }

  private func vacuum(into draft: String) throws(StoreError) {
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

  private static func makeStore(_ draft: String) throws(StoreError) -> Revision {
    Fork.gate.enter()
    defer { Fork.gate.leave() }
    let connection = try SQLiteConnection(path: draft, busyTimeoutMilliseconds: 0)
    let mode = try connection.statement("PRAGMA journal_mode = WAL")
    _ = try mode.first {}
    try connection.statement("UPDATE store SET uuid = randomblob(16), quarantine = NULL").finish()
    try connection.copyLog()
    return try ChangeLog(connection: connection).revision()
  }
}
