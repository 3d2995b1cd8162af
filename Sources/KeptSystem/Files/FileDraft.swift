// Writes and syncs a file atomically.

import CPlatform
package import KeptValues

/// A file that is written under a temporary name and renamed once it is on the disk.
package struct FileDraft {
  private let file: Int32
  private let path: String

  /// Writes a file of mode 0600 with contents from `fill`.
  ///
  /// A failure leaves nothing behind.
  /// - Parameter replacing: whether it may replace an existing file.
  package static func place(
    in target: borrowing FileTarget, replacing: Bool = true, _ fill: (FileDraft) throws(StoreError) -> Void
  ) throws(StoreError) {
    try target.check(replacing: replacing)
    let (path, draft) = (target.path, StoreFiles.draftName())
    let file = try target.folder.make(draft)
    defer { target.folder.remove(draft) }
    do throws(StoreError) {
      try fill(FileDraft(file: file, path: path))
      guard kept_sync(file) == 0 else { throw .system("sync", path) }
    } catch {
      close(file)
      throw error
    }
    // Some file systems report only here that they are full.
    guard close(file) == 0 else { throw .system("write", path) }
    try target.place(draft, replacing: replacing)
    try target.folder.sync()
  }

  package func write(_ bytes: UnsafeBufferPointer<UInt8>) throws(StoreError) {
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
