// Symbolic links that root does not follow: those of other users, who could lead root to any file. Processes of other
// users follow every link, because they have the rights of their user alone.

import CPlatform
package import KeptValues

package enum UserLinks {
  // The links there are the kernel's, and belong to the user of the process that they are about.
  private static let processes = "/proc/"

  private static var isRoot: Bool { Trust.user == 0 }

  /// Throws `denied` if this process acts as root, and a link on a path belongs to another user.
  // Not inlined, as those below: each of many callers would have a copy.
  @inline(never)
  package static func check(_ path: String) throws(StoreError) {
    if isRoot, identityWithoutLinks(of: path) == nil { _ = try followed(path) }
  }

  /// The path without links; nil, with errno, if it leads to nothing.
  ///
  /// Throws as ``check(_:)`` does.
  @inline(never)
  package static func resolve(_ path: String) throws(StoreError) -> String? {
    guard isRoot else { return try realPath(path) }
    if let identity = identityWithoutLinks(of: path) {
      if PathWalk.isPlain(path) { return path }
      if let plain = try realPath(path), FileStatus(of: plain)?.identity == identity { return plain }
    }
    guard let followed = try followed(path) else {
      // For its error.
      _ = FileStatus.isThere(path)
      return nil
    }
    return followed.begins(with: processes) ? try realPath(followed) : followed
  }

  /// Opens a folder with O_PATH; -1, with errno, if that fails, or if root would follow another user's link.
  @inline(never)
  package static func hold(folder path: String) -> Int32 {
    open(path, kept_hold_without_links) { kept_hold_at(AT_FDCWD, $0, O_DIRECTORY) }
  }

  /// Opens a file for reading; -1, with errno, if that fails, or if root would follow another user's link.
  @inline(never)
  package static func open(file path: String) -> Int32 { open(path, kept_open_without_links, kept_open_named) }

  /// The identity of what a path leads to, if the path has no links: a quick answer for most paths.
  private static func identityWithoutLinks(of path: String) -> FileIdentity? {
    let held = kept_open_plain_path(path, UInt64(KEPT_HOLD))
    guard held >= 0 else { return nil }
    defer { close(held) }
    return FileStatus(of: held)?.identity
  }

  private static func open(
    _ path: String, _ withoutLinks: (UnsafePointer<CChar>) -> Int32, _ plain: (UnsafePointer<CChar>) -> Int32
  ) -> Int32 {
    guard isRoot, !path.begins(with: processes) else { return plain(path) }
    var file = withoutLinks(path)
    if file < 0, kept_errno() == ELOOP, let followed = (try? followed(path)) ?? nil {
      if followed.begins(with: processes) { return plain(followed) }
      // If a name was replaced by a link since then, this fails.
      file = withoutLinks(followed)
    }
    // Before Linux 5.6, or where a filter of system calls forbids it.
    return file < 0 && (kept_errno() == ENOSYS || kept_errno() == EPERM) ? plain(path) : file
  }

  /// The path without links, or one in `/proc`; nil if it leads to nothing.
  private static func followed(_ path: String) throws(StoreError) -> String? {
    try PathWalk(along: PathWalk.absolute(path), .ofUsers).find()?.path
  }

  private static func realPath(_ path: String) throws(StoreError) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    guard let text = String(validatingCString: resolved) else { throw .notUTF8("the target of \(path)") }
    return text
  }
}
