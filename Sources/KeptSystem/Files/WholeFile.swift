// Reads a complete file, up to a size limit.

import CPlatform
package import KeptValues

package enum WholeFile {
  /// The bytes of a file.
  ///
  /// Throws `unavailable`, `denied`, `invalid` if it is not a file, and `tooLarge` beyond the limit.
  /// - Parameter what: what the file should be, for the error.
  package static func bytes(of path: String, atMost limit: Int, _ what: StaticString) throws(StoreError) -> [UInt8] {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw StoreError(.invalid, "the path of a file must not be empty or contain a NUL")
    }
    let tooLarge = StoreError(.tooLarge, "\(path) is larger than \(limit) bytes; split it")
    let outcome = try ForeignFile.open(path, followingLinks: true) { status throws(StoreError) in
      if let other = status.otherKind {
        throw StoreError(.invalid, "\(path) is \(other), not a file; use the path of \(what)")
      }
      guard status.size <= limit else { throw tooLarge }
    } _: { file, status throws(StoreError) in
      try bytes(of: file, path, atMost: limit, expecting: status.size)
    }
    switch outcome {
    case .read(let bytes?): return bytes
    case .read(nil): throw tooLarge
    case .refused(let error): throw .system("open", path, errno: error)
    case .exchanged: throw StoreError(.busy, "\(path) was replaced while it was being opened; try again")
    }
  }

  /// Whether a file begins with these bytes; false also if it cannot be read, for which reading it has the reason.
  package static func begins(_ path: String, with beginning: [UInt8]) throws(StoreError) -> Bool {
    guard !path.utf8.contains(0) else { return false }
    let outcome = try ForeignFile.open(path, followingLinks: true) { status throws(StoreError) in
      if let other = status.otherKind {
        throw StoreError(.invalid, "\(path) is \(other), not a file; use another path")
      }
    } _: { file, _ throws(StoreError) in
      var bytes = [UInt8](repeating: 0, count: beginning.count)
      return pread(file, &bytes, bytes.count, 0) == bytes.count && bytes == beginning
    }
    if case .read(let isSame) = outcome { return isSame }
    return false
  }

  /// The bytes of an open file; nil if there are more than the limit.
  ///
  /// The file may grow while it is read.
  package static func bytes(
    of file: Int32, _ path: String, atMost limit: Int, expecting size: Int
  ) throws(StoreError) -> [UInt8]? {
    var bytes: [UInt8] = []
    try makeRoom(for: size, in: &bytes, path)
    var part = [UInt8](repeating: 0, count: 256 << 10)
    while bytes.count <= limit {
      let count = read(file, &part, part.count)
      if count == 0 { return bytes }
      if count > 0 {
        // System files report that they are empty, and others grow.
        try makeRoom(for: count, in: &bytes, path)
        bytes.append(contentsOf: part[..<count])
      } else if kept_errno() != EINTR {
        throw .system("read", path)
      }
    }
    return nil
  }

  /// Checks for the memory that is needed, and for twice the previous size.
  private static func makeRoom(for count: Int, in bytes: inout [UInt8], _ path: String) throws(StoreError) {
    guard count > bytes.capacity - bytes.count else { return }
    let capacity = max(bytes.count + count, 2 * bytes.count)
    try Memory.ask(for: capacity, to: "read \(path)")
    bytes.reserveCapacity(capacity)
  }
}
