// A disk as a loss of power leaves it: what was synced, and any part of the rest.

import CPlatform
package import CSimulation

/// The files of a folder, from the events up to one of them.
package struct Disk {
  private struct WriteFailure: Error {}
  private struct File {
    var synced: [UInt8] = []
    // Writes since the last sync, in their order.
    var pending: [(offset: Int, bytes: [UInt8])] = []

    func contents(keeping isKept: () -> Bool) -> [UInt8] {
      var bytes = synced
      for write in pending {
        for start in stride(from: 0, to: write.bytes.count, by: Disk.sector) where isKept() {
          let part = write.bytes[start..<min(start + Disk.sector, write.bytes.count)]
          let offset = write.offset + start
          if bytes.count < offset + part.count {
            bytes += Array(repeating: 0, count: offset + part.count - bytes.count)
          }
          bytes.replaceSubrange(offset..<offset + part.count, with: part)
        }
      }
      return bytes
    }
  }
  private static let sector = 512

  private var files: [Int: File] = [:]
  // A new file may have the inode of a removed one, whose name is still on the disk.
  private var numbers: [UInt64: Int] = [:]
  // The names when the folder was last synced, those that the processes see, and the changes in between.
  private var synced: [String: Int] = [:]
  private var present: [String: Int] = [:]
  private var changes: [(name: String, file: Int?)] = []

  package init() {}

  /// A disk that has all of a folder.
  package init(of folder: String, _ names: [String]) {
    for (number, name) in names.enumerated() {
      let file = kept_open_at(AT_FDCWD, folder + "/" + name, O_RDONLY, 0)
      defer { close(file) }
      var status = stat()
      fstat(file, &status)
      let bytes = [UInt8](unsafeUninitializedCapacity: Int(status.st_size)) { buffer, count in
        count = max(0, pread(file, buffer.baseAddress, buffer.count, 0))
      }
      files[number] = File(synced: bytes)
      numbers[UInt64(status.st_ino)] = number
      synced[name] = number
    }
    present = synced
  }

  package mutating func add(_ event: recorded_event) {
    let name = withUnsafeBytes(of: event.name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    let other = withUnsafeBytes(of: event.other) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    let file = numbers[event.file] ?? -1
    switch Int(event.call) {
    case EVENT_WRITE:
      let bytes = Array(UnsafeBufferPointer(start: event.bytes, count: event.count))
      files[file]?.pending.append((Int(event.offset), bytes))
    case EVENT_SYNC:
      files[file] = files[file].map { File(synced: $0.contents { true }) }
    case -EVENT_SYNC:
      // What could not be written is in memory only; a later sync does not write it either.
      files[file]?.pending.removeAll()
    case EVENT_SYNC_FOLDER:
      (synced, changes) = (present, [])
    case EVENT_MAKE:
      numbers[event.file] = files.count
      change(name, files.count)
      files[files.count] = File()
    case EVENT_RENAME:
      let file = present[name]
      change(name, nil)
      change(other, file)
    case EVENT_REMOVE: change(name, nil)
    default: break
    }
  }

  private mutating func change(_ name: String, _ file: Int?) {
    guard present[name] != file else { return }
    present[name] = file
    changes.append((name, file))
  }

  /// Writes what may be left into an empty folder.
  ///
  /// - Parameters:
  ///   - seed: 0: only what was synced; 1: everything; others: some sectors, and a beginning of the changes of names.
  ///   - inOrder: false: some of the changes of names instead.
  package func write(to folder: String, seed: UInt64, inOrder: Bool) throws {
    var random = seed
    func next() -> UInt64 {
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return random >> 33
    }
    var names = synced
    // By the journals of ext4 and xfs, names reach the disk in the order of their changes. Other file systems
    // promise no order.
    let kept = seed == 0 ? 0 : seed == 1 || !inOrder ? changes.count : Int(next() % UInt64(changes.count + 1))
    for change in changes.prefix(kept) where inOrder || next() % 2 == 0 { names[change.name] = change.file }
    for (name, file) in names.sorted(by: { $0.key < $1.key }) {
      guard let file = files[file] else { continue }
      let bytes = file.contents { seed == 1 || (seed > 1 && next() % 2 == 0) }
      let made = kept_open_at(AT_FDCWD, folder + "/" + name, O_RDWR | O_CREAT | O_EXCL, 0o600)
      defer { close(made) }
      guard pwrite(made, bytes, bytes.count, 0) == bytes.count else { throw WriteFailure() }
    }
  }
}
