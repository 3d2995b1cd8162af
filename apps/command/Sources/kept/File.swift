// Files that a user names.

import Glibc
import Kept

enum File {
  /// More than any command takes.
  static let most = 1 << 30

  static func bytes(of path: String, atMost most: Int = most) throws(StoreError) -> [UInt8] {
    try Store.checkLinks(on: path)
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(path) }
    defer { close(descriptor) }
    var status = stat()
    if fstat(descriptor, &status) == 0 { try checkSize(Int(status.st_size), path, most) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      if count == 0 { return bytes }
      if count > 0 { bytes += buffer[..<count] } else if errno != EINTR { throw failure(path) }
      try checkSize(bytes.count, path, most)
    }
  }

  /// Throws if more has been read than a command takes, as from a device.
  static func checkSize(_ size: Int, _ subject: String, _ most: Int) throws(StoreError) {
    guard size > most else { return }
    let limit = most >= 1 << 30 ? "\(most >> 30) GiB" : "\(most >> 20) MiB"
    throw StoreError(.tooLarge, "\(subject) is larger than \(limit); use a smaller file")
  }

  static func text(of path: String, atMost most: Int) throws(StoreError) -> String {
    guard let text = String(validating: try bytes(of: path, atMost: most), as: UTF8.self) else {
      throw .refused(nil, "\(path) is not UTF-8; save it as UTF-8")
    }
    return text
  }

  static func write(_ text: String, to path: String) throws(StoreError) {
    try Store.checkLinks(on: path)
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw failure(path, "written") }
    defer { close(descriptor) }
    try write(text, to: descriptor, path)
  }

  static func write(_ text: String, to descriptor: Int32, _ path: String) throws(StoreError) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { throw failure(path, "written") }
    }
  }

  /// Whether two paths lead to one file.
  static func isSame(_ one: String, _ other: String) -> Bool {
    var (first, second) = (stat(), stat())
    return stat(one, &first) == 0 && stat(other, &second) == 0
      && (first.st_dev, first.st_ino) == (second.st_dev, second.st_ino)
  }

  /// Writes a file that others see as a whole, or as it was.
  ///
  /// What is not a regular file, such as `/dev/stdout` and a link to a missing file, is written in place.
  static func replace(_ path: String, with text: String) throws(StoreError) {
    var status = stat()
    let isReplaced = stat(path, &status) == 0 ? status.st_mode & S_IFMT == S_IFREG : lstat(path, &status) != 0
    guard isReplaced else { return try write(text, to: path) }
    try Store.checkLinks(on: path)
    // A link stays a link: the file that it leads to is replaced.
    let target = realpath(path, nil).map { resolved in
      defer { free(resolved) }
      return String(cString: resolved)
    }
    let new = "\(target ?? path).new-\(getpid())"
    let descriptor = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, target == nil ? 0o666 : status.st_mode & 0o777)
    guard descriptor >= 0 else { throw failure(path, "written") }
    defer { close(descriptor) }
    do throws(StoreError) {
      try write(text, to: descriptor, path)
      guard rename(new, target ?? path) == 0 else { throw failure(path, "written") }
    } catch {
      unlink(new)
      throw error
    }
  }

  /// Throws if a new file cannot be put there.
  static func checkPlace(_ path: String, replacing: Bool) throws(StoreError) {
    if isRegular(path), !replacing {
      throw StoreError(.invalid, "\(path) already exists; use another path, or --replace")
    }
    let folder = path.halves(atLast: "/").map { $0.before.isEmpty ? "/" : $0.before } ?? "."
    guard access(folder, W_OK | X_OK) == 0 else { throw failure(folder, "written") }
  }

  /// Whether a path is a regular file.
  static func isRegular(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  private static func failure(_ path: String, _ what: String = "read") -> StoreError {
    StoreError(
      errno == EACCES ? .denied : .unavailable, "\(path) cannot be \(what): \(String(cString: strerror(errno)))")
  }
}
