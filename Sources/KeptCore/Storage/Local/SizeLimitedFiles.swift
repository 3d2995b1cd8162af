// SQLite's files under a limit on the size of files (ulimit -f): its own methods, with the signal held back that would
// end the process. Without a limit nothing is put between SQLite and its files.

import CPlatform
import CSQLite

enum SizeLimitedFiles {
  /// What SQLite takes for the methods of a file; `ours` comes first, for SQLite looks at nothing else.
  private struct Methods {
    var ours: sqlite3_io_methods
    let theirs: UnsafePointer<sqlite3_io_methods>
  }

  private typealias File = UnsafeMutablePointer<sqlite3_file>

  /// Puts the methods between, in a process that has a limit.
  ///
  /// A limit that is set later counts for files that are opened later.
  static func wrap(_ file: UnsafeMutablePointer<sqlite3_file>) {
    guard kept_has_size_limit(), let theirs = file.pointee.pMethods else { return }
    let methods = UnsafeMutablePointer<Methods>.allocate(capacity: 1)
    methods.initialize(to: Methods(ours: theirs.pointee, theirs: theirs))
    methods.pointee.ours.xWrite = { file, bytes, count, offset in
      SizeLimitedFiles.held(file) { $0.xWrite?($1, bytes, count, offset) }
    }
    methods.pointee.ours.xTruncate = { file, size in SizeLimitedFiles.held(file) { $0.xTruncate?($1, size) } }
    methods.pointee.ours.xFileControl = { file, operation, argument in
      SizeLimitedFiles.held(file) { $0.xFileControl?($1, operation, argument) }
    }
    methods.pointee.ours.xShmMap = { file, page, size, extends, memory in
      SizeLimitedFiles.held(file) { $0.xShmMap?($1, page, size, extends, memory) }
    }
    methods.pointee.ours.xClose = { file in SizeLimitedFiles.close(file) }
    file.pointee.pMethods = UnsafeRawPointer(methods).assumingMemoryBound(to: sqlite3_io_methods.self)
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

  private static func close(_ file: UnsafeMutablePointer<sqlite3_file>?) -> Int32 {
    guard let file, let methods = methods(of: file) else { return SQLITE_MISUSE }
    file.pointee.pMethods = methods.pointee.theirs
    let status = methods.pointee.theirs.pointee.xClose?(file) ?? SQLITE_OK
    methods.deallocate()
    return status
  }

  private static func methods(of file: UnsafeMutablePointer<sqlite3_file>) -> UnsafeMutablePointer<Methods>? {
    UnsafeMutableRawPointer(mutating: file.pointee.pMethods)?.assumingMemoryBound(to: Methods.self)
  }
}
