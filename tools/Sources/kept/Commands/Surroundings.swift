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
        findings.append(Finding(.note, "this user may not write to it", "change it as its owner: ls -ld \(folder)"))
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
      "if they shall not: chmod go-rwx \(folder)")
  }
}

private enum FileSystem {
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
        type == "tmpfs" ? "it is in memory, and gone when the machine is restarted" : nil)
    ]
    if free < 16 << 20, !isReadOnly {
      findings.append(Finding(.attention, "the disk is nearly full, and writes will fail", "free space on it"))
    }
    return findings
  }

  /// The type of the last mounted file system that has the folder.
  private static func type(of folder: String) -> String {
    guard let path = realpath(folder, nil) else { return "an unknown file system" }
    defer { free(path) }
    let resolved = String(cString: path) + "/"
    let mounts = (try? File.bytes(of: "/proc/self/mounts")).map { String(decoding: $0, as: UTF8.self) } ?? ""
    var best = (length: 0, type: "an unknown file system")
    for line in mounts.split(separator: "\n") {
      let fields = line.split(separator: " ")
      guard fields.count > 2 else { continue }
      let place = fields[1] == "/" ? "/" : String(fields[1]) + "/"
      if resolved.hasPrefix(place), place.utf8.count >= best.length { best = (place.utf8.count, String(fields[2])) }
    }
    return best.type
  }
}
