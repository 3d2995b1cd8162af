// A file that is read whole, up to a limit.

import CPlatform

enum WholeFile {
  /// The bytes of a file.
  ///
  /// Throws `unavailable`, `denied`, `invalid` for what is no file, and `tooLarge` beyond the limit.
  /// - Parameter what: what the file should be, for the error.
  static func bytes(of path: String, atMost limit: Int, _ what: StaticString) throws(StoreError) -> [UInt8] {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw StoreError(.invalid, "a file needs a path; an empty one, or one with a NUL, is none")
    }
    // A FIFO would be waited for.
    let file = kept_open_file(path, O_RDONLY | O_NONBLOCK, 0)
    guard file >= 0 else { throw .system("open", path) }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { throw .system("look at", path) }
    guard UInt32(status.st_mode) & UInt32(S_IFMT) == UInt32(S_IFREG) else {
      throw StoreError(.invalid, "\(path) is not a file; give the path of \(what)")
    }
    let tooLarge = StoreError(.tooLarge, "\(path) has more than \(limit) bytes; split it")
    guard status.st_size <= limit else { throw tooLarge }
    let bytes = try bytes(of: file, path, atMost: limit, expecting: Int(status.st_size))
    guard let bytes else { throw tooLarge }
    return bytes
  }

  /// nil: there are more than the limit; it may grow while it is read.
  private static func bytes(
    of file: Int32, _ path: String, atMost limit: Int, expecting size: Int
  ) throws(StoreError) -> [UInt8]? {
    try Memory.ask(for: size, to: "read \(path)")
    var bytes: [UInt8] = []
    bytes.reserveCapacity(size)
    var part = [UInt8](repeating: 0, count: 256 << 10)
    while bytes.count <= limit {
      let count = read(file, &part, part.count)
      if count == 0 { return bytes }
      if count > 0 {
        bytes.append(contentsOf: part[..<count])
      } else if kept_errno() != EINTR {
        throw .system("read", path)
      }
    }
    return nil
  }
}
