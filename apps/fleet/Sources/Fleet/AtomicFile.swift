// Files that exist as a whole or not at all.

package import FoundationEssentials
package import Glibc
package import Kept

package enum AtomicFile {
  /// Replaces a file through a file next to it, which this process's user owns.
  ///
  /// - Parameter durable: whether it survives power loss when this returns.
  package static func write(
    _ bytes: Data, to path: String, mode: mode_t = 0o600, durable: Bool = false
  ) throws(StoreError) {
    let (folder, name) = split(path)
    // One process writes here, so one that was killed leaves at most this file, and the next one replaces it.
    let draft = "\(folder)/.\(name).new"
    unlink(draft)
    let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw .system("create \(draft)", errno) }
    var failure = writeAll(bytes, to: file) ? nil : errno
    if failure == nil, fchmod(file, mode) != 0 || durable && fsync(file) != 0 { failure = errno }
    if close(file) != 0, failure == nil { failure = errno }
    if failure == nil, rename(draft, path) != 0 { failure = errno }
    if let failure {
      unlink(draft)
      throw .system("write \(path)", failure)
    }
    if durable { try syncFolder(of: path) }
  }

  /// Writes a file at the first of `PATH.json`, `PATH-2.json`, … that does not exist; it survives power loss when this
  /// returns; returns its path.
  package static func writeNew(_ bytes: Data, to path: String) throws(StoreError) -> String {
    var number = 1
    while true {
      let name = "\(path)\(number == 1 ? "" : "-\(number)").json"
      let file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
      if file >= 0 {
        close(file)
        // It replaces the empty file.
        do throws(StoreError) { try write(bytes, to: name, durable: true) } catch {
          unlink(name)
          throw error
        }
        return name
      }
      guard errno == EEXIST else { throw .system("create \(name)", errno) }
      number += 1
    }
  }

  /// Whether a path, or the target of a symbolic link, is a file or does not exist: a device must not be replaced.
  package static func mayReplace(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
  }

  /// Removes a file for good; it may be absent.
  package static func remove(_ path: String) throws(StoreError) {
    guard unlink(path) == 0 || errno == ENOENT else { throw .system("remove \(path)", errno) }
    try syncFolder(of: path)
  }

  /// Whether a file has these bytes, and the mode and the owner that it is written with.
  package static func has(_ bytes: Data, at path: String) -> Bool {
    // A symbolic link has its own.
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode == S_IFREG | 0o644, status.st_uid == geteuid()
    else { return false }
    return FileManager.default.contents(atPath: path) == bytes
  }

  static func split(_ path: String) -> (folder: String, name: String) {
    let scalars = path.unicodeScalars
    guard let slash = scalars.lastIndex(of: "/") else { return (".", path) }
    return (String(scalars[..<slash]), String(scalars[slash...].dropFirst()))
  }

  private static func writeAll(_ bytes: Data, to file: Int32) -> Bool {
    bytes.withUnsafeBytes { bytes in
      var done = 0
      while done < bytes.count {
        let count = Glibc.write(file, bytes.baseAddress.map { $0 + done }, bytes.count - done)
        if count >= 0 { done += count } else if errno != EINTR { return false }
      }
      return true
    }
  }

  private static func syncFolder(of path: String) throws(StoreError) {
    let folder = split(path).folder
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system("open \(folder)", errno) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw .system("sync \(folder)", errno) }
  }
}

extension StoreError {
  /// A call of the operating system that failed.
  static func system(_ what: String, _ number: Int32) -> StoreError {
    let code: Code =
      switch number {
      case ENOSPC, EDQUOT: .noSpace
      case EACCES, EPERM, EROFS: .denied
      default: .unavailable
      }
    return StoreError(code, "cannot \(what): \(String(cString: strerror(number)))")
  }
}
