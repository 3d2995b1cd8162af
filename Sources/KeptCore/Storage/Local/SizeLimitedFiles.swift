// SQLite's files under a limit on the size of files (ulimit -f): SQLite's own methods, with the signal blocked that
// would end the process. Without a limit, SQLite uses its files directly.

import CPlatform
import CSQLite
import Synchronization

enum SizeLimitedFiles {
  private struct Methods {
    var ours: sqlite3_io_methods
    let theirs: UnsafePointer<sqlite3_io_methods>
    let next: UnsafePointer<Methods>?
  }

  private typealias File = UnsafeMutablePointer<sqlite3_file>

  // The address of the first element of a list, with one element for each method table of SQLite: for databases, and
  // for files without locks. They are never freed.
  private static let made = Atomic<UInt>(0)

  /// Replaces the methods of a file if the process has a size limit.
  ///
  /// A limit that is set later applies to files that are opened later.
  static func wrap(_ file: UnsafeMutablePointer<sqlite3_file>) {
    guard kept_has_size_limit(), let theirs = file.pointee.pMethods else { return }
    let ours = find { $0.pointee.theirs == theirs } ?? make(over: theirs)
    file.pointee.pMethods = UnsafeRawPointer(ours).assumingMemoryBound(to: sqlite3_io_methods.self)
  }

  /// Creates the methods over a table of SQLite's; two threads may create the same, which wastes a few hundred bytes.
  private static func make(over theirs: UnsafePointer<sqlite3_io_methods>) -> UnsafePointer<Methods> {
    var ours = theirs.pointee
    ours.xWrite = { file, bytes, count, offset in
      SizeLimitedFiles.held(file) { $0.xWrite?($1, bytes, count, offset) }
    }
    ours.xTruncate = { file, size in SizeLimitedFiles.held(file) { $0.xTruncate?($1, size) } }
    ours.xFileControl = { file, operation, argument in
      SizeLimitedFiles.held(file) { $0.xFileControl?($1, operation, argument) }
    }
    if ours.xShmMap != nil {
      ours.xShmMap = { file, page, size, extends, memory in
        SizeLimitedFiles.held(file) { $0.xShmMap?($1, page, size, extends, memory) }
      }
    }
    let methods = UnsafeMutablePointer<Methods>.allocate(capacity: 1)
    var next = made.load(ordering: .acquiring)
    while true {
      methods.initialize(to: Methods(ours: ours, theirs: theirs, next: UnsafePointer(bitPattern: next)))
      let (isMade, found) = made.compareExchange(
        expected: next, desired: UInt(bitPattern: methods), ordering: .acquiringAndReleasing)
      if isMade { return UnsafePointer(methods) }
      next = found
    }
  }

  private static func find(_ isIt: (UnsafePointer<Methods>) -> Bool) -> UnsafePointer<Methods>? {
    var next = UnsafePointer<Methods>(bitPattern: made.load(ordering: .acquiring))
    while let methods = next, !isIt(methods) { next = methods.pointee.next }
    return next
  }

  /// Calls a method of SQLite with the signal blocked.
  private static func held(
    _ file: UnsafeMutablePointer<sqlite3_file>?, _ call: (sqlite3_io_methods, File) -> Int32?
  ) -> Int32 {
    guard let file, let methods = methods(of: file) else { return SQLITE_MISUSE }
    var signal = kept_hold_size_signal()
    defer { kept_release_size_signal(&signal) }
    return call(methods.pointee.theirs.pointee, file) ?? SQLITE_MISUSE
  }

  /// Finds the methods of a file: a database has others in front of ours (WholePages.h), those with shared memory.
  private static func methods(of file: File) -> UnsafePointer<Methods>? {
    let front = UnsafeRawPointer(file.pointee.pMethods)
    return find { UnsafeRawPointer($0) == front } ?? find { $0.pointee.theirs.pointee.xShmMap != nil }
      ?? find { _ in true }
  }
}
