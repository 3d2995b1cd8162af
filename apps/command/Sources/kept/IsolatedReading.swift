// Reads formats in a process of its own, kept-formats, whose memory and time are limited. If it ends badly, nothing has
// been imported.

import Formats
import Kept

enum IsolatedReading {
  private static let program = "kept-formats"

  static func settings(of bytes: [UInt8], _ reading: Reading) throws(StoreError) -> FoundSettings {
    let request = reading.request(for: bytes)
    guard let done = try Helper.run(Helper.part(program), [reading.format.rawValue], input: request) else {
      throw StoreError(
        .unavailable,
        "is \(reading.format.description), but \(program), the part of kept that reads it, is missing; reinstall kept")
    }
    guard done.status == ExitStatus.done.rawValue else {
      throw StoreError(
        .tooLarge,
        "the reader of \(reading.format.description) crashed, or took more memory or time than is allowed for a "
          + "file of this size; nothing was imported")
    }
    return try FoundSettings(lines: done.out, size: bytes.count)
  }
}
