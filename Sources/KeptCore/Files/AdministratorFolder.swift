// Checks the path to a file that prescribes settings: every folder and link on it belongs to root or to the user, and
// no other user can replace what it contains.

import CPlatform

enum AdministratorFolder {
  private static let mostLinks = 40

  /// Opens the folder that a file is in; nil if the folder does not exist.
  ///
  /// Throws `denied` if another user could create a file there or remove one.
  static func hold(of path: String) throws(StoreError) -> OpenFolder? {
    var pieces = pieces(of: try StoreFolder(path: path).absolute().path)
    // The file itself.
    if !pieces.isEmpty { pieces.removeFirst() }
    var place = try root(for: path)
    var links = 0
    while let piece = pieces.popLast() {
      guard let status = place.status(of: piece) else {
        guard kept_errno() == ENOENT || kept_errno() == ENOTDIR else { throw .system("look at", join(place, piece)) }
        return nil
      }
      if status.isLink {
        try check(owner: status, join(place, piece))
        links += 1
        guard links <= mostLinks else { throw .system("follow", join(place, piece), errno: ELOOP) }
        let target = try target(of: piece, in: place)
        if target.begins(with: "/") { place = try root(for: path) }
        pieces += Self.pieces(of: target)
      } else if status.isFolder {
        place = try enter(piece, of: place)
      } else {
        return nil
      }
    }
    return place
  }

  /// The name of a file in its folder.
  static func name(of path: String) -> String { pieces(of: path).first ?? "." }

  /// Throws if a file belongs to, or may be written by, a user other than root and the user of this process.
  static func check(_ file: FileStatus, _ path: String) throws(StoreError) {
    try check(owner: file, path)
    // In a sticky folder owned by root, such as /tmp, other users can create files, but not remove those of root or of
    // this user.
    if file.othersMayWrite && !(file.isFolder && file.isSticky && file.owner == 0) {
      throw StoreError(
        .denied,
        "other users may write \(path) (mode \(file.octalMode)), and could set any value; chmod go-w it")
    }
  }

  private static func check(owner file: FileStatus, _ path: String) throws(StoreError) {
    guard file.owner == 0 || file.owner == Trust.user else {
      throw StoreError(
        .denied,
        "\(path) belongs to the user with the id \(file.owner), who could set any value; "
          + "give it to root, or to the user of the program")
    }
  }

  private static func root(for path: String) throws(StoreError) -> OpenFolder {
    guard let root = OpenFolder(holding: "/") else { throw .system("look at", path) }
    try check(try root.status(), "/")
    return root
  }

  private static func enter(_ name: String, of place: borrowing OpenFolder) throws(StoreError) -> OpenFolder {
    let path = join(place, name)
    let descriptor = kept_hold_at(place.descriptor, name, O_DIRECTORY | O_NOFOLLOW)
    guard descriptor >= 0 else { throw .system("look at", path) }
    let folder = OpenFolder(path, taking: descriptor)
    try check(try folder.status(), path)
    return folder
  }

  private static func target(of link: String, in place: borrowing OpenFolder) throws(StoreError) -> String {
    var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = kept_link_target(place.descriptor, link, &bytes, bytes.count)
    guard count >= 0 else { throw .system("follow", join(place, link)) }
    guard count < bytes.count else { throw .system("follow", join(place, link), errno: ENAMETOOLONG) }
    // If it were repaired, it would lead nowhere, and an existing layer would count as absent.
    guard let target = bytes[..<count].withUnsafeBufferPointer({ String(exactly: $0) }) else {
      throw .notUTF8("what the link \(join(place, link)) leads to")
    }
    return target
  }

  /// In reverse order.
  private static func pieces(of path: String) -> [String] {
    path.utf8.split(separator: UInt8(ascii: "/")).reversed().map { String(Substring($0)) }.filter { $0 != "." }
  }

  private static func join(_ place: borrowing OpenFolder, _ name: String) -> String {
    place.path == "/" ? "/" + name : place.path + "/" + name
  }
}
