// The processes that read the database now, as the kernel lists their locks. One that is stopped keeps the
// log from being restarted.
//
// A reader holds a POSIX lock on one of the bytes 123 to 127 of SQLite's shared memory. To ask that file for its locks
// takes a descriptor of it, and closing that would release the locks of this process.

import CPlatform
import KeptSystem

enum LogReaders {
  private static let most = 64

  /// The process ids, without this process; empty where the kernel has no such list.
  static func processes(of folder: StoreFolder) -> [Int32] {
    guard let shared = FileStatus(of: folder.database + "-shm"),
      let list = try? WholeFile.bytes(of: "/proc/locks", atMost: 4 << 20, "the kernel's list of locks")
    else { return [] }
    return processes(in: list, inode: shared.identity.inode, but: getpid())
  }

  static func processes(in list: [UInt8], inode: UInt64, but own: Int32) -> [Int32] {
    let text = list + [0]
    var found = [Int32](repeating: 0, count: most)
    let count = text.withUnsafeBytes { text in
      kept_lock_holders(text.baseAddress?.assumingMemoryBound(to: CChar.self), inode, 123, 127, &found, Int32(most))
    }
    return found.prefix(Int(count)).filter { $0 != own }
  }
}
