// kept-engine-child memory FOLDER: lists many keys in a process with little address space; each listing is done, or
// refused. Prints "ok", or what went wrong.

import CPlatform
@testable import KeptCore
import KeptEngine
import KeptValues

enum LittleMemory {
  static func run(_ folder: String) throws {
    let writer = try LocalStorage(path: folder)
    // No thread takes memory in between.
    writer.readers.maintenance.end()
    var batch = Batch()
    for number in 0..<20_000 {
      batch.edit(try KeyName("key.\(number)"), .set(.string(String(repeating: "x", count: 200))))
    }
    _ = try writer.commit(batch)
    try list(folder)
    try writer.engine.checkpoint()
    try list(folder)
    print("ok")
  }

  /// Lists with more and more room, until there is enough.
  private static func list(_ folder: String) throws {
    let storage = try ReadOnlyStorage(StoreFolder(path: folder))
    for room in 1..<200 {
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
      let usual = limit.rlim_cur
      limit.rlim_cur = try rlim_t(addressSpace() + room << 20)
      setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
      let listed = Result { () throws(StoreError) in try storage.entries(in: [.prefix("")]).entries.count }
      limit.rlim_cur = usual
      setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
      do throws(StoreError) {
        guard try listed.get() == 20_000, room > 1 else { throw StoreError(.invalid, "1 MiB was enough, or keys lack") }
        return
      } catch {
        guard error.code == .failed else { throw error }
      }
    }
    throw Failed("200 MiB are not enough")
  }

  private static func addressSpace() throws -> Int {
    let file = kept_open_at(AT_FDCWD, "/proc/self/statm", O_RDONLY, 0)
    defer { close(file) }
    var text = [UInt8](repeating: 0, count: 100)
    let count = read(file, &text, text.count)
    let pages = String(decoding: text[..<max(0, count)], as: UTF8.self).prefix { $0 != " " }
    guard let pages = Int(pages) else { throw Failed("the address space is not known") }
    return pages * 4096
  }
}
