// Creates a database in a store's folder, which never has an incomplete one.

import CPlatform
import KeptSystem
import KeptValues

extension StoreFolder {
  /// Creates the folder and a database in it if they do not exist, and checks that they are the user's own.
  ///
  /// A new database is created completely under a unique name and then linked into place. Processes that open the
  /// folder at the same time, or after a kill in the middle, find either none or a complete one. The remains of a store
  /// that has lost its database get an empty one, which is damage: opening it salvages the commits in the journal, if
  /// that is left.
  func prepare(_ fill: (_ path: String) throws(StoreError) -> Void) throws(StoreError) {
    if FileStatus(of: database) == nil { try Self.makeDirectories(path) }
    let fileSystem = if let fileSystem { fileSystem } else { try FileSystem(of: path) }
    try fileSystem.checkLocal(path)
    let folder = try OpenFolder.own(path)
    if try checkDatabase(in: folder) { return }
    let draft = Self.draftName()
    defer { for suffix in DatabaseFiles.suffixes { folder.remove(draft + suffix) } }
    close(try folder.make(draft))
    // Looked at after the database: a process that creates a store creates the database first, and has it on the disk
    // before it creates any of these. So none of them is what a killed creation has left.
    let isLost =
      folder.status(of: StoreFiles.journal).map { $0.size > 0 } == true
      || [PulseFile.name, DamageMark.name, "quarantine"].contains { folder.status(of: $0) != nil }
    if !isLost { try fill(path + "/" + draft) }
    try Self.sync(path + "/" + draft)
    // Another process may have been first: its database stays.
    if try folder.putInPlace(draft, as: StoreFiles.database) { try folder.sync() }
  }

  /// Whether there is a database; throws if it has another name, or if another user may be able to change it.
  private func checkDatabase(in folder: borrowing OpenFolder) throws(StoreError) -> Bool {
    guard let found = folder.status(of: StoreFiles.database) else {
      guard kept_errno() == ENOENT else { throw .system("access", database) }
      return false
    }
    try Trust.check(ownFile: found, database)
    if found.hasOtherNames { removeDrafts(of: found) }
    try checkNames(in: folder)
    return true
  }

  /// Throws if the database has a second name that no salvage has given it.
  ///
  /// A salvage creates `quarantine` before the second name, and if it gives up it removes `quarantine` after that name.
  /// It may do either between two checks.
  private func checkNames(in folder: borrowing OpenFolder) throws(StoreError) {
    for attempt in 0... {
      guard let now = folder.status(of: StoreFiles.database), now.hasOtherNames,
        folder.status(of: "quarantine") == nil
      else { return }
      if attempt >= 10 { try Trust.check(oneName: now, database) }
      MonotonicTime.backOff(attempt: attempt)
    }
  }

  /// Whether the database is empty and its log is not.
  func isCutToNothing() throws(StoreError) -> Bool {
    guard let file = FileStatus(of: database) else { throw .system("access", database) }
    return file.size == 0 && FileStatus(of: database + "-wal").map { $0.size > 0 } == true
  }

  /// Removes the draft names of a file: the process that created it was killed before it could do that.
  func removeDrafts(of file: FileStatus) {
    for name in (try? FolderListing.names(in: path)) ?? [] where name.begins(with: Self.draftPrefix) {
      let draft = path + "/" + name
      if FileStatus(of: draft)?.identity == file.identity { unlink(draft) }
    }
  }
}
