// Checks the path to a file that prescribes settings: every folder and link on it belongs to root or to the user, and
// no other user can replace what it contains.

import CPlatform
package import KeptValues

package enum AdministratorFolder {
  /// Where a sandbox shows the files of its host.
  package static let host = "/run/host"

  /// Finds what a path leads to; nil if that does not exist.
  ///
  /// Throws `denied` if another user could create or replace it, and `unavailable` if a link on the way leads to
  /// nothing. `check` decides who may write the file found.
  package static func find(_ path: String) throws(StoreError) -> PathWalk.Found? {
    try PathWalk(along: try PathWalk.absolute(path), .ofAdministrators).find()
  }

  /// Throws if a file belongs to, or may be written by, a user other than root and the user of this process.
  package static func check(_ file: FileStatus, _ path: String) throws(StoreError) {
    if let doubt = try doubt(of: file, path) { throw doubt }
    try check(writersOf: file, path)
  }

  /// Throws if a file belongs to a user other than root and the user of this process.
  ///
  /// - Returns: an error if the owner may be any user, because the user namespace hides who it is. The file must not be
  ///   used then; but if the path leads to no file at all, that locks nothing.
  static func doubt(of file: FileStatus, _ path: String) throws(StoreError) -> StoreError? {
    if file.owner == 0 { return nil }
    if UserNamespace.hides(file.owner) {
      return SystemFolder.contains(path)
        ? nil
        : StoreError(
          .denied,
          "\(path) belongs to a user who is not mapped into this user namespace and could set any value; "
            + "put the file under /etc/kept")
    }
    guard file.owner == Trust.user else {
      throw StoreError(
        .denied,
        "\(path) belongs to user \(file.owner), who could set any value; "
          + "change its owner to root or to the program's user")
    }
    return nil
  }

  /// Throws if users other than its owner may write a file.
  package static func check(writersOf file: FileStatus, _ path: String) throws(StoreError) {
    // In a sticky folder owned by root, such as /tmp, other users can create files, but not remove those of root or of
    // this user.
    let isRootsSticky = file.isFolder && file.isSticky && (file.owner == 0 || UserNamespace.hides(file.owner))
    guard file.othersMayWrite, !isRootsSticky else { return }
    throw StoreError(
      .denied,
      "other users can write to \(path) (mode \(file.octalMode)) and could set any value; run chmod go-w on it")
  }
}

/// The folders where only root creates files, on every system, and their parents.
///
/// Where a user namespace hides the owner of a file, its place shows whether it was root: also the files of a sandbox
/// were put there by the one who has made it.
enum SystemFolder {
  private static let all = ["/etc", "/usr", "/nix/store"].map(names)
  private static let host = names(AdministratorFolder.host)

  /// - Parameter path: without `..` and links.
  package static func contains(_ path: String) -> Bool {
    var place = names(path)
    if host.starts(with: place) { return true }
    if place.starts(with: host) { place.removeFirst(host.count) }
    return all.contains { place.starts(with: $0) || $0.starts(with: place) }
  }

  static func isOfHost(_ path: String) -> Bool { names(path).starts(with: host) }

  private static func names(_ path: String) -> [ExactString] {
    path.utf8.split(separator: UInt8(ascii: "/")).map { ExactString(String(Substring($0))) }
  }
}
