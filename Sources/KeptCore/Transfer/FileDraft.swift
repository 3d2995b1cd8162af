// A file that is written whole and synced, or not at all.

import CPlatform

/// A file that is written under a name of its own, and gets its own when it is on the disk.
struct FileDraft {
  private let file: Int32
  private let path: String

  /// Puts a file of mode 0600 at a path, filled by `fill`, over one that is there.
  ///
  /// Whatever fails leaves nothing behind.
  static func place(at path: String, _ fill: (FileDraft) throws(StoreError) -> Void) throws(StoreError) {
    try check(path)
    let folder = StoreFolder(path: StoreFolder.parent(of: path))
    let draft = folder.draftName()
    let file = kept_open_file(draft, O_WRONLY | O_CREAT | O_EXCL, 0o600)
    guard file >= 0 else { throw .system("make a file in", folder.path) }
    defer { unlink(draft) }
    do throws(StoreError) {
      try fill(FileDraft(file: file, path: path))
      guard fsync(file) == 0 else { throw .system("sync", path) }
    } catch {
      close(file)
      throw error
    }
    // Some file systems say only now that they are full.
    guard close(file) == 0 else { throw .system("write", path) }
    guard rename(draft, path) == 0 else { throw .system("put the file at", path) }
    try StoreFolder.sync(folder.path)
  }

  /// A device or a folder is not replaced by a file.
  private static func check(_ path: String) throws(StoreError) {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw StoreError(.invalid, "a file needs a path; an empty one, or one with a NUL, is none")
    }
    var status = stat()
    guard stat(path, &status) == 0 else { return }
    guard UInt32(status.st_mode) & UInt32(S_IFMT) == UInt32(S_IFREG) else {
      throw StoreError(.invalid, "\(path) is there already, and is not a file; give another path")
    }
  }

  func write(_ bytes: UnsafeBufferPointer<UInt8>) throws(StoreError) {
    var done = 0
    while done < bytes.count {
      let count = kept_write(file, bytes.baseAddress.map { $0 + done }, bytes.count - done)
      if count > 0 {
        done += count
      } else if count == 0 || kept_errno() != EINTR {
        throw .system("write", path)
      }
    }
  }
}
