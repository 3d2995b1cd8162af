// URLs in a suite that a program and Foundation share: each reads what the other has written.

import Foundation
import Kept
import KeptUserDefaults
@testable import KeptValues
import Testing

extension Keys {
  fileprivate static let folder = Key<URL?>("folder")
}

@Suite(.serialized) struct `A URL in a UserDefaults suite` {
  private let suite = "kept.test.\(UUID().uuidString)"
  private let defaults: UserDefaults
  private let store: Store

  init() throws {
    defaults = try #require(UserDefaults(suiteName: suite))
    store = Store(storage: SimpleStorageAdapter(try UserDefaultsStorage(suite: suite)))
  }

  private func cleanUp() {
    store.close()
    defaults.removePersistentDomain(forName: suite)
    _ = defaults.synchronize()
  }

  @Test(arguments: ["/tmp/kept a b/\u{FC}.txt", "/tmp/kept-plain", "/tmp/kept%20literal", "/tmp/kept #?&"])
  func `of a file goes both ways`(_ path: String) throws {
    defer { cleanUp() }
    let url = URL(fileURLWithPath: path)
    defaults.set(url, forKey: "folder")
    let read = try #require(try store.value(for: .folder))
    #expect(read == defaults.url(forKey: "folder") && read == url && read.isFileURL)
    try store.set(url, for: .folder)
    #expect(defaults.url(forKey: "folder") == url)
    #expect(try store.value(for: .folder) == url)
    let revision = try store.revision(of: .folder)
    try store.set(url, for: .folder)
    #expect(try store.revision(of: .folder) == revision, "the same again changes nothing")
    // Another process reads the same from the file.
    let again = Store(storage: SimpleStorageAdapter(try UserDefaultsStorage(suite: suite)))
    #expect(try again.value(for: .folder) == url)
    defaults.set(url, forKey: "folder")
    #expect(try store.value(for: .folder) == url)
  }

  @Test(arguments: ["https://example.com/a%20b?q=1#f", "file:///tmp/a%20b", "mailto:ada@example.com"])
  func `that is archived is its text, and stays archived`(_ text: String) throws {
    defer { cleanUp() }
    let url = try #require(NSURL(string: text))
    defaults.set(
      try NSKeyedArchiver.archivedData(withRootObject: url, requiringSecureCoding: true), forKey: "folder")
    #expect(try store.value(for: .folder) == URL(string: text))
    #expect(try store.value(forKey: "folder") == .string(text))
    let other = try #require(URL(string: "https://example.com/other"))
    try store.set(other, for: .folder)
    #expect(defaults.url(forKey: "folder") == other)
    #expect(try store.value(for: .folder) == other)
    let copy = Store(storage: MemoryStorage())
    try UserDefaultsStorage(suite: suite).copy(into: copy)
    #expect(try copy.value(for: .folder) == other)
  }

  @Test func `of the web is text, as any other text`() throws {
    defer { cleanUp() }
    let url = try #require(URL(string: "https://example.com/a%20b"))
    try store.set(url, for: .folder)
    #expect(defaults.string(forKey: "folder") == "https://example.com/a%20b")
    #expect(try store.value(for: .folder) == url)
    try store.set("/tmp/a b", forKey: "path")
    #expect(defaults.string(forKey: "path") == "/tmp/a b")
    #expect(try store.value(String.self, forKey: "path") == "/tmp/a b")
  }

  @Test func `does not make one of other bytes`() throws {
    defer { cleanUp() }
    let text = try NSKeyedArchiver.archivedData(withRootObject: NSString("x"), requiringSecureCoding: true)
    let list = try PropertyListSerialization.data(fromPropertyList: ["$archiver": 1], format: .binary, options: 0)
    for data in [text, list, Data("bplist00".utf8), Data("bplist00junk".utf8), Data([0, 1]), Data()] {
      try store.set(data, forKey: "bytes")
      #expect(try store.value(Data.self, forKey: "bytes") == data)
    }
    let url = try NSKeyedArchiver.archivedData(
      withRootObject: NSURL(fileURLWithPath: "/tmp"), requiringSecureCoding: true)
    let error = #expect(throws: StoreError.self) { try store.set(url, forKey: "bytes") }
    #expect(error?.code == .unsupported && error?.message.contains("as a string") == true)
  }
}
