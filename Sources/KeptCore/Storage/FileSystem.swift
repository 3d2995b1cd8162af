// Which file systems cannot hold a store. On a network file system, processes on different machines do not share
// mapped pages, and do not share locks reliably.

import CPlatform
import KeptSystem
import KeptValues

/// The kind of file system that a folder is on.
///
/// FUSE is allowed. It has one number for sshfs and for file systems that are as local as any disk (encrypted folders,
/// rootless containers). Such a store must be used through one mount, on one machine: another mount has pages and locks
/// of its own, and cannot be detected.
struct FileSystem: Sendable {
  /// The number that `statfs` returns.
  let kind: UInt32

  /// The name of the network file system; nil for a local one.
  private var network: StaticString? {
    switch kind {
    case 0x6969: "NFS"
    case 0x517B, 0xFE53_4D42: "SMB"
    case 0xFF53_4D42: "CIFS"
    case 0x0102_1997: "9P"
    case 0x00C3_6400: "Ceph"
    case 0x5346_414F, 0x6B41_4653: "AFS"
    case 0x7375_7245: "Coda"
    case 0x564C: "NCP"
    case 0x0BD0_0BD0: "Lustre"
    case 0x4750_4653: "GPFS"
    case 0x0116_1970: "GFS2"
    case 0x7461_636F: "OCFS2"
    default: nil
    }
  }

  init(kind: UInt32) { self.kind = kind }

  init(of path: String) throws(StoreError) {
    var kind: UInt32 = 0
    guard kept_file_system(path, &kind) == 0 else { throw .system("access the file system of", path) }
    self.kind = kind
  }

  /// Throws `unsupported` for a network file system.
  func checkLocal(_ path: String) throws(StoreError) {
    guard let network else { return }
    throw StoreError(
      .unsupported,
      "\(shown: path) is on a network file system (\(network)), whose locks and mapped pages are not reliable; put "
        + "the store on a local disk")
  }
}
