// Checks the path to a file that prescribes settings: every folder and link on it belongs to root or to the user, and
// no other user can replace what it contains.

import CPlatform

enum AdministratorFolder {
  /// Where a sandbox shows the files of its host.
  static let host = "/run/host"

  /// Finds what a path leads to; nil if that does not exist.
  ///
  /// Throws `denied` if another user could create or replace it, and `unavailable` if a link on the way leads to
  /// nothing. Who may write what is found is left to `check`.
  static func find(_ path: String) throws(StoreError) -> PathWalk.Found? {
    try PathWalk(along: try PathWalk.absolute(path), .ofAdministrators).find()
  }

  /// The name of a file in its folder.
  static func name(of path: String) -> String { PathWalk.pieces(of: path).first ?? "." }

  /// Throws if a file belongs to, or may be written by, a user other than root and the user of this process.
  static func check(_ file: FileStatus, _ path: String) throws(StoreError) {
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
          "\(path) belongs to a user who is not mapped to this user namespace, and could set any value; "
            + "put the file below /etc/kept")
    }
    guard file.owner == Trust.user else {
      throw StoreError(
        .denied,
        "\(path) belongs to the user with the id \(file.owner), who could set any value; "
          + "give it to root, or to the user of the program")
    }
    return nil
  }

  /// Throws if users other than its owner may write a file.
  static func check(writersOf file: FileStatus, _ path: String) throws(StoreError) {
    // In a sticky folder owned by root, such as /tmp, other users can create files, but not remove those of root or of
    // this user.
    let isRootsSticky = file.isFolder && file.isSticky && (file.owner == 0 || UserNamespace.hides(file.owner))
    guard file.othersMayWrite, !isRootsSticky else { return }
    throw StoreError(
      .denied, "other users may write \(path) (mode \(file.octalMode)), and could set any value; chmod go-w it")
  }
}

/// The folders in which only root creates files, on every system, and their parents.
///
/// Where a user namespace hides the owner of a file, its place shows whether it was root: also the files of a sandbox
/// were put there by the one who has made it.
enum SystemFolder {
  private static let all = ["/etc", "/usr", "/nix/store"].map(names)
  private static let host = names(AdministratorFolder.host)

  /// - Parameter path: without `..` and links.
  static func contains(_ path: String) -> Bool {
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
