// The locks of a store. All are on bytes of the file `journal` that lie far beyond its end, and belong to an open file
// description: a process that ends releases them, and a second descriptor of the same file does not.
//
// - Byte `open`: held shared by every process that has the store open, and exclusively by one that is alone and
//   recovers it. It is never upgraded: a child of a fork shares the description, and would seem to be alone with its
// parent.
// - Byte `write`: held exclusively by the writer of a group of frames.

import CPlatform

/// The open file `journal`, as the place of the locks.
///
/// Not thread-safe: its owner keeps it behind a monitor.
struct JournalLock {
  static let name = "journal"
  private static let openByte: Int64 = 1 << 40
  private static let writeByte: Int64 = openByte + 1

  let descriptor: Int32
  let path: String

  /// Opens the file, and creates it empty if it does not exist.
  static func open(in folder: StoreFolder) throws(StoreError) -> JournalLock {
    let held = try OpenFolder.own(folder.path)
    return JournalLock(descriptor: try held.openOrMake(name, O_RDWR), path: folder.path + "/" + name)
  }

  /// Opens the same file again: locks of one description do not exclude each other.
  func again() throws(StoreError) -> JournalLock {
    let folder = try OpenFolder.own(StoreFolder.parent(of: path))
    guard let other = try folder.open(Self.name, O_RDWR) else { throw .system("open", path, errno: ENOENT) }
    let lock = JournalLock(descriptor: other, path: path)
    guard FileStatus(of: other)?.identity == FileStatus(of: descriptor)?.identity else {
      lock.close()
      throw StoreError(.unavailable, "\(path) was exchanged while the store was open; open the store again")
    }
    return lock
  }

  func close() { CPlatform.close(descriptor) }

  /// Whether the path still leads to this file.
  var isInPlace: Bool {
    guard let here = FileStatus(of: descriptor), let there = FileStatus(of: path) else { return false }
    return here.identity == there.identity
  }

  /// Takes the store for this process alone; false if any other has it open.
  func takeAlone() -> Bool { kept_lock_byte(descriptor, Int16(F_WRLCK), Self.openByte) }

  /// Takes the store beside others, also after ``takeAlone()``; false if a process recovers it.
  func share() -> Bool { kept_lock_byte(descriptor, Int16(F_RDLCK), Self.openByte) }

  func takeWriting() -> Bool { Self.takeWriting(descriptor) }

  static func takeWriting(_ descriptor: Int32) -> Bool { kept_lock_byte(descriptor, Int16(F_WRLCK), writeByte) }

  func releaseWriting() { Self.releaseWriting(descriptor) }

  static func releaseWriting(_ descriptor: Int32) { _ = kept_lock_byte(descriptor, Int16(F_UNLCK), writeByte) }
}
