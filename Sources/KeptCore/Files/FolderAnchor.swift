// Provides a path that keeps leading to the same folder even if other users rename folders above it. SQLite and the
// code that works in a store's folder open files by path.

import CPlatform
import Synchronization

/// A folder that is held open by a descriptor, and reached through it.
///
/// It is only used for folders whose path another user could redirect. Its paths are for system calls; messages name
/// the folder by its original path, see ``shown(in:)``.
final class FolderAnchor: Sendable {
  /// The thread's own directory, because the process's descriptor table is empty after its first thread has ended.
  static let prefix = "/proc/thread-self/fd/"

  /// The path that led to the folder.
  let shown: String
  private let folder: OpenFolder
  private let identity: FileIdentity

  var path: String { Self.prefix + String(folder.descriptor) }

  /// Whether the folder's own path still leads to it.
  var isInPlace: Bool { FileStatus(of: shown, followingLinks: true)?.identity == identity }

  /// Holds a folder; nil if its path is safe to use because no other user can redirect it, or if there is no `/proc`.
  ///
  /// - Parameter folder: with a path without symbolic links.
  static func hold(_ folder: consuming OpenFolder) throws(StoreError) -> FolderAnchor? {
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
    shown = Self.shown(in: folder.path)
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

  /// A text with each path through a held folder replaced by the original path.
  static func shown(in text: String) -> String {
    guard count.load(ordering: .acquiring) > 0 else { return text }
    let (bytes, prefix) = (Array(text.utf8), Array(Self.prefix.utf8))
    var (shown, index): ([UInt8], Int) = ([], 0)
    while index < bytes.count {
      if bytes[index] == prefix[0], bytes[index...].starts(with: prefix) {
        let digits = bytes[(index + prefix.count)...].prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        if let number = Int32(String(decoding: digits, as: UTF8.self)), let path = held.read({ $0[number] }) {
          shown += Array(path.utf8)
          index += prefix.count + digits.count
          continue
        }
      }
      shown.append(bytes[index])
      index += 1
    }
    return String(decoding: shown, as: UTF8.self)
  }
}
