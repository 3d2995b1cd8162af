// A database that is completed in a private folder, and gets its name when it is on the disk.

import CPlatform
import KeptSchema
import KeptSystem
import KeptValues

enum DatabaseDraft {
  /// Creates a database at a place, filled by `fill`, and returns what that returns.
  ///
  /// A failure leaves nothing behind. SQLite opens files by path, so it works in a private folder of the user, even if
  /// others may write around it.
  static func place(
    at target: borrowing FileTarget, replacing: Bool = false, _ fill: (_ draft: String) throws(StoreError) -> Revision
  ) throws(StoreError) -> Revision {
    try target.check(replacing: replacing)
    let name = StoreFolder.draftName()
    let own = try target.folder.makeFolder(name)
    defer {
      for suffix in DatabaseFiles.suffixes { own.remove(Self.name + suffix) }
      target.folder.removeFolder(name)
    }
    let place = try StoreFolder(try own.again())
    let draft = place.path + "/" + Self.name
    close(try own.make(Self.name))
    let revision = try fill(draft)
    try StoreFolder.sync(draft)
    try target.place(Self.name, of: own.descriptor, replacing: replacing)
    do throws(StoreError) { try target.folder.sync() } catch {
      if !replacing { target.remove() }
      throw error
    }
    return revision
  }

  private static let name = "draft"

  /// Removes the drafts of processes that were killed while they created them.
  static func sweep(_ folder: borrowing OpenFolder) throws(StoreError) {
    for name in try FolderListing.names(in: folder.path) where StoreFolder.isDraft(name) {
      folder.remove(name)
      if folder.status(of: name)?.isFolder == true { remove(name, in: folder) }
    }
  }

  /// Removes the user's drafts in a folder that were not written for a day: their processes were killed.
  static func sweep(besideTargetIn folder: borrowing OpenFolder) {
    let yesterday = MonotonicTime.secondsSince1970 - 86_400
    for name in (try? FolderListing.names(in: folder.path)) ?? [] where StoreFolder.isDraft(name) {
      guard let found = folder.status(of: name), found.isFolder, found.owner == Trust.user, found.changed < yesterday
      else { continue }
      remove(name, in: folder)
    }
  }

  /// Removes the folder of a draft, unless it has other files.
  private static func remove(_ name: String, in folder: borrowing OpenFolder) {
    guard let own = folder.enter(name) else { return }
    for suffix in DatabaseFiles.suffixes { own.remove(Self.name + suffix) }
    folder.removeFolder(name)
  }

  /// Fills a draft with one consistent state of any storage, and returns its revision.
  static func fill(_ draft: String, from storage: any Storage) throws(StoreError) -> Revision {
    let stored = try storage.entries(in: [.prefix("")])
    // A copy must not lose what could still be repaired.
    if let unreadable = stored.unreadable.first { throw unreadable.reason }
    let schemaVersion = storage.abilities.contains(.schemaVersion) ? try storage.schemaVersion() : 0
    Fork.gate.enter()
    defer { Fork.gate.leave() }
    let connection = try SQLiteConnection(path: draft, busyTimeoutMilliseconds: 0)
    try LocalSchema.create(on: connection)
    try connection.write { () throws(StoreError) in
      for keyed in stored.entries { try connection.insert(keyed) }
      try LocalSchema.begin(above: stored.revision, schemaVersion: schemaVersion, connection)
    }
    try connection.copyLog()
    return try LocalStorage.makeOwn(draft)
  }
}

extension SQLiteConnection {
  /// Adds the entry of a key, unchanged, to a new database.
  fileprivate func insert(_ keyed: KeyedEntry) throws(StoreError) {
    if let declaration = keyed.entry.declaration {
      let row = try statement("INSERT INTO declaration (key, schema, revision) VALUES (?1, ?2, 0)")
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

extension FolderStorage {
  /// Copies the database to a folder of the store, under the date and a description, and returns the copy.
  ///
  /// The caller must hold the turn to migrate or restore: any existing draft is then of a process that was killed.
  func setCopyAside(in name: String, _ what: String) throws(StoreError) -> CopyAside {
    let folder = try folder
    let path = folder.path + "/" + name
    guard kept_make_folder(path) == 0 || kept_errno() == EEXIST else { throw .system("create the folder", path) }
    let copies = try OpenFolder.own(path)
    try DatabaseDraft.sweep(copies)
    let date = try Timestamp(seconds: MonotonicTime.secondsSince1970).description
    var file = "\(date)\(what).sqlite"
    var number = 1
    while copies.status(of: file) != nil {
      number += 1
      file = "\(date)\(what)-\(number).sqlite"
    }
    let aside = CopyAside(name: name + "/" + file, folder: folder)
    let target = FileTarget(copies.path + "/" + file, in: copies)
    _ = try DatabaseDraft.place(at: target) { draft throws(StoreError) in try copy(into: draft) }
    return aside
  }
}

/// A copy of a store in its own folder.
struct CopyAside {
  fileprivate let name: String
  fileprivate let folder: StoreFolder

  /// The path for messages to users.
  var path: String { folder.shown + "/" + name }

  func remove() { unlink(folder.path + "/" + name) }
}
