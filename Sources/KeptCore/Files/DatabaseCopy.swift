// A database of which this process is not the owner, or that it may not write: copied into memory through descriptors
// that were opened and looked at as Kept does it. SQLite opens by path, waits for FIFOs, and maps what the owner may
// cut off; of such a file it only ever sees the copy.

import CPlatform
import CSQLite

/// A database with the commits in its log, as it was at one moment.
struct DatabaseCopy {
  /// What tells whether a copy is still the same.
  struct Stamp {
    let database: FileStamp
    let log: FileStamp

    init(_ name: String, in folder: Int32 = AT_FDCWD) {
      database = FileStamp(of: name, in: folder)
      log = FileStamp(of: name + "-wal", in: folder)
    }

    /// Whether a later look has found the same files with the same contents, for sure.
    func vouches(for now: Stamp) -> Bool { database.vouches(for: now.database) && log.vouches(for: now.log) }
  }

  /// From before it was made.
  let stamp: Stamp
  /// Of SQLite's allocator, and freed by the connection that is made to it.
  let memory: UnsafeMutableRawBufferPointer

  /// No store that is for settings comes near it.
  private static let mostBytes = 1 << 30

  /// Copies a database; waits, until it is over, for a moment at which nobody changes it.
  ///
  /// - Parameters:
  ///   - path: what errors call the database.
  ///   - check: throws for what is not to be opened, the database or its log.
  ///   - isOver: called between two attempts.
  init(
    _ name: String, in folder: borrowing OpenFolder, calling path: String,
    _ check: (FileStatus, String) throws(StoreError) -> Void, until isOver: () throws(StoreError) -> Bool
  ) throws(StoreError) {
    while true {
      let stamp = Stamp(name, in: folder.descriptor)
      let reading = try Self.read(name, in: folder, calling: path, check)
      if let reading, reading.isOneMoment || stamp.vouches(for: Stamp(name, in: folder.descriptor)) {
        (self.stamp, memory) = (stamp, reading.memory)
        return
      }
      if let reading { sqlite3_free(reading.memory.baseAddress) }
      guard try !isOver() else {
        throw StoreError(.busy, "\(path) was changed each time it was read; try again")
      }
      MonotonicTime.letPass(microseconds: 5000)
    }
  }

  // MARK: - Reading

  private struct Reading {
    let memory: UnsafeMutableRawBufferPointer
    /// Whether it is of one moment also where the files have changed meanwhile.
    let isOneMoment: Bool
  }

  /// nil: a file was exchanged or cut off meanwhile.
  private static func read(
    _ name: String, in folder: borrowing OpenFolder, calling path: String,
    _ check: (FileStatus, String) throws(StoreError) -> Void
  ) throws(StoreError) -> Reading? {
    if let journal = folder.status(of: name + "-journal"), journal.size > 0 {
      throw StoreError(.busy, "\(path) is being written by a program other than Kept; try again")
    }
    let log = try ForeignFile.open(
      name + "-wal", in: folder.descriptor, calling: path + "-wal",
      { status throws(StoreError) in try check(status, path + "-wal") },
      { file, status throws(StoreError) -> Reading? in
        status.size == 0 ? nil : try read(name, in: folder, calling: path, check, log: file)
      })
    switch log {
    case .read(let reading?): return reading
    case .exchanged: return nil
    case .refused(let error) where error != ENOENT: throw .system("read", path + "-wal", errno: error)
    case .read(nil), .refused: break
    }
    // An empty log says nothing, and so does one that was cut off meanwhile: the stamps tell.
    guard let database = try bytes(of: name, in: folder, calling: path, check) else { return nil }
    return Reading(memory: try image(database, nil, path), isOneMoment: false)
  }

  /// The database first and then its log: what is brought from the log into the database meanwhile is in the log, as
  /// long as that is not begun anew, with other numbers in its header.
  private static func read(
    _ name: String, in folder: borrowing OpenFolder, calling path: String,
    _ check: (FileStatus, String) throws(StoreError) -> Void, log: Int32
  ) throws(StoreError) -> Reading? {
    let before = try bytes(of: log, from: 0, count: DatabaseLog.headerBytes, path)
    guard let database = try bytes(of: name, in: folder, calling: path, check), let now = FileStatus(of: log) else {
      return nil
    }
    guard let bytes = try bytes(of: log, from: 0, count: now.size, path),
      let before, try Self.bytes(of: log, from: 0, count: before.count, path) == before,
      folder.status(of: name + "-wal")?.identity == now.identity
    else { return nil }
    let log = try DatabaseLog(bytes, path)
    return Reading(memory: try image(database, log, path), isOneMoment: log != nil)
  }

  private static func bytes(
    of name: String, in folder: borrowing OpenFolder, calling path: String,
    _ check: (FileStatus, String) throws(StoreError) -> Void
  ) throws(StoreError) -> [UInt8]? {
    let outcome = try ForeignFile.open(
      name, in: folder.descriptor, calling: path, { status throws(StoreError) in try check(status, path) },
      { file, status throws(StoreError) -> [UInt8]? in
        try check(status, path)
        return try bytes(of: file, from: 0, count: status.size, path)
      })
    return switch outcome {
    case .read(let bytes): bytes
    case .exchanged: nil
    case .refused(let error): throw .system("read", path, errno: error)
    }
  }

  /// nil: there are not so many.
  private static func bytes(
    of file: Int32, from offset: Int, count size: Int, _ path: String
  ) throws(StoreError) -> [UInt8]? {
    guard size <= mostBytes else {
      throw StoreError(.tooLarge, "\(path) has \(size) bytes, too many to read it as a copy; let its owner open it")
    }
    try Memory.ask(for: size, to: "read \(path)")
    var error: Int32 = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      while count < size, let start = buffer.baseAddress {
        let got = pread(file, start + count, size - count, off_t(offset + count))
        if got < 0 && kept_errno() == EINTR { continue }
        if got < 0 { error = kept_errno() }
        guard got > 0 else { return }
        count += got
      }
    }
    guard error == 0 else { throw .system("read", path, errno: error) }
    return bytes.count == size ? bytes : nil
  }

  /// What SQLite would see of both, in memory of SQLite's.
  private static func image(
    _ database: [UInt8], _ log: DatabaseLog?, _ path: String
  ) throws(StoreError) -> UnsafeMutableRawBufferPointer {
    let size = try log?.size(over: database, path) ?? database.count
    try Memory.ask(for: size, to: "read \(path)")
    guard let start = sqlite3_malloc64(sqlite3_uint64(max(size, 1))) else {
      throw StoreError.sqlite(SQLITE_NOMEM, nil, doing: "read \(path)")
    }
    let memory = UnsafeMutableRawBufferPointer(start: start, count: size)
    memory.copyBytes(from: database.prefix(size))
    log?.apply(to: memory)
    // "File format version numbers": 2 stands for a log, and a database in memory has none.
    if size > 19 {
      for byte in 18...19 where memory[byte] == 2 { memory[byte] = 1 }
    }
    return memory
  }
}
