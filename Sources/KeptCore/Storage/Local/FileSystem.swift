// Which file systems cannot hold a store: on those of a network, processes of several machines would share neither the
// mapped pages nor, reliably, the locks.

import CPlatform

/// The kind of file system that a folder is on.
///
/// FUSE is let in: it has one number for sshfs and for what is as local as any disk (encrypted folders, rootless
/// containers). Whoever keeps a store on sshfs must use it from one machine only.
struct FileSystem: Sendable {
  /// The number that `statfs` gives.
  let kind: UInt32

  private static let networks: [UInt32: String] = [
    0x6969: "NFS", 0x517B: "SMB", 0xFE53_4D42: "SMB", 0xFF53_4D42: "CIFS", 0x0102_1997: "9P",
    0x00C3_6400: "Ceph", 0x5346_414F: "AFS", 0x6B41_4653: "AFS", 0x7375_7245: "Coda", 0x564C: "NCP",
    0x0BD0_0BD0: "Lustre", 0x4750_4653: "GPFS", 0x0116_1970: "GFS2", 0x7461_636F: "OCFS2",
  ]

  init(kind: UInt32) { self.kind = kind }

  init(of path: String) throws(StoreError) {
    var kind: UInt32 = 0
    guard kept_file_system(path, &kind) == 0 else { throw .system("look at the file system of", path) }
    self.kind = kind
  }

  /// Throws `unsupported` for the file system of a network.
  func checkLocal(_ path: String) throws(StoreError) {
    guard let name = Self.networks[kind] else { return }
    throw StoreError(
      .unsupported,
      "\(path) is on a network file system (\(name)), whose locks and mapped pages cannot be relied upon; "
        + "put the store on a local disk")
  }
}
