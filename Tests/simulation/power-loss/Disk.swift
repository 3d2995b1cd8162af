// A disk as a loss of power leaves it: what was synced, and any part of the rest.

import CSimulation
import Foundation

/// The files of a folder, from the events up to one of them.
struct Disk {
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

  mutating func add(_ event: recorded_event) {
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
  func write(to folder: String, seed: UInt64, inOrder: Bool) throws {
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
      try Data(bytes).write(to: URL(filePath: folder + "/" + name))
      chmod(folder + "/" + name, 0o600)
    }
  }
}
