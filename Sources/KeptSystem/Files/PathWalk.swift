// A walk along a path, one name after the other, which holds each folder that it comes to: no other process can lead it
// elsewhere than through a folder or a link that it has checked.

import CPlatform
package import KeptValues

package struct PathWalk: ~Copyable {
  /// Which files are checked.
  package enum Rules {
    /// Every folder and link; see ``AdministratorFolder``.
    case ofAdministrators
    /// Every link, for root; see ``UserLinks``.
    case ofUsers
  }

  /// A file, a folder or something else that a path leads to.
  package struct Found: ~Copyable {
    package let folder: OpenFolder
    package let name: String
    /// Without links and `..`.
    package let path: String
    package let status: FileStatus
  }

  private static let mostLinks = 40

  private let rules: Rules
  private var place: OpenFolder
  // The names that are left, in reverse order.
  private var pieces: [String]
  private var links = 0
  // The link whose target the walk is in, and how many names follow that target.
  private var link: (words: String, rest: Int)?
  // Why the file found must not be used.
  private var doubt: StoreError?

  /// - Parameter path: an absolute path.
  package init(along path: String, _ rules: Rules) throws(StoreError) {
    pieces = Self.pieces(of: path)
    let root = try Self.root(for: path)
    doubt = rules == .ofAdministrators ? try Self.check(root) : nil
    place = root
    self.rules = rules
  }

  /// Walks to the end; nil if a name does not exist.
  package consuming func find() throws(StoreError) -> Found? {
    while let piece = pieces.popLast() {
      let path = path(of: piece)
      if rules == .ofUsers, place.path == "/proc" {
        let rest = ([path] + pieces.reversed()).joined(separator: "/")
        return Found(folder: place, name: piece, path: rest, status: try place.status())
      }
      guard let status = place.status(of: piece) else {
        let error = kept_errno()
        guard error == ENOENT || error == ENOTDIR else { throw .system("access", path, errno: error) }
        return try nothing()
      }
      if status.isLink {
        try check(link: status, path)
        try follow(piece)
      } else if pieces.isEmpty {
        if rules == .ofAdministrators { note(try AdministratorFolder.doubt(of: status, path)) }
        if let doubt { throw doubt }
        return Found(folder: place, name: piece, path: path, status: status)
      } else if status.isFolder {
        try enter(piece, path)
      } else {
        return try nothing()
      }
    }
    if let doubt { throw doubt }
    let (path, status) = (place.path, try place.status())
    return Found(folder: place, name: ".", path: path, status: status)
  }

  private mutating func note(_ found: StoreError?) { doubt = doubt ?? found }

  /// A name does not exist, or is not a folder.
  private func nothing() throws(StoreError) -> Found? {
    if rules == .ofAdministrators, let link, pieces.count >= link.rest {
      throw StoreError(.unavailable, "\(link.words), which does not exist here; correct the link, or remove it")
    }
    return nil
  }

  private mutating func enter(_ name: String, _ path: String) throws(StoreError) {
    let descriptor = kept_hold_at(place.descriptor, name, O_DIRECTORY | O_NOFOLLOW)
    guard descriptor >= 0 else { throw .system("access", path) }
    place = OpenFolder(path, taking: descriptor)
    if rules == .ofAdministrators { note(try Self.check(place)) }
  }

  private mutating func check(link: FileStatus, _ path: String) throws(StoreError) {
    switch rules {
    case .ofAdministrators: note(try AdministratorFolder.doubt(of: link, path))
    case .ofUsers:
      guard link.owner == 0 || UserNamespace.hides(link.owner) && SystemFolder.contains(path) else {
        throw StoreError(
          .denied,
          "\(path) is a link that belongs to user \(link.owner), so root does not follow it; use the path of its target"
        )
      }
    }
  }

  private mutating func follow(_ name: String) throws(StoreError) {
    let path = path(of: name)
    links += 1
    guard links <= Self.mostLinks else { throw .system("follow", path, errno: ELOOP) }
    var target = try target(of: name)
    if link.map({ pieces.count < $0.rest }) ?? true {
      link = ("\(path) is a link to \(target)", pieces.count)
    }
    if target.begins(with: "/") {
      // A link of the host means a file of the host.
      if rules == .ofAdministrators, SystemFolder.isOfHost(place.path) { target = AdministratorFolder.host + target }
      place = try Self.root(for: path)
    }
    pieces += Self.pieces(of: target)
  }

  private func target(of link: String) throws(StoreError) -> String {
    var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = kept_link_target(place.descriptor, link, &bytes, bytes.count)
    guard count >= 0 else { throw .system("follow", path(of: link)) }
    guard count < bytes.count else { throw .system("follow", path(of: link), errno: ENAMETOOLONG) }
    // If it were repaired, it would lead nowhere, and an existing layer would count as absent.
    guard let target = bytes[..<count].withUnsafeBufferPointer({ String(exactly: $0) }) else {
      throw .notUTF8("the target of the link \(path(of: link))")
    }
    return target
  }

  private static func root(for path: String) throws(StoreError) -> OpenFolder {
    guard let root = OpenFolder(holding: "/") else { throw .system("access", path) }
    return root
  }

  private static func check(_ folder: borrowing OpenFolder) throws(StoreError) -> StoreError? {
    let status = try folder.status()
    let doubt = try AdministratorFolder.doubt(of: status, folder.path)
    if status.othersMayWrite && SystemFolder.contains(folder.path)
      && kept_is_read_only_mount(folder.descriptor)
    {
      // Kubernetes mounts a ConfigMap like this: any user may write to its folder, but no process can.
      return doubt
    }
    try AdministratorFolder.check(writersOf: status, folder.path)
    return doubt
  }

  /// Without `..`, which the walk has taken.
  private func path(of name: String) -> String {
    if name == ".." { return "/" + Self.pieces(of: place.path).dropFirst().reversed().joined(separator: "/") }
    return place.path == "/" ? "/" + name : place.path + "/" + name
  }

  /// A path from `/` on, which remains valid if the program changes its working directory.
  package static func absolute(_ path: String) throws(StoreError) -> String {
    guard !path.begins(with: "/") else { return path }
    guard let here = getcwd(nil, 0) else { throw .system("find the working directory for", path) }
    defer { free(here) }
    guard let folder = String(validatingCString: here) else { throw .notUTF8("the working directory for \(path)") }
    return folder + "/" + path
  }

  /// Whether a path is absolute, and only has names.
  static func isPlain(_ path: String) -> Bool {
    let names = pieces(of: path)
    guard path.begins(with: "/"), names.allSatisfy({ $0 != ".." }) else { return false }
    return names.reduce(0) { $0 + 1 + $1.utf8.count } == path.utf8.count
  }

  /// The path of the folder that a path is in.
  package static func parent(of path: String) -> String {
    let parts = path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
    let start = path.begins(with: "/") ? "/" : ""
    let parent = start + parts.dropLast().joined(separator: "/")
    return parent.isEmpty ? "." : parent
  }

  /// The name of a file in its folder.
  package static func name(of path: String) -> String { pieces(of: path).first ?? "." }

  /// The names of a path, in reverse order.
  package static func pieces(of path: String) -> [String] {
    path.utf8.split(separator: UInt8(ascii: "/")).reversed().map { String(Substring($0)) }.filter { $0 != "." }
  }
}
