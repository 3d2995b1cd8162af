// How a file is opened that a caller names: an import, a list of declarations, a layer, the file of a key.

import CPlatform

enum ForeignFile {
  enum Outcome<Result> {
    case read(Result)
    /// It could not be opened, for this reason.
    case refused(Int32)
    /// Another file has taken its place meanwhile.
    case exchanged
  }

  /// Opens a file for reading while `body` runs.
  ///
  /// Throws `invalid` for a file of a store that this process has open.
  /// - Parameters:
  ///   - folder: holds the folder that the path begins at.
  ///   - name: what an error calls the file; nil: the path.
  ///   - followingLinks: whether the path may be that of a symbolic link.
  ///   - check: throws for what is not to be opened; it is asked before, so that no device is opened.
  static func open<Result>(
    _ path: String, in folder: Int32 = AT_FDCWD, calling name: String? = nil, followingLinks: Bool = false,
    _ check: (FileStatus) throws(StoreError) -> Void,
    _ body: (Int32, FileStatus) throws(StoreError) -> Result
  ) throws(StoreError) -> Outcome<Result> {
    guard let before = FileStatus(of: path, in: folder, followingLinks: followingLinks) else {
      return .refused(kept_errno())
    }
    try check(before)
    try FilesInUse.beginReading(before.identity, name ?? path)
    defer { FilesInUse.endReading(before.identity) }
    let file = followingLinks ? kept_open_named(path) : kept_open_at(folder, path, O_RDONLY, 0)
    guard file >= 0 else { return .refused(kept_errno()) }
    guard let status = FileStatus(of: file) else {
      let error = kept_errno()
      close(file)
      return .refused(error)
    }
    guard status.identity == before.identity else {
      // One of an open store's stays open for ever: closing it would give up SQLite's locks.
      if FilesInUse.database(with: status.identity) == nil { close(file) }
      return .exchanged
    }
    defer { close(file) }
    return .read(try body(file, status))
  }
}
