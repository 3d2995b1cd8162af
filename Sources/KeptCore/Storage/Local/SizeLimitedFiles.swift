// SQLite's files under a limit on the size of files (ulimit -f): its own methods, with the signal held back that would
// end the process. Without a limit nothing is put between SQLite and its files.

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

  // The address of the first of a list, one for each table of methods that SQLite has: for databases, and for files
  // that it does not lock. They are never freed.
  private static let made = Atomic<UInt>(0)

  /// Puts the methods between, in a process that has a limit.
  ///
  /// A limit that is set later counts for files that are opened later.
  static func wrap(_ file: UnsafeMutablePointer<sqlite3_file>) {
    guard kept_has_size_limit(), let theirs = file.pointee.pMethods else { return }
    let ours = find { $0.pointee.theirs == theirs } ?? make(over: theirs)
    file.pointee.pMethods = UnsafeRawPointer(ours).assumingMemoryBound(to: sqlite3_io_methods.self)
  }

  /// Two threads may make the same; that is a few hundred bytes.
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

  /// Calls a method of SQLite's with the signal held back.
  private static func held(
    _ file: UnsafeMutablePointer<sqlite3_file>?, _ call: (sqlite3_io_methods, File) -> Int32?
  ) -> Int32 {
    guard let file, let methods = methods(of: file) else { return SQLITE_MISUSE }
    var signal = kept_hold_size_signal()
    defer { kept_release_size_signal(&signal) }
    return call(methods.pointee.theirs.pointee, file) ?? SQLITE_MISUSE
  }

  /// Of a database others stand in front of ours (WholePages.h); its methods are those with a shared memory.
  private static func methods(of file: File) -> UnsafePointer<Methods>? {
    let front = UnsafeRawPointer(file.pointee.pMethods)
    return find { UnsafeRawPointer($0) == front } ?? find { $0.pointee.theirs.pointee.xShmMap != nil }
      ?? find { _ in true }
  }
}
