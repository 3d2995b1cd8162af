// Declaring keys: inference, when defaults are evaluated, and which names are invalid.

import Kept
import Synchronization
import Testing

private enum Theme: String, Storable { case system, dark }

extension Keys {
  fileprivate static let volume = Key("audio.volume", default: 50)
  fileprivate static let theme = Key("theme", default: Theme.system)
  fileprivate static let nickname = Key<String?>("nickname")
  fileprivate static let recent = Key<[String]>("recent", default: [])
}

@Suite struct KeyTests {
  let settings = TestStore().store

  @Test func `the type of a key comes from its default`() throws {
    settings[.volume] = 70
    settings[.volume] += 1
    settings[.theme] = .dark
    settings[.recent].append("a.txt")
    let volume = try settings.value(for: .volume)
    #expect(volume == 71)
    #expect(settings[.theme] == .dark)
    #expect(settings[.recent] == ["a.txt"])
  }

  @Test func `a key that was never stored reads as the default, and is not stored by reading`() throws {
    #expect(settings[.volume] == 50)
    #expect(try settings.value(for: .theme) == .system)
    #expect(settings[.nickname] == nil)
    #expect(try settings.keys() == [])
  }

  @Test func `a default is evaluated when it is needed, not when the key is declared`() throws {
    let evaluations = Atomic(0)
    let key = Key("lazy", default: evaluations.add(1, ordering: .relaxed).newValue)
    #expect(evaluations.load(ordering: .relaxed) == 0)
    settings[key] = 7
    #expect(settings[key] == 7)
    #expect(evaluations.load(ordering: .relaxed) == 0)
    try settings.remove(key)
    #expect(settings[key] == 1)
  }

  @Test func `a default may read the store itself`() throws {
    let settings = settings
    settings[.volume] = 30
    let quieter = Key("quieter", default: settings[.volume] / 2)
    #expect(settings[quieter] == 15)
    #expect(try settings.updateValue(quieter) { $0 += 1 } == 16)
  }

  @Test(arguments: [
    "audio/volume", "with space", "a.b.c", "🔊", "$volume", "é", "e\u{301}", String(repeating: "k", count: 1024),
  ])
  func `any text up to 1024 bytes is a name`(_ name: String) throws {
    let key = Key(name, default: 0)
    try settings.set(3, for: key)
    #expect(try settings.keys() == [name])
    #expect(try settings.value(for: key) == 3)
  }

  @Test(arguments: ["", "a\0b", String(repeating: "k", count: 1025)])
  func `an invalid key is refused by every call that uses it`(_ name: String) {
    let test = TestStore()
    let settings = test.store
    let key = Key(name, default: 5)
    _ = failure(.invalid) { _ = try settings.value(for: key) }
    _ = failure(.invalid) { try settings.set(1, for: key) }
    _ = failure(.invalid) { try settings.set(1, for: key, ifRevision: 0) }
    _ = failure(.invalid) { try settings.updateValue(key) { $0 = 1 } }
    _ = failure(.invalid) { try settings.remove(key) }
    _ = failure(.invalid) { _ = try settings.contains(key) }
    _ = failure(.invalid) { _ = try settings.revision(of: key) }
    _ = failure(.invalid) { _ = try settings.observe(key) { _ in } }
    #expect(settings[key] == 5)
    settings[key] = 6
    #expect(test.takeReported().map(\.code) == [.invalid, .invalid])
  }
}
