// A folder for one test, and short ways to make what the tests read.

import CPlatform
import Foundation
import KeptEngine
public import KeptValues

/// A folder that is removed after the test.
final class TestFolder {
  let path: String
  let descriptor: Int32

  init() throws {
    path = FileManager.default.temporaryDirectory.appendingPathComponent("kept-engine-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    descriptor = kept_hold_at(AT_FDCWD, path, O_DIRECTORY)
  }

  deinit {
    close(descriptor)
    try? FileManager.default.removeItem(atPath: path)
  }

  func make(_ name: String) -> StoreFile {
    StoreFile(taking: kept_engine_make(descriptor, name), path: path + "/" + name)
  }

  func open(_ name: String) -> StoreFile {
    StoreFile(taking: kept_open_at(descriptor, name, O_RDWR, 0), path: path + "/" + name)
  }

  func contents(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path + "/" + name))) }

  func write(_ bytes: [UInt8], to name: String) throws {
    try Data(bytes).write(to: URL(filePath: path + "/" + name))
  }
}

/// Numbers that are the same in each run.
struct SeededNumbers: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

extension KeyName: ExpressibleByStringLiteral {
  public init(stringLiteral text: String) {
    guard let key = try? KeyName(text) else { preconditionFailure("\(text) is not a key") }
    self = key
  }
}
