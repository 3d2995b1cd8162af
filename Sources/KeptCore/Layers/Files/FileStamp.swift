// By what a file is known to be the one that was looked at before, with the same contents.

import CPlatform

/// What the system says of a file at a path, or why it says nothing.
///
/// A symbolic link in the place of the file has a stamp of its own.
package struct FileStamp: Sendable {
  /// 0, or the errno of the look: ENOENT for a file that is not there.
  let error: Int32
  private let device: UInt64
  private var inode: UInt64
  private let size: Int64
  // Both in nanoseconds since 1970. The second one moves with every change, also of the rights, and nobody can set it.
  private let modified: Int64
  private let changed: Int64
  /// Whether every later change will show in the stamp.
  ///
  /// The clock of a file system stands still for up to 10 ms: two changes within may leave the same stamp.
  private(set) var isSettled: Bool

  /// How long a file has to be left alone until its stamp is settled.
  static let settlingMilliseconds: Int32 = 20

  /// Looks at the file, in a folder that the path begins at.
  init(of path: String, in folder: Int32 = AT_FDCWD) {
    var status = stat()
    guard fstatat(folder, path, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
      self.init(error: kept_errno())
      return
    }
    self.init(status)
  }

  init(_ status: stat) {
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

  /// Takes in the stamp of a file in the folder that this is the stamp of; the order makes no difference.
  mutating func add(_ file: FileStamp, named name: String) {
    var hasher = Hasher()
    hasher.combine(ExactString(name))
    for number in [Int64(file.error), Int64(truncatingIfNeeded: file.inode), file.size, file.modified, file.changed] {
      hasher.combine(number)
    }
    inode &+= UInt64(truncatingIfNeeded: hasher.finalize())
    isSettled = isSettled && file.isSettled
  }

  /// Whether a later look has found the same file with the same contents, for sure.
  func vouches(for now: FileStamp) -> Bool { isSettled && isSame(as: now) }

  /// Whether nothing that the system says is different.
  func isSame(as other: FileStamp) -> Bool {
    error == other.error && device == other.device && inode == other.inode && size == other.size
      && modified == other.modified && changed == other.changed
  }

  /// A moment far in the future is of a clock that was set back, or of another machine: no use waiting for it.
  private static func isOver(_ changed: Int64) -> Bool {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    let (age, isFarAway) = kept_nanoseconds(Int64(now.tv_sec), Int64(now.tv_nsec)).subtractingReportingOverflow(changed)
    if isFarAway { return true }
    // A file system that counts whole seconds, or two of them as FAT does.
    let settling = changed % 1_000_000_000 == 0 ? 2_000_000_000 : Int64(settlingMilliseconds) * 1_000_000
    return age > settling || age < -2_000_000_000
  }
}
