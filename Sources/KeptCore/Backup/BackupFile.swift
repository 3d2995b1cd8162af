// A backup that is read: it is checked completely before it is used, and never written.

import CPlatform
import KeptEngine
import KeptSystem
import KeptValues

/// The content of a backup.
struct BackupFile {
  /// In the order of the keys.
  private(set) var entries: [KeyedEntry] = []
  private(set) var schemaVersion: UInt32 = 0

  /// Reads a backup: a file, or a folder with a store.
  ///
  /// Throws `unavailable` if there is none, `unsupported` for a file of another kind or a backup of a later version,
  /// and `corrupt` for a backup that is not completely readable.
  init(at path: String) throws(StoreError) {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw StoreError(.invalid, "the path of a backup must not be empty or contain a NUL")
    }
    do throws(StoreError) {
      guard let place = try UserLinks.resolve(path) else { throw .system("access", path) }
      if kept_is_folder(place) == 1 { try read(folder: place) } else { try read(file: place) }
    } catch {
      // The remedies for a damaged store do not apply to a backup.
      let isDamaged = error.code == .corrupt && error.key == nil
      let reason = isDamaged ? "it is damaged or truncated; use another backup" : error.description
      throw StoreError(error.code, "the backup \(path) cannot be read: \(reason)")
    }
  }

  private mutating func read(folder path: String) throws(StoreError) {
    guard let folder = OpenFolder(holding: path) else { throw .system("open the folder", path) }
    guard folder.status(of: StoreFiles.values) != nil else {
      throw .system("access", path + "/" + StoreFiles.values)
    }
    let (stored, version) = try ReadOnlyEngine(folder).read { chain throws(StoreError) in
      (try chain.entries(in: [.prefix("")]), chain.schemaVersion)
    }
    if let unreadable = stored.unreadable.first { throw unreadable.reason.about(unreadable.key.text) }
    schemaVersion = version
    entries = stored.entries
  }

  private mutating func read(file path: String) throws(StoreError) {
    schemaVersion = try KeptEngine.Backup.read(Self.open(path)) { key, state in
      if let entry = Entry(state) { entries.append(KeyedEntry(key: key, entry: entry)) }
    }
  }

  /// Opens a file to read it.
  static func open(_ path: String) throws(StoreError) -> StoreFile {
    guard let folder = OpenFolder(holding: PathWalk.parent(of: path)) else { throw .system("read", path) }
    let name = PathWalk.name(of: path)
    let opened = try folder.open(name, O_RDONLY) { status, _ throws(StoreError) in
      if let other = status.otherKind {
        throw StoreError(.unsupported, "it is \(other); use a file that was created as a backup")
      }
    }
    guard let opened else { throw .system("access", path, errno: ENOENT) }
    return StoreFile(taking: opened, path: path)
  }
}
