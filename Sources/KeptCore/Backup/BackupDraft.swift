// A backup that is completed in a private folder, and gets its name when it is on the disk.

import CPlatform
import KeptEngine
import KeptSchema
import KeptSystem
import KeptValues

enum BackupDraft {
  /// Creates a backup at a place, filled by `fill`, which syncs it, and returns what that returns.
  ///
  /// A failure leaves nothing behind.
  static func place(
    at target: borrowing FileTarget, replacing: Bool = false,
    _ fill: (_ draft: StoreFile) throws(StoreError) -> Revision
  ) throws(StoreError) -> Revision {
    try target.check(replacing: replacing)
    let name = StoreFiles.draftName()
    let own = try target.folder.makeFolder(name)
    defer {
      own.remove(Self.name)
      target.folder.removeFolder(name)
    }
    let revision = try fill(StoreFile(taking: try own.make(Self.name), path: target.path))
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
    for name in try FolderListing.names(in: folder.path) where StoreFiles.isDraft(name) { remove(name, in: folder) }
  }

  /// Removes the user's drafts in a folder that were not written for a day: their processes were killed.
  static func sweep(besideTargetIn folder: borrowing OpenFolder) {
    let yesterday = MonotonicTime.secondsSince1970 - 86_400
    for name in (try? FolderListing.names(in: folder.path)) ?? [] where StoreFiles.isDraft(name) {
      guard let found = folder.status(of: name), found.isFolder, found.owner == Trust.user, found.changed < yesterday
      else { continue }
      remove(name, in: folder)
    }
  }

  /// Removes the folder of a draft, unless it has other files.
  private static func remove(_ name: String, in folder: borrowing OpenFolder) {
    guard let own = folder.enter(name) else { return }
    own.remove(Self.name)
    folder.removeFolder(name)
  }

  /// Fills a draft with one consistent state of any storage, and returns its revision.
  static func fill(_ draft: StoreFile, from storage: any Storage) throws(StoreError) -> Revision {
    try fill(
      draft, with: try storage.entries(in: [.prefix("")]),
      schemaVersion: storage.abilities.contains(.schemaVersion) ? try storage.schemaVersion() : 0)
  }

  fileprivate static func fill(
    _ draft: StoreFile, with stored: StoredEntries, schemaVersion: UInt32
  ) throws(StoreError) -> Revision {
    // A copy must not lose what could still be repaired.
    if let unreadable = stored.unreadable.first { throw unreadable.reason }
    let states = stored.entries.inOrder(of: \.key.exact).map { keyed in
      let entry = keyed.entry
      let state = KeyState(
        value: entry.value, declaration: entry.declaration?.json, revision: entry.revision, changed: entry.revision)
      return (key: keyed.key, state: state)
    }
    try KeptEngine.Backup.write(
      states, revision: stored.revision, schemaVersion: schemaVersion, to: draft, fits: LocalStorage.fits)
    return stored.revision
  }
}

extension FolderStorage {
  /// Copies the store to a folder in its own, under the date and a description, and returns the copy.
  ///
  /// The caller must hold the turn to migrate or restore: any existing draft is then of a process that was killed.
  func setCopyAside(in name: String, _ what: String) throws(StoreError) -> CopyAside {
    let folder = try folder
    let path = folder.path + "/" + name
    guard kept_make_folder(path) == 0 || kept_errno() == EEXIST else { throw .system("create the folder", path) }
    // A link would lead out of the store, and with it values that others may not read.
    guard let copies = OpenFolder(holding: folder.path)?.enter(name) else { throw .system("open the folder", path) }
    try Trust.check(ownFolder: try copies.status(), path)
    try BackupDraft.sweep(copies)
    let date = try Timestamp(seconds: MonotonicTime.secondsSince1970).description
    var file = "\(date)\(what).backup"
    var number = 1
    while copies.status(of: file) != nil {
      number += 1
      file = "\(date)\(what)-\(number).backup"
    }
    let target = FileTarget(copies.path + "/" + file, in: copies)
    let revision = try BackupDraft.place(at: target) { draft throws(StoreError) in try copy(into: draft) }
    return CopyAside(name: name + "/" + file, folder: folder, revision: revision)
  }
}

/// A copy of a store in its own folder.
struct CopyAside {
  fileprivate let name: String
  fileprivate let folder: StoreFolder
  fileprivate let revision: Revision

  /// The path for messages to users.
  var path: String { folder.shown + "/" + name }

  func remove() { unlink(folder.path + "/" + name) }

  /// Replaces it by a copy of later contents, unless nothing has changed.
  func update(to contents: any StoredContents) throws(StoreError) {
    guard contents.revision > revision else { return }
    let target = try FileTarget(name, in: OpenFolder.own(folder.path + "/" + PathWalk.parent(of: name)))
    _ = try BackupDraft.place(at: target, replacing: true) { draft throws(StoreError) in
      if let contents = contents as? any CopyableContents {
        try contents.copy(into: draft)
        return contents.revision
      }
      return try BackupDraft.fill(draft, with: contents.entries(below: ""), schemaVersion: contents.schemaVersion)
    }
  }
}
