// What is known of a place without opening it.

import Foundation
import KeptValues
import Testing

@testable import KeptCore

@Suite struct `The place of a store` {
  let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private func make(_ name: String) throws -> String {
    try FileManager.default.createDirectory(atPath: "\(folder.path)/\(name)", withIntermediateDirectories: true)
    return "\(folder.path)/\(name)"
  }

  @Test func `has another identity when its folder is made again, and none without a folder`() throws {
    let path = try make("a")
    let first = try #require(try StorePlace(path).identity)
    #expect(try StorePlace(path).identity == first)
    try FileManager.default.removeItem(atPath: path)
    #expect(try StorePlace(path).identity == nil)
    _ = try make("a")
    #expect(try StorePlace(path).identity != first)
  }

  @Test func `takes no space on the disk if there is no store, whatever the folder has`() throws {
    let path = try make("a/other")
    try Data(count: 1 << 16).write(to: URL(fileURLWithPath: path + "/file"))
    let place = try StorePlace(folder.path + "/a")
    #expect(place.state == .folder)
    #expect(place.bytesOnDisk() == 0)
    #expect(place.asValue.asDictionary?["bytes"] == 0)
  }

  @Test func `takes the space of the store's files and of what was set aside, and of no other folder`() throws {
    let path = folder.path + "/store"
    try Store.open(path).close()
    let bytes = try StorePlace(path).bytesOnDisk()
    #expect(bytes > 0)
    let other = try make("store/other")
    try Data(count: 1 << 16).write(to: URL(fileURLWithPath: other + "/file"))
    #expect(try StorePlace(path).bytesOnDisk() < bytes + 1 << 16)
    let aside = try make("store/quarantine/today")
    try Data(repeating: 1, count: 1 << 16).write(to: URL(fileURLWithPath: aside + "/file"))
    #expect(try StorePlace(path).bytesOnDisk() >= bytes + 1 << 16)
  }

  @Test func `has the administrator's files of an identifier, and none for a path`() throws {
    let files = try StorePlace("org.kept.none").layerFiles().suffix(2)
    #expect(files.map(\.path) == ["managed", "system"].map { "/etc/kept/org.kept.none/\($0).json" })
    #expect(files.map(\.state) == [.absent, .absent])
    #expect(try StorePlace(folder.path).layerFiles().isEmpty)
  }
}
