// A lock on a folder: one process at a time uses it.

internal import Glibc
internal import Kept

/// Excludes other processes from a folder while it exists.
struct FolderLock: ~Copyable {
  private let folder: String
  private let descriptor: Int32
  private let locked: Int32

  /// Makes the folder if it does not exist; throws `unavailable` if another process uses it.
  init(_ folder: String, mode: mode_t) throws(StoreError) {
    try Store.checkLinks(on: folder)
    var path = ""
    for part in folder.unicodeScalars.split(separator: "/") {
      path += (path.isEmpty && folder.unicodeScalars.first != "/" ? "" : "/") + String(part)
      guard mkdir(path, mode) == 0 || errno == EEXIST else { throw .system("create \(path)", errno) }
    }
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system("open \(folder)", errno) }
    // Each process that has a store open shares the lock of its folder.
    let pulse = openat(descriptor, "pulse", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    let locked = pulse >= 0 ? pulse : dup(descriptor)
    guard flock(locked, LOCK_EX | LOCK_NB) == 0 else {
      close(locked)
      close(descriptor)
      throw StoreError(.unavailable, "another kept-fleet is using \(folder); stop it, or choose another folder")
    }
    (self.folder, self.descriptor, self.locked) = (folder, descriptor, locked)
  }

  /// The warning to print if other users can write to the folder.
  var warning: String? {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & 0o022 != 0 else { return nil }
    return "other users can write to the folder \(folder) and could replace its contents; run chmod go-w on it"
  }

  /// Throws if the folder was removed or replaced, so that another process may use the new one.
  func checkInPlace() throws(StoreError) {
    guard FileIdentity(folder) == FileIdentity(descriptor) else {
      throw StoreError(.unavailable, "the folder \(folder) was removed or replaced; restart kept-fleet")
    }
  }

  deinit {
    close(locked)
    close(descriptor)
  }
}
