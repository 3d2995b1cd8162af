// What a store depends on, apart from its contents: its file system, the permissions of its folder, what was set aside,
// and other processes.

import CPlatform
import KeptSystem
import KeptValues

extension StorePlace {
  func surroundings(of store: Store) -> [Finding] {
    var findings: [Finding] = []
    // Not every storage keeps one.
    if let version = try? store.schemaVersion() {
      findings.append(Finding(.note, "schema version \(version) of the store"))
    }
    guard let folder else { return findings }
    findings += Disk.findings(for: folder)
    if let mode = FileStatus(of: folder, followingLinks: true)?.mode, mode & 0o055 != 0 {
      findings.append(
        Finding(
          .note, "other users can access the folder (mode \(String(mode & 0o777, radix: 8)))",
          remedy: "to prevent this: chmod go-rwx \(ShellWords.text([folder]))"))
    }
    if let closed = Obstacles.readOnly(folder) {
      findings.append(closed)
    } else if faccessat(AT_FDCWD, folder, W_OK, AT_EACCESS) != 0 {
      findings.append(
        Finding(
          .note, "this user cannot write to the folder",
          remedy: "to see its owner: ls -ld \(ShellWords.text([folder]))"))
    }
    let quarantine = folder + "/quarantine"
    let setAside = ((try? Self.names(in: quarantine)) ?? []).joined(separator: ", ")
    if !setAside.utf8.isEmpty {
      findings.append(
        Finding(
          .note,
          "files from before a salvage or a restore take \(DisplayText.size(Self.bytesOnDisk(of: quarantine))) "
            + "in \(quarantine): \(setAside)",
          remedy: "remove them when you no longer need them; see kept help damage"))
    }
    let processes = ((try? processes()) ?? []).map(\.description).joined(separator: ", ")
    if !processes.utf8.isEmpty { findings.append(Finding(.note, "open in \(processes)")) }
    return findings
  }
}

/// The file system that a folder is on.
enum Disk {
  /// Its type, its free space, and unusual properties; the library itself refuses network file systems.
  static func findings(for folder: String) -> [Finding] {
    var status = statvfs()
    guard statvfs(folder, &status) == 0 else {
      return [Finding(.note, "in \(folder), whose file system cannot be examined")]
    }
    let (bytes, isTooMany) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
    let free = isTooMany ? Int.max : Int(clamping: bytes)
    let isReadOnly = status.f_flag & UInt(ST_RDONLY) != 0
    let type = type(of: folder)
    var findings = [
      Finding(
        .note, "in \(folder), on \(type), \(DisplayText.size(free)) free\(isReadOnly ? ", read-only" : "")",
        remedy: advice(on: type))
    ]
    if free < 16 << 20, !isReadOnly {
      findings.append(
        Finding(.attention, "the disk is nearly full, and writes may fail", remedy: "free some space on it"))
    }
    // Some file systems have no fixed number of inodes, and report 0.
    if status.f_files > 0, status.f_favail < 16, !isReadOnly {
      let left = "\(status.f_favail) free inode\(status.f_favail == 1 ? "" : "s")"
      findings.append(
        Finding(.attention, "the disk has \(left), and creating files may fail", remedy: "remove files from it"))
    }
    return findings
  }

  private static func advice(on type: String) -> String? {
    if type == "tmpfs" { return "it is in memory and is lost at reboot" }
    guard type == "fuse" || type == "fuseblk" || type == "virtiofs" || type.begins(with: "fuse.") else { return nil }
    return "use it through this mount only, on one machine: programs on two machines overwrite each other's changes"
  }

  /// The type of the last mounted file system that has the folder.
  private static func type(of folder: String) -> String {
    var best = (length: 0, type: "an unknown file system")
    guard let path = try? UserLinks.resolve(folder),
      let mounts = try? WholeFile.bytes(of: "/proc/self/mounts", atMost: 16 << 20, "the list of mounts")
    else { return best.type }
    for line in mounts.split(separator: UInt8(ascii: "\n")) {
      let fields = line.split(separator: UInt8(ascii: " "))
      guard fields.count > 2 else { continue }
      let place = unescaped(fields[1])
      let start = place.last == UInt8(ascii: "/") ? place : place + [UInt8(ascii: "/")]
      if "\(path)/".utf8.starts(with: start), start.count >= best.length {
        best = (start.count, String(decoding: fields[2], as: UTF8.self))
      }
    }
    return best.type
  }

  /// A path where the kernel has written spaces, tabs, line breaks and backslashes as a backslash and three digits.
  private static func unescaped(_ field: ArraySlice<UInt8>) -> [UInt8] {
    var (bytes, rest) = ([UInt8](), field)
    while let byte = rest.popFirst() {
      let digits = rest.prefix(3)
      if byte == UInt8(ascii: "\\"), digits.count == 3,
        let octal = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
      {
        bytes.append(octal)
        rest.removeFirst(3)
      } else {
        bytes.append(byte)
      }
    }
    return bytes
  }
}
