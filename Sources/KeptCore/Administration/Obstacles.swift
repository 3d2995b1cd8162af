// Everything that keeps a store closed: opening it reports only the first thing that it finds.

import CPlatform
import KeptSystem
import KeptValues

enum Obstacles {
  private struct Place {
    let path: String
    let owner: uid_t
    let mode: String
    let isFolder: Bool
    let othersMayWrite: Bool
    /// Whether it is a folder such as /tmp, where other users may not replace the files of root.
    let isRootsSticky: Bool

    /// Nil, with errno, if it does not exist.
    init?(_ path: String) {
      guard let status = FileStatus(of: path, followingLinks: true) else { return nil }
      (self.path, owner, mode) = (path, status.owner, String(status.mode, radix: 8))
      (isFolder, othersMayWrite) = (status.isFolder, status.othersMayWrite)
      isRootsSticky = status.isSticky && status.owner == 0
    }
  }

  /// The mistakes on the way to a store, in its folder, in its files, and with the disk.
  static func findings(for folder: String) -> [Finding] {
    if let barred = barred(on: folder) { return [barred] }
    guard let place = Place(folder) else {
      return [Finding(.note, "\(folder): \(String(cString: strerror(kept_errno())))")]
    }
    guard place.isFolder else {
      return [Finding(.damage, "\(folder) is not a folder", remedy: "move it away, or name another store")]
    }
    let places = contents(of: place)
    return rights(places, of: place) + [unreachable(places, of: place)].compactMap { $0 } + Disk.findings(for: folder)
  }

  /// What keeps this user from writing to a store that can be read, if it is the owner's; nil for another user's.
  static func readOnly(_ folder: String) -> Finding? {
    guard let place = Place(folder), place.owner == Trust.user else { return nil }
    return unreachable(contents(of: place), of: place, .attention)
  }

  /// A folder and what is in it.
  private static func contents(of folder: Place) -> [Place] {
    [folder] + ((try? StorePlace.names(in: folder.path)) ?? []).compactMap { Place("\(folder.path)/\($0)") }
  }

  /// What makes the library refuse a file of the administrator: who owns, or may write, the folders on its path.
  static func findings(forAdministrators file: String) -> [Finding] {
    var path = ""
    var places: [Place] = []
    for name in PathWalk.pieces(of: file).reversed() {
      path += "/\(name)"
      guard let place = Place(path) else { break }
      places.append(place)
    }
    // If the owner is hidden, the place of a file decides whose it is.
    let foreign = places.filter { $0.owner != 0 && $0.owner != Trust.user && !UserNamespace.hides($0.owner) }
    let open = places.filter { $0.othersMayWrite && !$0.isRootsSticky }
    return [owners(foreign, "root"), writable(open)].compactMap { $0 }
  }

  private static func rights(_ places: [Place], of folder: Place) -> [Finding] {
    let (user, owner) = (Trust.user, folder.owner)
    // Who reads the store of another user trusts that user, root and itself.
    let trusted = owner == user ? [user] : [owner, 0, user]
    return [
      unmapped(folder), owners(places.filter { !trusted.contains($0.owner) }, "\(owner)"),
      writable(places.filter(\.othersMayWrite)),
    ].compactMap { $0 }
  }

  private static func owners(_ places: [Place], _ right: String) -> Finding? {
    guard !places.isEmpty else { return nil }
    let names = places.map { "\($0.path) (\(UserNamespace.hides($0.owner) ? "unknown here" : "\($0.owner)"))" }
    return Finding(
      .damage, "not owned by user \(right): \(names.joined(separator: ", "))",
      remedy: "as root: chown \(right) \(words(places))")
  }

  private static func writable(_ places: [Place]) -> Finding? {
    guard !places.isEmpty else { return nil }
    return Finding(.damage, "writable by others: \(modes(of: places))", remedy: "chmod go-w \(words(places))")
  }

  /// What this user may not read, or as its owner not write.
  private static func unreachable(
    _ places: [Place], of folder: Place, _ severity: Finding.Severity = .damage
  ) -> Finding? {
    let isOwn = folder.owner == Trust.user
    let closed = places.filter { place in
      let wanted = R_OK | (isOwn ? W_OK : 0) | (place.isFolder ? X_OK : 0)
      return faccessat(AT_FDCWD, place.path, wanted, AT_EACCESS) != 0 && kept_errno() == EACCES
    }
    guard !closed.isEmpty else { return nil }
    return Finding(
      severity, "user \(Trust.user) lacks permission to \(isOwn ? "read and write" : "read"): \(modes(of: closed))",
      remedy: isOwn ? "chmod u+rwX \(words(closed))" : "ask the owner of the store for permission to read it")
  }

  private static func unmapped(_ folder: Place) -> Finding? {
    guard UserNamespace.hides(folder.owner) else { return nil }
    return Finding(
      .damage, "\(folder.path) belongs to a user that this user namespace does not map",
      remedy: "run the program outside the sandbox, or map the user into it")
  }

  /// The first folder on the way that this user may not enter.
  private static func barred(on path: String) -> Finding? {
    var folder = path.begins(with: "/") ? "" : "."
    for name in [""] + PathWalk.pieces(of: path).reversed().dropLast() {
      if !name.utf8.isEmpty { folder += "/\(name)" }
      let entered = folder.utf8.isEmpty ? "/" : folder
      guard faccessat(AT_FDCWD, entered, X_OK, AT_EACCESS) != 0, kept_errno() == EACCES else { continue }
      let place = Place(entered)
      return Finding(
        .damage,
        "user \(Trust.user) may not enter \(entered)\(place.map { " (mode \($0.mode), owner \($0.owner))" } ?? "")",
        remedy: "\(place?.owner == Trust.user ? "chmod u+x" : "as its owner: chmod a+x") \(ShellWords.text([entered]))")
    }
    return nil
  }

  private static func modes(of places: [Place]) -> String {
    places.map { "\($0.path) (\($0.mode))" }.joined(separator: ", ")
  }

  private static func words(_ places: [Place]) -> String { ShellWords.text(places.map(\.path)) }
}
