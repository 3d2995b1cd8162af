// Bounds how long SQLite sleeps while another connection blocks it: no longer than the caller's timeout.
//
// A busy timeout alone does not bound it. A commit writes the header of SQLite's shared memory twice, in an instant.
// If a writer was stopped in that instant, a reader finds the two copies unequal, retries a hundred times in ten
// seconds, and calls no busy handler (`walTryBeginRead`). SQLite sleeps through its VFS, so Kept uses SQLite's VFS with
// another sleep.

import CPlatform
import CSQLite
import KeptSystem

enum SQLitePatience {
  /// The VFS to open a database with; nil if there was no memory for it.
  ///
  /// It is the program's default one with another sleep, and with strict reading (WholePages.h). Its name contains its
  /// address: a program may have loaded two copies of this library, each with its own VFS, which knows the timeouts of
  /// its own threads only.
  static func vfs() -> String? {
    made.update { made in
      if made == nil { made = register() }
      return made
    }
  }

  // The name, once it is registered: a later call may have the memory that an earlier one lacked.
  private static let made = Monitor<String?>(nil)

  private static func register() -> String? {
    guard left != nil, let usual = sqlite3_vfs_find(nil) else { return nil }
    usual.pointee.xOpen.map { theirs = $0 }
    usual.pointee.xFullPathname.map { theirFullPath = $0 }
    let ours = UnsafeMutablePointer<kept_vfs>.allocate(capacity: 1)
    let name = "kept-" + String(UInt(bitPattern: ours), radix: 16)
    guard let kept = strdup(name) else { return nil }
    ours.initialize(to: kept_vfs_above(usual))
    ours.pointee.open = { vfs, name, file, flags, found in SQLitePatience.open(vfs, name, file, flags, found) }
    ours.pointee.vfs.zName = UnsafePointer(kept)
    ours.pointee.vfs.xFullPathname = { vfs, name, size, path in SQLitePatience.fullPath(vfs, name, size, path) }
    ours.pointee.vfs.xSleep = { _, microseconds in SQLitePatience.sleep(microseconds) }
    let status = ours.withMemoryRebound(to: sqlite3_vfs.self, capacity: 1) { sqlite3_vfs_register($0, 0) }
    return status == SQLITE_OK ? name : nil
  }

  private typealias Open =
    @convention(c) (
      UnsafeMutablePointer<sqlite3_vfs>?, UnsafePointer<CChar>?, UnsafeMutablePointer<sqlite3_file>?, Int32,
      UnsafeMutablePointer<Int32>?
    ) -> Int32

  // Written once, before the VFS is registered.
  nonisolated(unsafe) private static var theirs: Open = { _, _, _, _, _ in SQLITE_CANTOPEN }

  private typealias FullPath =
    @convention(c) (
      UnsafeMutablePointer<sqlite3_vfs>?, UnsafePointer<CChar>?, Int32, UnsafeMutablePointer<CChar>?
    ) -> Int32

  nonisolated(unsafe) private static var theirFullPath: FullPath = { _, _, _, _ in SQLITE_CANTOPEN }

  /// Keeps the path of a file in a held folder as it is: SQLite would resolve it to the folder's own path.
  private static func fullPath(
    _ vfs: UnsafeMutablePointer<sqlite3_vfs>?, _ name: UnsafePointer<CChar>?, _ size: Int32,
    _ path: UnsafeMutablePointer<CChar>?
  ) -> Int32 {
    guard let name, let path, strncmp(name, FolderAnchor.prefix, FolderAnchor.prefix.utf8.count) == 0 else {
      let below = vfs.flatMap { kept_below($0) }
      return theirFullPath(below, name, size, path)
    }
    let length = strlen(name)
    guard length < Int(size) else { return SQLITE_CANTOPEN }
    memcpy(path, name, length + 1)
    return SQLITE_OK
  }

  private static func open(
    _ vfs: UnsafeMutablePointer<sqlite3_vfs>?, _ name: UnsafePointer<CChar>?,
    _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32, _ found: UnsafeMutablePointer<Int32>?
  ) -> Int32 {
    let status = theirs(vfs, name, file, flags, found)
    if status == SQLITE_OK, let file { SizeLimitedFiles.wrap(file) }
    return status
  }

  /// The lower bound of a timeout: a writer that waits for its turn on a busy machine must not look like a stopped
  /// one.
  private static let leastMilliseconds = 100

  // The time that the thread has left: a positive number of milliseconds before the first wait, then the negative of
  // the time at which they end.
  private static let left: pthread_key_t? = {
    var key = pthread_key_t()
    return pthread_key_create(&key, nil) == 0 ? key : nil
  }()

  /// Sets how long the SQLite calls of this thread may sleep in total from now on.
  static func begin(milliseconds: Int) {
    guard let left else { return }
    pthread_setspecific(left, UnsafeRawPointer(bitPattern: max(milliseconds, leastMilliseconds)))
  }

  private static func sleep(_ microseconds: Int32) -> Int32 {
    guard let left else { return 0 }
    let now = Int(clamping: MonotonicTime.milliseconds)
    var patience = Int(bitPattern: pthread_getspecific(left))
    if patience >= 0 {
      patience = -(now + max(patience, leastMilliseconds))
      pthread_setspecific(left, UnsafeRawPointer(bitPattern: patience))
    }
    // The rest of the hundred retries take no time.
    let pause = min(Int(microseconds), (-patience - now) * 1000)
    guard pause > 0 else { return 0 }
    MonotonicTime.letPass(microseconds: pause)
    return Int32(clamping: pause)
  }
}
