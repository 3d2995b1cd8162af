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

extension KeyName: ExpressibleByStringLiteral {
  public init(stringLiteral text: String) {
    guard let key = try? KeyName(text) else { preconditionFailure("\(text) is not a key") }
    self = key
  }
}
