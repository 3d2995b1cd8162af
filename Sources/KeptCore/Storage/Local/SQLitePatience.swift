// Bounds how long SQLite sleeps while another connection blocks it: no longer than the caller's time-out.
//
// A busy time-out alone does not bound it. A commit writes the header of SQLite's shared memory twice, in an instant.
// If a writer was stopped in that instant, a reader finds the two copies unequal, retries a hundred times in ten
// seconds, and calls no busy handler (`walTryBeginRead`). SQLite sleeps through its VFS, so Kept uses SQLite's VFS with
// another sleep.

import CPlatform
import CSQLite

enum SQLitePatience {
  /// The VFS to open a database with: SQLite's, which sleeps as above and reads strictly (WholePages.h).
  ///
  /// Its name contains its address. A program may have loaded two copies of this library, each with its own VFS, which
  /// knows the time-outs of its own threads only. nil: the program has replaced SQLite's VFS by its own, and this is
  /// left as it is.
  static let vfs: String? = {
    guard left != nil, let usual = sqlite3_vfs_find(nil), strncmp(usual.pointee.zName, "unix", 4) == 0 else {
      return nil
    }
    usual.pointee.xOpen.map { theirs = $0 }
    let below = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    below.initialize(to: usual.pointee)
    below.pointee.xOpen = { vfs, name, file, flags, found in SQLitePatience.open(vfs, name, file, flags, found) }
    let ours = UnsafeMutablePointer<kept_vfs>.allocate(capacity: 1)
    let name = "kept-" + String(UInt(bitPattern: ours), radix: 16)
    guard let kept = strdup(name) else { return nil }
    ours.initialize(to: kept_vfs(vfs: usual.pointee, usual: below))
    ours.pointee.vfs.zName = UnsafePointer(kept)
    ours.pointee.vfs.pNext = nil
    ours.pointee.vfs.xOpen = { vfs, name, file, flags, out in kept_open_strictly(vfs, name, file, flags, out) }
    usual.pointee.xFullPathname.map { theirFullPath = $0 }
    ours.pointee.vfs.xFullPathname = { vfs, name, size, path in SQLitePatience.fullPath(vfs, name, size, path) }
    ours.pointee.vfs.xSleep = { _, microseconds in SQLitePatience.sleep(microseconds) }
    let status = ours.withMemoryRebound(to: sqlite3_vfs.self, capacity: 1) { sqlite3_vfs_register($0, 0) }
    return status == SQLITE_OK ? name : nil
  }()

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
      return theirFullPath(vfs, name, size, path)
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

  /// The lower bound of a time-out: a writer that waits for its turn on a busy machine must not look like a stopped
  /// one.
  private static let leastMilliseconds = 100

  // The time that the thread has left: a positive number of milliseconds, none of which has passed yet, or the negative
  // of the time at which they end.
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
