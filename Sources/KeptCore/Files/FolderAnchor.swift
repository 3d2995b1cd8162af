// A folder by a path that leads to it whatever other users do to the names above it: SQLite, and all that works in a
// store's folder, open files by path.

import CPlatform
import Synchronization

/// A folder that is held by its descriptor, and reached through it.
///
/// Only for folders to which a path leads that another user could exchange. Paths of it are for system calls; what
/// users are told names the folder as it was found: ``shown(in:)``.
final class FolderAnchor: Sendable {
  /// Of the thread, since the table of descriptors of a process is empty when its first thread has ended.
  static let prefix = "/proc/thread-self/fd/"

  /// The path that led to it.
  let shown: String
  private let folder: OpenFolder
  private let identity: FileIdentity

  var path: String { Self.prefix + String(folder.descriptor) }

  /// Whether its own path still leads to it.
  var isInPlace: Bool { FileStatus(of: shown, followingLinks: true)?.identity == identity }

  /// Holds on to a folder; nil where its path will do: no other user can exchange what leads to it, or there is no
  /// `/proc`.
  ///
  /// - Parameter folder: with a path that has no symbolic links.
  static func hold(_ folder: consuming OpenFolder) throws(StoreError) -> FolderAnchor? {
    let identity = try folder.status().identity
    if isPathSafe(folder.path, to: identity) { return nil }
    let anchor = FolderAnchor(folder, identity)
    return FileStatus(of: anchor.path, followingLinks: true)?.identity == identity ? anchor : nil
  }

  private static func isPathSafe(_ path: String, to identity: FileIdentity) -> Bool {
    // Of a file in it: the folder itself counts too.
    guard let walked = try? AdministratorFolder.hold(of: path + "/x") else { return false }
    return (try? walked.status())?.identity == identity
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

  // MARK: - What users are told

  private static let held = Monitor<[Int32: String]>([:])
  private static let count = Atomic<Int>(0)

  /// A text with each path of a held folder as the one that led to it.
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
