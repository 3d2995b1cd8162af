// The system's status of a file: its identity, kind, owner and permissions.

package import CPlatform

/// Distinguishes a file from every other one that exists at the same time.
package struct FileIdentity: Hashable, Sendable {
  package let device: UInt64
  package let inode: UInt64
}

/// The status of a file, read without opening it.
package struct FileStatus {
  package let system: stat

  package init(_ system: stat) { self.system = system }

  /// Reads the status of a name in a folder; nil, with errno, if that fails.
  ///
  /// - Parameter hasTimes: whether the times are read, which makes the next sync of the file slower.
  package init?(of path: String, in folder: Int32 = AT_FDCWD, followingLinks: Bool = false, hasTimes: Bool = true) {
    var system = stat()
    let result =
      hasTimes
      ? fstatat(folder, path, &system, followingLinks ? 0 : AT_SYMLINK_NOFOLLOW)
      : kept_status_without_times(folder, path, &system)
    guard result == 0 else { return nil }
    self.system = system
  }

  /// Whether a path, after following links, leads to something; false, with errno, if the check fails.
  ///
  /// It checks for the effective user: access(2) would check for the real user of a set-user-ID program.
  package static func isThere(_ path: String) -> Bool { FileStatus(of: path, followingLinks: true) != nil }

  /// Reads the status of an open descriptor.
  package init?(of descriptor: Int32) {
    var system = stat()
    guard fstat(descriptor, &system) == 0 else { return nil }
    self.system = system
  }

  package var identity: FileIdentity { FileIdentity(device: UInt64(system.st_dev), inode: UInt64(system.st_ino)) }
  package var owner: uid_t { system.st_uid }
  package var size: Int { Int(system.st_size) }
  /// The bytes that it takes on the disk.
  package var bytesOnDisk: Int { Int(system.st_blocks) * 512 }
  /// The nanoseconds since 1970 at which it was last written.
  package var modified: Int64 { withUnsafePointer(to: system) { kept_changed_nanoseconds($0) } }
  /// The same in seconds.
  package var changed: Int64 { modified / 1_000_000_000 }
  package var hasOtherNames: Bool { system.st_nlink > 1 }
  package var isFolder: Bool { system.st_mode & mode_t(S_IFMT) == mode_t(S_IFDIR) }
  var isLink: Bool { system.st_mode & mode_t(S_IFMT) == mode_t(S_IFLNK) }
  /// Whether users other than the owner may write it.
  package var othersMayWrite: Bool { system.st_mode & 0o022 != 0 }
  /// Whether only the owner of a name may remove it.
  package var isSticky: Bool { system.st_mode & mode_t(S_ISVTX) != 0 }

  /// A description of the file kind, if it is not a regular file.
  package var otherKind: String? {
    withUnsafePointer(to: system) { kept_no_file($0) }.flatMap { String(validatingCString: $0) }
  }

  package var mode: mode_t { system.st_mode & 0o7777 }
  /// The mode as `chmod` accepts it.
  var octalMode: String { "0" + String(mode, radix: 8) }
}
