// Which files are read as a layer, which are refused, and the messages.

import Foundation
@testable import KeptSystem
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite struct `A layer file` {
  let folder: TemporaryFolder
  let path: String
  let file: LayerFile
  init() throws {
    folder = try TemporaryFolder()
    path = folder.path + "/managed.json"
    file = LayerFile(path: path, layer: .managed)
  }

  @Test func `is read whole, and not again while it stays the same`() throws {
    try write(#"{"values":{"a":1}}"#)
    let stamp = try settledStamp()
    #expect(isUnchanged(since: stamp))
    try write(#"{"values":{"a":2}}"#)
    #expect(try contents(since: stamp).values == [key("a"): 2])
  }

  @Test func `has no valid stamp while a later change could have the same one`() throws {
    try write(#"{"values":{"a":1}}"#)
    var stamp = FileStamp(of: path)
    // On a busy machine reading the stamp may take longer than a tick of the clock.
    for _ in 0..<1000 where stamp.isSettled {
      try write(#"{"values":{"a":1}}"#)
      stamp = FileStamp(of: path)
    }
    // Another edit may happen in the same tick, with the same size.
    #expect(!stamp.isSettled && stamp.isSame(as: stamp) && !stamp.vouches(for: stamp))
  }

  @Test(arguments: ["", "/none", "/none/deeper"]) func `is absent without a file or a folder`(below: String) {
    #expect(isAbsent(LayerFile(path: folder.path + below + "/system.json", layer: .system)))
  }

  @Test func `is absent below a file`() throws {
    try write("{}")
    #expect(isAbsent(LayerFile(path: path + "/system.json", layer: .system)))
  }

  @Test func `has a place of its own for each program and layer`() {
    let paths = [Layer.managed, .system].map { LayerFile.standardPath(identifier: "com.example.player", layer: $0) }
    #expect(paths == ["/etc/kept/com.example.player/managed.json", "/etc/kept/com.example.player/system.json"])
  }

  @Test func `that is not JSON is refused, with the byte`() throws {
    try write(#"{"values":{"a":1,}}"#)
    let error = try failure()
    #expect(error.code == .invalid)
    #expect(error.offset == 17)
    #expect(error.message.hasPrefix("\(path), the file of the managed layer"))
  }

  @Test(arguments: [[], [0xFF], Array("{}{}".utf8), Array("{}\0".utf8), [0xEF, 0xBB, 0xBF, 0x7B, 0x7D]])
  func `that is empty, not UTF-8 or goes on after its object is refused`(bytes: [UInt8]) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    #expect(try failure().code == .invalid)
  }

  @Test func `that holds something else is refused, with its path`() throws {
    try write(#"{"locks":[]}"#)
    let error = try failure()
    #expect(error.code == .invalid)
    #expect(error.message.contains(path) && error.message.contains("\"locks\""))
  }

  @Test func `that others may write is refused until they may not`() throws {
    try write("{}")
    for mode: mode_t in [0o646, 0o664] {
      try rights(mode)
      let error = try failure()
      #expect(error.code == .denied)
      #expect(error.message.contains("chmod go-w"))
    }
    try rights(0o644)
    #expect(try contents() == LayerContents())
  }

  @Test func `that may not be read is refused`() throws {
    try write("{}")
    try rights(0)
    let child = try ChildProcess(opening: "memory:", asNobody: true)
    let answer = try child.ask("layer", path)
    #expect(answer.hasPrefix("could not read \(path)"), "\(answer)")
    try child.finish()
  }

  @Test func `may be reached through links of a mounted volume`() throws {
    try FileManager.default.createDirectory(atPath: folder.path + "/..2026", withIntermediateDirectories: false)
    try write(#"{"values":{"a":1}}"#, to: folder.path + "/..2026/managed.json")
    #expect(symlink("..2026", folder.path + "/..data") == 0)
    #expect(symlink("..data/managed.json", path) == 0)
    #expect(try contents().values == [key("a"): 1])
  }

  @Test(arguments: ["none.json", "none/managed.json", "good.json/managed.json", "/none/managed.json"])
  func `is not a link that leads to nothing`(target: String) throws {
    try write("{}", to: folder.path + "/good.json")
    #expect(symlink(target, path) == 0)
    for file in [file, LayerFile(path: path + "/deeper/managed.json", layer: .managed)] {
      let error = try failure(of: file)
      #expect(error.code == .unavailable)
      #expect(error.message.contains("\(path) is a link to \(target), which does not exist here"), "\(error)")
    }
  }

  @Test func `is absent in an existing folder that a link leads to`() throws {
    #expect(symlink(".", path) == 0)
    #expect(isAbsent(LayerFile(path: path + "/none.json", layer: .managed)))
    #expect(isAbsent(LayerFile(path: path + "/none/none.json", layer: .managed)))
  }

  @Test func `is not at the end of an endless chain of links`() throws {
    #expect(symlink(path, path) == 0)
    #expect(try failure().code == .unavailable)
  }

  @Test func `is not a directory`() throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    try expectOther("a directory")
  }

  @Test func `is not a FIFO, and reading it waits for no writer`() throws {
    #expect(mkfifo(path, 0o600) == 0)
    try expectOther("a FIFO")
  }

  @Test func `is not a socket`() throws {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    // The address of a socket is at most 107 bytes long.
    let short = "/tmp/kept-test-socket-\(getpid())"
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(short.utf8)) }
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    let status = withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) }
    }
    defer { unlink(short) }
    #expect(status == 0)
    #expect(try failure(of: LayerFile(path: short, layer: .managed)).message.contains("a socket"))
  }

  @Test func `is not a device`() throws {
    #expect(try failure(of: LayerFile(path: "/dev/null", layer: .system)).message.contains("a device"))
  }

  @Test func `beyond 16 MiB is refused, and is not read`() throws {
    try write("")
    #expect(truncate(path, (16 << 20) + 1) == 0)
    #expect(try failure().code == .tooLarge)
  }

  @Test func `has a path`() throws {
    for path in ["", "/etc\0/passwd"] {
      #expect(try failure(of: LayerFile(path: path, layer: .system)).code == .invalid)
    }
  }

  @Test func `that is swapped while it is read is read again`() throws {
    try write(#"{"values":{"a":1}}"#)
    let path = path
    var file = file
    let rounds = CombiningQueue()
    file.beforeReading = {
      guard rounds.next() == 1 else { return }
      try? Data(#"{"values":{"a":2}}"#.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    }
    #expect(try contents(of: file).values == [key("a"): 2])
    #expect(rounds.count == 2)
  }

  @Test func `that is swapped for a link while it is read is refused`() throws {
    try write("{}")
    let path = path
    var file = file
    file.beforeReading = {
      unlink(path)
      symlink("/etc/passwd", path)
    }
    #expect(try failure(of: file).code == .invalid)
  }

  @Test func `that is removed while it is read is absent`() throws {
    try write("{}")
    let path = path
    var file = file
    file.beforeReading = { unlink(path) }
    #expect(isAbsent(file))
  }

  @Test(arguments: [0, 1, 4096]) func `that shrinks or grows at every attempt is given up`(size: Int) throws {
    try write(#"{"values":{"a":1}}"#)
    let path = path
    var file = file
    let rounds = CombiningQueue()
    file.beforeReading = { truncate(path, off_t(size + rounds.next())) }
    let error = try failure(of: file)
    #expect(error.code == .busy)
    #expect(rounds.count == 5)
  }

  private func expectOther(_ words: String) throws {
    let error = try failure()
    #expect(error.code == .unavailable)
    #expect(error.message.hasPrefix("\(path), the file of the managed layer, is \(words), not a regular file; "))
  }

  private func contents(of file: LayerFile? = nil, since stamp: FileStamp? = nil) throws -> LayerContents {
    let reading = (file ?? self.file).read(since: stamp)
    guard case .read(let contents, _) = reading else { throw Unexpected(reading: reading) }
    return contents
  }

  private func isAbsent(_ file: LayerFile) -> Bool {
    if case .absent = file.read(since: nil) { true } else { false }
  }

  private func isUnchanged(since stamp: FileStamp) -> Bool {
    if case .unchanged = file.read(since: stamp) { true } else { false }
  }

  private func failure(of file: LayerFile? = nil) throws -> StoreError {
    let reading = (file ?? self.file).read(since: nil)
    guard case .failed(let error) = reading else { throw Unexpected(reading: reading) }
    return error
  }

  /// Reads it until its stamp guarantees that a change would be visible.
  private func settledStamp() throws -> FileStamp {
    while true {
      let reading = file.read(since: nil)
      guard case .read(_, let stamp) = reading else { throw Unexpected(reading: reading) }
      if stamp.isSettled { return stamp }
    }
  }

  private func write(_ text: String, to place: String? = nil) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: place ?? path))
  }

  private func rights(_ mode: mode_t) throws { #expect(chmod(path, mode) == 0) }

  /// Counts how often the file is read.
  private final class CombiningQueue: Sendable {
    private let done = Monitor(0)
    var count: Int { done.read { $0 } }
    func next() -> Int {
      done.update { done in
        done += 1
        return done
      }
    }
  }

  private struct Unexpected: Error { let reading: LayerFile.Reading }
}
