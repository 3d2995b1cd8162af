// Provides a path that keeps leading to the same folder even if other users rename folders above it, for the code that
// opens files in a store's folder by path.

import CPlatform
package import KeptValues
import Synchronization

/// A folder that is held open by a descriptor, and reached through it.
///
/// It is only used for folders whose path another user could redirect. Its paths are for system calls; messages name
/// the folder by its original path: `\(shown: path)`.
package final class FolderAnchor: Sendable {
  /// The thread's own directory, because the process's descriptor table is empty after its first thread has ended.
  package static let prefix = "/proc/thread-self/fd/"

  /// The path that led to the folder.
  package let shown: String
  private let folder: OpenFolder
  private let identity: FileIdentity

  package var path: String { Self.prefix + String(folder.descriptor) }

  /// Whether the folder's own path still leads to it.
  package var isInPlace: Bool { FileStatus(of: shown, followingLinks: true)?.identity == identity }

  /// Holds a folder; nil if its path is safe to use because no other user can redirect it, or if there is no `/proc`.
  ///
  /// - Parameter folder: with a path without symbolic links.
  package static func hold(_ folder: consuming OpenFolder) throws(StoreError) -> FolderAnchor? {
    let identity = try folder.status().identity
    if isPathSafe(folder.path, to: identity) { return nil }
    let anchor = FolderAnchor(folder, identity)
    return FileStatus(of: anchor.path, followingLinks: true)?.identity == identity ? anchor : nil
  }

  private static func isPathSafe(_ path: String, to identity: FileIdentity) -> Bool {
    guard let found = try? AdministratorFolder.find(path), found.status.identity == identity else { return false }
    return (try? AdministratorFolder.check(found.status, found.path)) != nil
  }

  private init(_ folder: consuming OpenFolder, _ identity: FileIdentity) {
    shown = Self.shown(folder.path)
    self.identity = identity
    let (path, descriptor) = (shown, folder.descriptor)
    self.folder = folder
    Self.held.updateQuietly { $0[descriptor] = path }
    Self.count.add(1, ordering: .releasing)
  }

  deinit {
    let descriptor = folder.descriptor
    Self.held.updateQuietly { $0[descriptor] = nil }
    Self.count.subtract(1, ordering: .releasing)
  }

  // MARK: - Messages

  private static let held = Monitor<[Int32: String]>([:])
  private static let count = Atomic<Int>(0)

  /// The path, with a held folder at its beginning replaced by the folder's original path.
  package static func shown(_ path: String) -> String {
    guard count.load(ordering: .acquiring) > 0, path.begins(with: prefix) else { return path }
    let rest = path.utf8.dropFirst(prefix.utf8.count)
    let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    guard let number = Int32(String(digits) ?? ""), let folder = held.read({ $0[number] }) else { return path }
    return folder + (String(rest.dropFirst(digits.count)) ?? "")
  }
}

extension DefaultStringInterpolation {
  /// A path in a message: the original one of a folder that is held.
  package mutating func appendInterpolation(shown path: String) { appendInterpolation(FolderAnchor.shown(path)) }
}
