// A key in a file that only its owner may read.

import CPlatform
import KeptSystem
package import KeptValues

package enum KeyFile {
  /// Creates a file with a random key, and returns the key.
  ///
  /// Throws `invalid` if the file exists, or if it would be in the folder of a store.
  package static func make(_ path: String) throws(StoreError) -> LockedBytes {
    try checkIsAbsolute(path)
    let key = try LockedBytes.random(Seal.keyBytes)
    try FileDraft.place(in: FileTarget(path), replacing: false) { draft throws(StoreError) in
      try ProviderKey.line(key).withBytes { bytes throws(StoreError) in try draft.write(bytes) }
    }
    return key
  }

  /// Reads a key, or creates the file if it does not exist.
  package static func use(_ path: String) throws(StoreError) -> LockedBytes {
    try checkIsAbsolute(path)
    return try FileStatus(of: path) == nil ? make(path) : read(path)
  }

  private static func checkIsAbsolute(_ path: String) throws(StoreError) {
    guard path.begins(with: "/") else {
      throw StoreError(.invalid, "the path of the key file \(path) is relative; give an absolute one")
    }
  }

  /// Reads a key.
  package static func read(_ path: String) throws(StoreError) -> LockedBytes {
    guard !path.utf8.contains(0) else { throw StoreError(.invalid, "the path of the key file contains a NUL") }
    let outcome = try ForeignFile.open(path) { status throws(StoreError) in
      try check(status, path)
    } _: { file, status throws(StoreError) in
      try check(status, path)
      return try key(in: file, path)
    }
    switch outcome {
    case .read(let key): return key
    case .refused(ENOENT):
      throw StoreError(.unavailable, "\(path) does not exist; mount or restore it, or use another provider")
    case .refused(let error): throw .system("open", path, errno: error)
    case .exchanged: throw StoreError(.busy, "\(path) was replaced while it was being opened; try again")
    }
  }

  private static func key(in file: Int32, _ path: String) throws(StoreError) -> LockedBytes {
    var key: LockedBytes?
    _ = try LockedBytes(count: ProviderKey.mostBytes) { bytes throws(StoreError) in
      let count = pread(file, bytes.baseAddress, bytes.count, 0)
      guard count >= 0 else { throw .system("read", path) }
      key = try ProviderKey.read(UnsafeBufferPointer(rebasing: bytes[..<count]))
    }
    guard let key else { throw StoreError(.invalid, "\(path) has no key: \(ProviderKey.form)") }
    return key
  }

  /// Throws unless the file is regular, belongs to the user or to root, and no one else may read it.
  private static func check(_ file: FileStatus, _ path: String) throws(StoreError) {
    if let other = file.otherKind {
      throw StoreError(.denied, "\(path) is \(other), not a regular file; use the path of the key file itself")
    }
    guard file.owner == Trust.user || file.owner == 0 else {
      throw StoreError(
        .denied,
        "\(path) belongs to user \(file.owner), but this process runs as user \(Trust.user); run chown on it")
    }
    // systemd gives a service its credentials as root's files, with an access control list for the user: it shows as
    // the permission of the group, which is root's.
    let permitted: mode_t = file.owner == 0 && file.system.st_gid == 0 ? 0o740 : 0o700
    guard file.mode & 0o777 & ~permitted == 0 else {
      throw StoreError(.denied, "other users can read or write \(path); run chmod 600 on it, and replace the key")
    }
    guard 1...ProviderKey.mostBytes ~= file.size else {
      throw StoreError(.invalid, "\(path) has \(file.size) bytes; \(ProviderKey.form)")
    }
  }
}
