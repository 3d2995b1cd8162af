// Everything that keeps a store closed: the library reports only the first thing that it finds.

import Glibc
import Kept

enum Obstacles {
  /// What is wrong with the way to a store, its folder, the files in it, and the disk.
  static func findings(for folder: String) -> [Finding] {
    if let barred = barred(on: folder) { return [barred] }
    guard let place = Place(folder) else {
      return [Finding(.note, "\(folder): \(String(cString: strerror(errno)))")]
    }
    guard place.isFolder else {
      return [Finding(.damage, "\(folder) is not a folder", "move it away, or name another store")]
    }
    let files = File.names(in: folder).compactMap { Place("\(folder)/\($0)") }
    return rights([place] + files, of: place) + [unreachable([place] + files, of: place)].compactMap { $0 }
      + FileSystem.findings(for: folder)
  }

  /// What makes the library refuse a file of the administrator: who owns, or may write, what is on the way to it.
  static func findings(forAdministrators file: String) -> [Finding] {
    var path = ""
    var places: [Place] = []
    for name in file.parts(at: "/").dropFirst() where !name.isEmpty {
      path += "/\(name)"
      guard let place = Place(path) else { break }
      places.append(place)
    }
    // Whose a file is that seems to belong to nobody, its place decides.
    let foreign = places.filter { $0.owner != 0 && $0.owner != geteuid() && !Users.isUnmapped($0.owner) }
    let open = places.filter { $0.othersMayWrite && !($0.isSticky && $0.owner == 0) }
    return [owners(foreign, "root"), writable(open)].compactMap { $0 }
  }

  private static func rights(_ places: [Place], of folder: Place) -> [Finding] {
    let (user, owner) = (geteuid(), folder.owner)
    // Who reads the store of another user trusts that user, root and itself.
    let trusted = owner == user ? [user] : [owner, 0, user]
    return [
      unmapped(folder), owners(places.filter { !trusted.contains($0.owner) }, "\(owner)"),
      writable(places.filter(\.othersMayWrite)),
    ].compactMap { $0 }
  }

  private static func owners(_ places: [Place], _ right: String) -> Finding? {
    guard !places.isEmpty else { return nil }
    let names = places.map { "\($0.path) (\(Users.isUnmapped($0.owner) ? "unknown here" : "\($0.owner)"))" }
    return Finding(
      .damage, "not owned by the user \(right): \(names.joined(separator: ", "))",
      "as root: chown \(right) \(Shell.words(places.map(\.path)))")
  }

  private static func writable(_ places: [Place]) -> Finding? {
    guard !places.isEmpty else { return nil }
    return Finding(
      .damage, "writable by others: \(places.map { "\($0.path) (\($0.mode))" }.joined(separator: ", "))",
      "chmod go-w \(Shell.words(places.map(\.path)))")
  }

  /// What this user may not read, or as its owner not write.
  private static func unreachable(_ places: [Place], of folder: Place) -> Finding? {
    let isOwn = folder.owner == geteuid()
    let closed = places.filter { place in
      let wanted = R_OK | (isOwn ? W_OK : 0) | (place.isFolder ? X_OK : 0)
      return faccessat(AT_FDCWD, place.path, wanted, AT_EACCESS) != 0 && errno == EACCES
    }
    guard !closed.isEmpty else { return nil }
    let names = closed.map { "\($0.path) (\($0.mode))" }.joined(separator: ", ")
    return Finding(
      .damage, "the user \(geteuid()) may not \(isOwn ? "read and write" : "read"): \(names)",
      isOwn ? "chmod u+rwX \(Shell.words(closed.map(\.path)))" : "ask the owner of the store for permission to read it")
  }

  private static func unmapped(_ folder: Place) -> Finding? {
    guard Users.isUnmapped(folder.owner) else { return nil }
    return Finding(
      .damage, "\(folder.path) belongs to a user that this user namespace does not map",
      "run the program outside the sandbox, or map the user into it")
  }

  /// The first folder on the way that this user may not enter.
  private static func barred(on path: String) -> Finding? {
    var folder = path.begins(with: "/") ? "" : "."
    for name in path.parts(at: "/").dropLast() {
      if !name.isEmpty { folder += "/\(name)" }
      let entered = folder.isEmpty ? "/" : folder
      guard faccessat(AT_FDCWD, entered, X_OK, AT_EACCESS) != 0, errno == EACCES else { continue }
      let place = Place(entered).map { " (mode \($0.mode), owner \($0.owner))" } ?? ""
      return Finding(
        .damage, "the user \(geteuid()) may not enter \(entered)\(place)",
        "as its owner: chmod a+x \(Shell.words([entered]))")
    }
    return nil
  }
}

/// A file or folder as the system describes it.
private struct Place {
  let path: String
  private let status: stat

  /// Nil, with errno, if there is none.
  init?(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    (self.path, self.status) = (path, status)
  }

  var owner: uid_t { status.st_uid }
  var isFolder: Bool { status.st_mode & S_IFMT == S_IFDIR }
  var isSticky: Bool { status.st_mode & S_ISVTX != 0 }
  var othersMayWrite: Bool { status.st_mode & 0o022 != 0 }
  var mode: String { String(status.st_mode & 0o7777, radix: 8) }
}

private enum Users {
  /// Whether an id is the one that the kernel shows for every user whom this namespace does not know.
  static func isUnmapped(_ user: uid_t) -> Bool {
    guard let map = try? File.bytes(of: "/proc/self/uid_map"),
      let overflow = try? File.bytes(of: "/proc/sys/kernel/overflowuid")
    else { return false }
    // In the first namespace every id is that of a user.
    let isFirst =
      String(decoding: map, as: UTF8.self).parts(at: " ").filter { !$0.isEmpty } == ["0", "0", "4294967295\n"]
    return !isFirst && uid_t(String(decoding: overflow, as: UTF8.self).lines[0]) == user
  }
}
