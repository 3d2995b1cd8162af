// A file stamp: identifies a file and its contents, to detect whether it has changed.

package import CPlatform
import KeptValues

/// The system's status of the file at a path, or the error from reading the status.
///
/// A symbolic link in place of the file has a stamp of its own. If links are followed, this is only so if it leads to
/// nothing.
package struct FileStamp: Sendable {
  /// 0, or the errno of the status call: ENOENT if the file does not exist.
  package let error: Int32
  private let device: UInt64
  private var inode: UInt64
  private let size: Int64
  // Both in nanoseconds since 1970. The second one changes with every change, including permissions, and cannot be set.
  private let modified: Int64
  private let changed: Int64
  /// Whether every later change will change the stamp.
  ///
  /// The clock of a file system advances in steps of up to 10 ms: two changes within a step may leave the same stamp.
  private(set) var isSettled: Bool

  /// How long a file must be unchanged before its stamp is settled.
  package static let settlingMilliseconds: Int32 = 20

  /// Reads the stamp of a file; the path is relative to the folder.
  // Not inlined: each of its many callers would have a copy.
  @inline(never)
  package init(of path: String, in folder: Int32 = AT_FDCWD, followingLinks: Bool = false) {
    var status = stat()
    guard
      followingLinks && fstatat(folder, path, &status, 0) == 0
        || fstatat(folder, path, &status, AT_SYMLINK_NOFOLLOW) == 0
    else {
      self.init(error: kept_errno())
      return
    }
    self.init(status)
  }

  package init(_ status: stat) {
    error = 0
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
    size = Int64(status.st_size)
    modified = withUnsafePointer(to: status) { kept_changed_nanoseconds($0) }
    changed = withUnsafePointer(to: status) { kept_altered_nanoseconds($0) }
    isSettled = Self.isOver(changed)
  }

  private init(error: Int32) {
    self.error = error
    (device, inode, size, modified, changed) = (0, 0, 0, 0, 0)
    isSettled = true
  }

  /// Combines this folder's stamp with that of a file in it; the order of files makes no difference.
  package mutating func add(_ file: FileStamp, named name: String) {
    var hasher = Hasher()
    hasher.combine(ExactString(name))
    for number in [Int64(file.error), Int64(truncatingIfNeeded: file.inode), file.size, file.modified, file.changed] {
      hasher.combine(number)
    }
    inode &+= UInt64(truncatingIfNeeded: hasher.finalize())
    isSettled = isSettled && file.isSettled
  }

  /// Whether a later stamp certainly belongs to the same file with the same contents.
  package func vouches(for now: FileStamp) -> Bool { isSettled && isSame(as: now) }

  /// Whether both stamps have the same status.
  package func isSame(as other: FileStamp) -> Bool {
    error == other.error && device == other.device && inode == other.inode && size == other.size
      && modified == other.modified && changed == other.changed
  }

  /// A time far in the future comes from a clock that was set back, or from another machine; waiting for it is useless.
  private static func isOver(_ changed: Int64) -> Bool {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    let (age, isFarAway) = kept_nanoseconds(Int64(now.tv_sec), Int64(now.tv_nsec)).subtractingReportingOverflow(changed)
    if isFarAway { return true }
    // A file system with a resolution of one second, or of two seconds as in FAT.
    let settling = changed % 1_000_000_000 == 0 ? 2_000_000_000 : Int64(settlingMilliseconds) * 1_000_000
    return age > settling || age < -2_000_000_000
  }
}
