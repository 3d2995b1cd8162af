// The processes that have a store open, as the kernel shows them in /proc.

import CPlatform
import KeptSystem
public import KeptValues

/// Another process that has a file of a store open.
///
/// In C: `kept_processes_json`. In Python: `kept.StoreProcess`.
public struct StoreProcess: Sendable {
  public let pid: Int32
  /// The name of its program as the kernel has it, which is at most 15 bytes; "?" if it has just ended.
  public let name: String
  /// The second at which it was started, by the clock of the machine; nil if that is not known.
  public let since: Timestamp?
  /// Whether it has a file of the store open for writing, as a program has that may write to the store.
  public let isWriting: Bool

  /// `player (4711)`.
  public var description: String { "\(name) (\(pid))" }

  package var asValue: Value {
    var members: [(ExactString, Value)] = [
      ("pid", .int(Int64(pid))), ("name", .string(name)), ("writing", .bool(isWriting)),
    ]
    if let since { members.append(("since", .string(since.description))) }
    return .dictionary(ValueDictionary(members))
  }
}

extension StorePlace {
  /// The other processes that have a file of the store open, as far as this user may see them, in the order of their
  /// ids.
  ///
  /// A user sees only the user's own processes, and root all of them; a process sees only those of its container.
  /// Empty for a store without a folder. In C: `kept_processes_json`. In Python: `kept.processes(location)`.
  ///
  /// Throws `unavailable` if the processes cannot be listed, as by a process that may not open more files.
  public func processes() throws(StoreError) -> [StoreProcess] {
    guard let folder else { return [] }
    let pids = try FolderListing.names(in: "/proc").compactMap { Int32($0) }.filter { $0 != getpid() }
    guard let resolved = try UserLinks.resolve(folder) else { return [] }
    return pids.sorted().compactMap { StoreProcess($0, usingFilesIn: resolved + "/") }
  }
}

extension StoreProcess {
  fileprivate init?(_ pid: Int32, usingFilesIn folder: String) {
    let place = "/proc/\(pid)"
    let files = ((try? FolderListing.names(in: "\(place)/fd")) ?? []).filter { file in
      Self.target(of: "\(place)/fd/\(file)").starts(with: folder.utf8)
    }
    guard !files.isEmpty else { return nil }
    self.pid = pid
    let name = Self.bytes(of: "\(place)/comm").prefix { $0 != UInt8(ascii: "\n") }
    self.name = name.isEmpty ? "?" : String(decoding: name, as: UTF8.self)
    since = Self.start(of: place)
    isWriting = files.contains { file in
      let flags = Self.field("flags:", in: Self.bytes(of: "\(place)/fdinfo/\(file)"))
      return flags.flatMap { Int32($0, radix: 8) }.map { $0 & O_ACCMODE != O_RDONLY } ?? false
    }
  }

  private static func start(of process: String) -> Timestamp? {
    let status = bytes(of: "\(process)/stat")
    // The name of the program before it may have spaces and brackets.
    guard let name = status.lastIndex(of: UInt8(ascii: ")")),
      let boot = field("btime", in: bytes(of: "/proc/stat")).flatMap({ Int64($0) })
    else { return nil }
    let fields = status[name...].split(separator: UInt8(ascii: " "))
    let ticksASecond = Int64(sysconf(Int32(_SC_CLK_TCK)))
    guard fields.count > 20, let ticks = Int64(String(decoding: fields[20], as: UTF8.self)), ticksASecond > 0 else {
      return nil
    }
    return try? Timestamp(seconds: boot &+ ticks / ticksASecond)
  }

  /// The first word after a name at the start of a line.
  private static func field(_ name: String, in bytes: [UInt8]) -> String? {
    let line = bytes.split(separator: UInt8(ascii: "\n")).first { $0.starts(with: name.utf8) }
    let words = line?.dropFirst(name.utf8.count).split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    return (words?.first).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Empty if it cannot be read, as when the process has ended.
  private static func bytes(of file: String) -> [UInt8] {
    (try? WholeFile.bytes(of: file, atMost: 1 << 20, "a file of /proc")) ?? []
  }

  private static func target(of link: String) -> ArraySlice<UInt8> {
    var path = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = kept_link_target(AT_FDCWD, link, &path, path.count)
    return path.prefix(max(0, count))
  }
}
