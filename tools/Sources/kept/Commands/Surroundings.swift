// What a store depends on beside its contents: its place, the rights of its folder, versions, and other processes.

import Glibc
import Kept

struct Surroundings {
  let findings: [Finding]

  init(_ settings: Store, _ location: String) throws(StoreError) {
    var findings = [
      Finding(.note, "kept \(Build.version); schema version \(try settings.schemaVersion()) of the store")
    ]
    if let folder = try Store.folder(of: location) {
      findings += FileSystem.findings(for: folder)
      if let rights = Self.rights(of: folder) { findings.append(rights) }
      if access(folder, W_OK) != 0 {
        findings.append(
          Finding(.note, "this user may not write to it", "change it as its owner: ls -ld \(Shell.words([folder]))"))
      }
      let processes = OpenProcess.all(of: folder).map(\.words).joined(separator: ", ")
      if !processes.isEmpty { findings.append(Finding(.note, "open in \(processes)")) }
    }
    self.findings = findings
  }

  /// Who else may read the store.
  ///
  /// The library itself refuses a folder that others may write to.
  private static func rights(of folder: String) -> Finding? {
    var status = stat()
    guard stat(folder, &status) == 0, status.st_mode & 0o055 != 0 else { return nil }
    return Finding(
      .note, "other users may read the folder (mode \(String(status.st_mode & 0o777, radix: 8)))",
      "if they shall not: chmod go-rwx \(Shell.words([folder]))")
  }
}

enum FileSystem {
  /// Where the store is and what is free there, and what is unusual.
  ///
  /// The library itself refuses network file systems.
  static func findings(for folder: String) -> [Finding] {
    var status = statvfs()
    guard statvfs(folder, &status) == 0 else {
      return [Finding(.note, "in \(folder), whose file system cannot be examined")]
    }
    let free = Int(clamping: UInt64(status.f_bavail) * UInt64(status.f_frsize))
    let isReadOnly = status.f_flag & UInt(ST_RDONLY) != 0
    let type = type(of: folder)
    var findings = [
      Finding(
        .note, "in \(folder), on \(type), \(Bytes.shown(free)) free\(isReadOnly ? ", read-only" : "")",
        advice(on: type))
    ]
    if free < 16 << 20, !isReadOnly {
      findings.append(Finding(.attention, "the disk is nearly full, and writes will fail", "free space on it"))
    }
    // Some file systems have no fixed number of them, and say 0.
    if status.f_files > 0, status.f_favail < 16, !isReadOnly {
      let left = Count.of(Int(status.f_favail), "free inode")
      findings.append(
        Finding(.attention, "the disk has \(left), and writes will fail", "remove files from it"))
    }
    return findings
  }

  /// What is unusual about a type of file system.
  private static func advice(on type: String) -> String? {
    if type == "tmpfs" { return "it is in memory, and gone when the machine is restarted" }
    guard type == "fuse" || type == "fuseblk" || type == "virtiofs" || type.begins(with: "fuse.") else { return nil }
    return "use it through this mount alone, on one machine: programs on another one overwrite each other's changes"
  }

  /// The type of the last mounted file system that has the folder.
  private static func type(of folder: String) -> String {
    guard let path = realpath(folder, nil) else { return "an unknown file system" }
    defer { free(path) }
    let resolved = Array(UnsafeBufferPointer(start: path, count: strlen(path))).map { UInt8(bitPattern: $0) } + slash
    let mounts = (try? File.bytes(of: "/proc/self/mounts")) ?? []
    var best = (length: 0, type: "an unknown file system")
    for line in mounts.split(separator: UInt8(ascii: "\n")) {
      let fields = line.split(separator: UInt8(ascii: " "))
      guard fields.count > 2 else { continue }
      let place = unescaped(fields[1])
      let start = place == slash ? slash : place + slash
      if resolved.starts(with: start), start.count >= best.length {
        best = (start.count, String(decoding: fields[2], as: UTF8.self))
      }
    }
    return best.type
  }

  private static let slash = [UInt8(ascii: "/")]

  /// A path in which the kernel has written spaces, tabs, line breaks and backslashes as a backslash and three digits.
  private static func unescaped(_ field: ArraySlice<UInt8>) -> [UInt8] {
    var (bytes, rest) = ([UInt8](), field)
    while let byte = rest.popFirst() {
      let digits = rest.prefix(3)
      if byte == UInt8(ascii: "\\"), let octal = UInt8(String(decoding: digits, as: UTF8.self), radix: 8),
        digits.count == 3
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
