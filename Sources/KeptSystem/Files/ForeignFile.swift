// Opens a file that a caller names: an import, a list of declarations, a layer, or the file of a key.

import CPlatform
package import KeptValues

package enum ForeignFile {
  package enum Outcome<Result> {
    case read(Result)
    /// It could not be opened, with the errno.
    case refused(Int32)
    /// Another file has replaced it in between.
    case exchanged
  }

  /// Opens a file for reading while `body` runs.
  ///
  /// - Parameters:
  ///   - folder: the open folder that the path is relative to.
  ///   - name: what an error calls the file; nil for the path.
  ///   - followingLinks: whether the path may be a symbolic link; root does not follow another user's.
  ///   - check: throws for a file that must not be opened; called before opening, so that no device is opened.
  package static func open<Result>(
    _ path: String, in folder: Int32 = AT_FDCWD, calling name: String? = nil, followingLinks: Bool = false,
    _ check: (FileStatus) throws(StoreError) -> Void,
    _ body: (Int32, FileStatus) throws(StoreError) -> Result
  ) throws(StoreError) -> Outcome<Result> {
    if followingLinks { try UserLinks.check(path) }
    guard let before = FileStatus(of: path, in: folder, followingLinks: followingLinks) else {
      return .refused(kept_errno())
    }
    try check(before)
    let file = followingLinks ? UserLinks.open(file: path) : kept_open_at(folder, path, O_RDONLY, 0)
    guard file >= 0 else { return .refused(kept_errno()) }
    guard let status = FileStatus(of: file) else {
      let error = kept_errno()
      close(file)
      return .refused(error)
    }
    guard status.identity == before.identity else {
      close(file)
      return .exchanged
    }
    defer { close(file) }
    return .read(try body(file, status))
  }
}
