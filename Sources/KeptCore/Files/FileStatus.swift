// The system's status of a file: its identity, kind, owner and permissions.

import CPlatform

/// Distinguishes a file from every other one that exists at the same time.
struct FileIdentity: Hashable, Sendable {
  let device: UInt64
  let inode: UInt64
}

/// The status of a file, read without opening it.
struct FileStatus {
  let system: stat

  init(_ system: stat) { self.system = system }

  /// Reads the status of a name in a folder; nil, with errno, if that fails.
  init?(of path: String, in folder: Int32 = AT_FDCWD, followingLinks: Bool = false) {
    var system = stat()
    guard fstatat(folder, path, &system, followingLinks ? 0 : AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
    self.system = system
  }

  /// Whether a path, after following links, leads to something; false, with errno, if the check fails.
  ///
  /// It checks for the effective user: access(2) would check for the real user of a set-user-ID program.
  static func isThere(_ path: String) -> Bool { FileStatus(of: path, followingLinks: true) != nil }

  /// Reads the status of an open descriptor.
  init?(of descriptor: Int32) {
    var system = stat()
    guard fstat(descriptor, &system) == 0 else { return nil }
    self.system = system
  }

  var identity: FileIdentity { FileIdentity(device: UInt64(system.st_dev), inode: UInt64(system.st_ino)) }
  var owner: uid_t { system.st_uid }
  var size: Int { Int(system.st_size) }
  /// The bytes that it takes on the disk.
  var bytesOnDisk: Int { Int(system.st_blocks) * 512 }
  var hasOtherNames: Bool { system.st_nlink > 1 }
  var isFolder: Bool { system.st_mode & mode_t(S_IFMT) == mode_t(S_IFDIR) }
  var isLink: Bool { system.st_mode & mode_t(S_IFMT) == mode_t(S_IFLNK) }
  /// Whether users other than the owner may write it.
  var othersMayWrite: Bool { system.st_mode & 0o022 != 0 }
  /// Whether only the owner of a name may remove it.
  var isSticky: Bool { system.st_mode & mode_t(S_ISVTX) != 0 }

  /// A description of the file kind, if it is not a regular file.
  var otherKind: String? {
    withUnsafePointer(to: system) { kept_no_file($0) }.flatMap { String(validatingCString: $0) }
  }

  /// The mode as `chmod` accepts it.
  var octalMode: String { "0" + String(system.st_mode & 0o7777, radix: 8) }
}
