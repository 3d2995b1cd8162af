// One process at a time works in a folder.

internal import Glibc
internal import Kept

/// Excludes other processes from a folder while it exists.
struct FolderLock: ~Copyable {
  private let folder: String
  private let descriptor: Int32

  /// Makes the folder if there is none; throws `unavailable` if another process works in it.
  init(_ folder: String, mode: mode_t) throws(StoreError) {
    try Store.checkLinks(on: folder)
    var path = ""
    for part in folder.unicodeScalars.split(separator: "/") {
      path += (path.isEmpty && folder.unicodeScalars.first != "/" ? "" : "/") + String(part)
      guard mkdir(path, mode) == 0 || errno == EEXIST else { throw .system("make \(path)", errno) }
    }
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system("open \(folder)", errno) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      close(descriptor)
      throw StoreError(.unavailable, "another kept-fleet works in \(folder); end it, or give another folder")
    }
    (self.folder, self.descriptor) = (folder, descriptor)
  }

  /// Throws if the folder was removed or replaced, so that another process may work in the present one.
  func checkInPlace() throws(StoreError) {
    guard FileIdentity(folder) == FileIdentity(descriptor) else {
      throw StoreError(.unavailable, "the folder \(folder) was removed or replaced; restart kept-fleet")
    }
  }

  deinit { close(descriptor) }
}
