// Changes to a file are detected, however they are made.

import Foundation
@testable import KeptSystem
import Testing

@Suite(.timeLimit(.minutes(30))) struct `A watched file` {
  let folder: TemporaryFolder
  let path: String
  init() throws {
    folder = try TemporaryFolder()
    path = folder.path + "/etc/player/managed.json"
    try FileManager.default.createDirectory(atPath: folder.path + "/etc/player", withIntermediateDirectories: true)
  }

  @Test func `is replaced by renaming`() throws {
    try edit(1)
    try following { file in
      try write(2, to: path + ".new")
      #expect(rename(path + ".new", path) == 0)
      #expect(file.becomes("a = 2"))
    }
  }

  @Test func `is edited in place`() throws {
    try edit(1)
    try following { file in
      try edit(2)
      #expect(file.becomes("a = 2"))
      try edit(31)
      #expect(file.becomes("a = 31"))
    }
  }

  @Test func `is saved as an editor does, which keeps the old one next to it`() throws {
    try edit(1)
    try following { file in
      #expect(rename(path, path + "~") == 0)
      try write(2, to: path + ".swp")
      #expect(rename(path + ".swp", path) == 0)
      #expect(file.becomes("a = 2"))
    }
  }

  @Test func `is removed and made again`() throws {
    try edit(1)
    try following { file in
      #expect(file.becomes("a = 1"))
      unlink(path)
      #expect(file.becomes("absent"))
      try edit(2)
      #expect(file.becomes("a = 2"))
    }
  }

  @Test func `is made later, with two folders for it`() throws {
    try FileManager.default.removeItem(atPath: folder.path + "/etc")
    try following { file in
      #expect(file.last == "absent")
      try FileManager.default.createDirectory(atPath: folder.path + "/etc", withIntermediateDirectories: false)
      try FileManager.default.createDirectory(atPath: folder.path + "/etc/player", withIntermediateDirectories: false)
      try edit(1)
      #expect(file.becomes("a = 1"))
    }
  }

  @Test func `is removed with its folder, and comes back with another`() throws {
    try edit(1)
    try following { file in
      #expect(rename(folder.path + "/etc", folder.path + "/old") == 0)
      #expect(file.becomes("absent"))
      try FileManager.default.createDirectory(atPath: folder.path + "/etc/player", withIntermediateDirectories: true)
      try edit(2)
      #expect(file.becomes("a = 2"))
      try edit(3)
      #expect(file.becomes("a = 3"))
    }
  }

  @Test func `has a link, a FIFO or a directory in its place for a while`() throws {
    try edit(1)
    try following { file in
      for (number, disturb) in [makeLink, makeFIFO, makeDirectory].enumerated() {
        #expect(rename(path, path + ".away") == 0)
        #expect(file.becomes("absent"))
        #expect(disturb() == 0)
        #expect(file.becomes("unavailable"))
        #expect(remove(path) == 0)
        try edit(number)
        #expect(file.becomes("a = \(number)"))
      }
    }
  }

  @Test func `is made writable by others, and no more`() throws {
    try edit(1)
    try following { file in
      #expect(chmod(path, 0o666) == 0)
      #expect(file.becomes("denied"))
      #expect(chmod(path, 0o644) == 0)
      #expect(file.becomes("a = 1"))
    }
  }

  @Test func `is broken and repaired`() throws {
    try edit(1)
    try following { file in
      try Data("{".utf8).write(to: URL(fileURLWithPath: path))
      #expect(file.becomes("invalid"))
      try edit(1)
      #expect(file.becomes("a = 1"))
    }
  }

  @Test(arguments: [false, true]) func `is edited 1,000 times, and the last edit is noticed`(inPlace: Bool) throws {
    try edit(1000)
    try following { file in
      // All of the same size, and many within one tick of the file system's clock.
      for number in 1001...2000 { if inPlace { try overwrite(number) } else { try replace(number) } }
      #expect(file.becomes("a = 2000"))
    }
  }

  @Test func `is noticed at most twice for each change, and not for those of its neighbours`() throws {
    // Uses its own watch: a file that another test changes continuously would exhaust the thread's limit on retries.
    let file = FollowedFile(path, by: FileWatch())
    defer { file.end() }
    for number in 1...20 {
      try write(number, to: path + ".neighbour")
      try write(number, to: path + ".new")
      #expect(rename(path + ".new", path) == 0)
      #expect(file.becomes("a = \(number)"))
    }
    #expect(20...40 ~= file.changes)
  }

  @Test func `is noticed before its stamp is settled, if another one was renamed to it`() throws {
    try edit(1)
    let file = FollowedFile(path, by: FileWatch())
    defer { file.end() }
    // On a busy machine the thread may come late.
    var early = 0
    for number in 2...200 where early == 0 {
      try replace(number)
      #expect(file.becomes("a = \(number)"))
      if !FileStamp(of: path).isSettled { early += 1 }
      while !FileStamp(of: path).isSettled { usleep(5_000) }
    }
    #expect(early > 0)
  }

  @Test func `is noticed without waiting for the next check`() throws {
    // Uses its own watch: the thread also checks when other watches begin and end.
    let file = FollowedFile(path, by: FileWatch())
    defer { file.end() }
    let begun = MonotonicTime.milliseconds
    for number in 1...20 {
      try replace(number)
      #expect(file.becomes("a = \(number)"))
    }
    // With periodic checks alone these take 40 seconds.
    #expect(MonotonicTime.milliseconds - begun < 20_000)
  }

  @Test func `is noticed by each of its watches until that ends`() throws {
    let (one, other) = (FollowedFile(path), FollowedFile(path))
    try replace(1)
    #expect(one.becomes("a = 1") && other.becomes("a = 1"))
    one.end()
    try replace(2)
    #expect(other.becomes("a = 2"))
    #expect(one.last == "a = 1")
    other.end()
  }

  @Test func `is noticed where its folder may not be listed`() throws {
    try edit(1)
    #expect(chmod(folder.path + "/etc/player", 0o311) == 0)
    defer { chmod(folder.path + "/etc/player", 0o755) }
    let child = try ChildProcess(opening: "memory:", asNobody: true)
    #expect(try child.ask("watch", path) == "ok")
    try edit(22)
    #expect(try child.ask("await-change") == "changed")
    try child.finish()
  }

  @Test func `is noticed where no more files can be opened`() throws {
    try edit(1)
    let child = try ChildProcess(opening: "memory:")
    #expect(try child.ask("use-up-descriptors") == "ok")
    #expect(try child.ask("watch", path) == "ok")
    try edit(22)
    #expect(try child.ask("await-change") == "changed")
    try child.finish()
  }

  @Test func `is noticed in both processes after a fork`() throws {
    try edit(1)
    let child = try ChildProcess(opening: "memory:")
    #expect(try child.ask("watch-across-fork", path) == "inherited 0, both notified of 5")
    try child.finish()
  }

  private func following(_ scenario: (FollowedFile) throws -> Void) throws {
    let file = FollowedFile(path)
    defer { file.end() }
    try scenario(file)
  }

  private func json(_ number: Int) -> Data { Data("{\"values\":{\"a\":\(number)}}".utf8) }

  private func write(_ number: Int, to place: String) throws {
    try json(number).write(to: URL(fileURLWithPath: place))
  }

  /// Opens the file, truncates it, and writes it.
  private func edit(_ number: Int) throws { try write(number, to: path) }

  /// Overwrites the file without truncating it.
  private func overwrite(_ number: Int) throws {
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try file.write(contentsOf: json(number))
    try file.close()
  }

  /// Writes another file and renames it over this one.
  private func replace(_ number: Int) throws {
    try json(number).write(to: URL(fileURLWithPath: path), options: .atomic)
  }

  private func makeLink() -> Int32 { symlink(folder.path + "/other.json", path) }
  private func makeFIFO() -> Int32 { mkfifo(path, 0o600) }
  private func makeDirectory() -> Int32 { mkdir(path, 0o700) }
}
