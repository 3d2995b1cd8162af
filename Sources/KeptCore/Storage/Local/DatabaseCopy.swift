// Copies a database that this process does not own, or may not write, into memory. The descriptors are opened and
// checked by Kept. SQLite would open by path, wait for FIFOs, and map memory that the owner may truncate; it only ever
// sees the copy of such a file.

import CPlatform
import CSQLite
import KeptSystem
import KeptValues

/// A consistent copy of a database with the commits in its log.
struct DatabaseCopy {
  /// Detects whether a copy is still current.
  struct Stamp {
    let database: FileStamp
    let log: FileStamp
    /// Of the journal next to a store's database.
    let journal: FileStamp?

    init(_ name: String, in folder: Int32 = AT_FDCWD) {
      database = FileStamp(of: name, in: folder)
      log = FileStamp(of: name + "-wal", in: folder)
      let isStore = name.ends(with: StoreFiles.database)
      let folderPrefix = String(Substring(name.utf8.dropLast(StoreFiles.database.utf8.count)))
      journal = isStore ? FileStamp(of: folderPrefix + StoreFiles.journal, in: folder) : nil
    }

    /// Whether a later stamp certainly belongs to the same files with the same contents.
    func vouches(for now: Stamp) -> Bool {
      vouchesForDatabase(now) && now.journal.map { journal?.vouches(for: $0) == true } ?? true
    }

    /// Whether the database has not been changed, unless that was within a step of the clock.
    func isSameDatabase(_ now: Stamp) -> Bool { database.isSame(as: now.database) && log.isSame(as: now.log) }

    /// The same, of the database alone.
    func vouchesForDatabase(_ now: Stamp) -> Bool {
      database.vouches(for: now.database) && log.vouches(for: now.log)
    }
  }

  /// Taken before the copy was made.
  let stamp: Stamp
  /// Allocated with SQLite's allocator, and freed by the connection that opens it.
  let memory: UnsafeMutableRawBufferPointer

  /// Far above the size of any store for settings.
  private static let mostBytes = 1 << 30

  /// Copies a database.
  ///
  /// It retries until the files do not change during the copy, or `isOver` ends it.
  ///
  /// - Parameters:
  ///   - path: what errors call the database.
  ///   - check: throws if the database or its log must not be opened.
  ///   - isOver: called between two attempts.
  init(
    _ name: String, in folder: borrowing OpenFolder, calling path: String,
    _ check: (FileStatus, String) throws(StoreError) -> Void, until isOver: () throws(StoreError) -> Bool
  ) throws(StoreError) {
    while true {
      let stamp = Stamp(name, in: folder.descriptor)
      let reading = try Self.read(name, in: folder, calling: path, check)
      if let reading, reading.isConsistent || stamp.vouchesForDatabase(Stamp(name, in: folder.descriptor)) {
        (self.stamp, memory) = (stamp, reading.memory)
        return
      }
      if let reading { sqlite3_free(reading.memory.baseAddress) }
      guard try !isOver() else {
        throw StoreError(.busy, "\(shown: path) changed every time it was read; try again")
      }
      MonotonicTime.letPass(microseconds: 5000)
    }
  }

  // MARK: - Reading

  private struct Reading {
    let memory: UnsafeMutableRawBufferPointer
    /// Whether the copy is consistent even if the files have changed while they were read.
    let isConsistent: Bool
  }

  /// Reads the files; nil if a file was replaced or truncated during the read.
  private static func read(
    _ name: String, in folder: borrowing OpenFolder, calling path: String,
    _ check: (FileStatus, String) throws(StoreError) -> Void
  ) throws(StoreError) -> Reading? {
    if let journal = folder.status(of: name + "-journal"), journal.size > 0 {
      throw StoreError(
        .busy,
        "a program other than Kept is writing to \(shown: path), or was killed while it did; try again, or open the "
          + "database with that program")
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
    // An empty log contains nothing, nor does one that was truncated in between; the stamps tell the two apart.
    guard let database = try bytes(of: name, in: folder, calling: path, check) else { return nil }
    return Reading(memory: try image(database, nil, path), isConsistent: false)
  }

  /// Reads the database first and then its log.
  ///
  /// Pages that are copied from the log into the database during the read are still in the log, unless it is restarted,
  /// which changes the numbers in its header.
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
    return Reading(memory: try image(database, log, path), isConsistent: log != nil)
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

  /// The bytes of a file; nil if there are fewer.
  private static func bytes(
    of file: Int32, from offset: Int, count size: Int, _ path: String
  ) throws(StoreError) -> [UInt8]? {
    guard size <= mostBytes else {
      throw StoreError(
        .tooLarge,
        "\(shown: path) is \(size) bytes long; at most \(mostBytes) can be read without write access")
    }
    try Memory.ask(for: size, to: "read \(shown: path)")
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

  /// The database image that SQLite would see from both files, in memory of SQLite's allocator.
  private static func image(
    _ database: [UInt8], _ log: DatabaseLog?, _ path: String
  ) throws(StoreError) -> UnsafeMutableRawBufferPointer {
    try log?.checkOrigin(database, path)
    let size = try log?.size(over: database, path) ?? database.count
    try Memory.ask(for: size, to: "read \(shown: path)")
    guard let start = sqlite3_malloc64(sqlite3_uint64(max(size, 1))) else {
      throw StoreError.sqlite(SQLITE_NOMEM, nil, doing: "read \(shown: path)")
    }
    let memory = UnsafeMutableRawBufferPointer(start: start, count: size)
    memory.copyBytes(from: database.prefix(size))
    log?.apply(to: memory)
    removeLog(from: memory)
    return memory
  }

  /// Changes the "file format version numbers": 2 means a write-ahead log, which a database in memory does not have; a
  /// right checksum stays right.
  private static func removeLog(from memory: UnsafeMutableRawBufferPointer) {
    guard memory.count >= KEPT_HEADER_BYTES, let start = memory.baseAddress else { return }
    let size = kept_checked_page_size(start)
    let isSealed = size > 0 && memory.count >= Int(size) && kept_page_verifies(start, size, 1) != 0
    for byte in 18...19 where memory[byte] == 2 { memory[byte] = 1 }
    if isSealed { kept_seal_page(start, size, 1, kept_page_salt(start, size)) }
  }
}
