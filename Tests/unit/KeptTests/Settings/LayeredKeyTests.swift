// Keys read through layers: which layer decides, how a text is converted, and writes that a layer hides.

import Foundation
import Kept
import Synchronization
import Testing

private enum Theme: String, Storable { case system, dark }
private enum Level: Int, Storable { case low = 1, high = 9 }
private struct Frame: Codable, Storable, Equatable {
  var width: Int
  var since: Date?
}

extension Keys {
  fileprivate static let volume = Key("audio.volume", default: 50)
  fileprivate static let name = Key<String?>("name")
}

/// A store with layers that a test chooses, and the errors that its error handler received.
final class LayeredStore: Sendable {
  let folder: SharedFolder
  let store: Store
  private let reported: Reported

  private final class Reported: Sendable {
    let errors = Mutex<[StoreError]>([])
  }

  init(
    _ arguments: [String] = [], managed: String? = nil, system: String? = nil, registered: ValueDictionary = [:]
  ) throws {
    folder = try SharedFolder()
    let reported = Reported()
    self.reported = reported
    var options = StoreOptions(errorHandler: { error in reported.errors.withLock { $0.append(error) } })
    options.arguments = ["program"] + arguments
    options.managed = .path(folder.file("managed.json"))
    options.system = .path(folder.file("system.json"))
    if let managed { try folder.write(managed, to: "managed.json") }
    if let system { try folder.write(system, to: "system.json") }
    store = try Store.open(folder.location, options: options)
    try store.register(defaults: registered)
  }

  /// The errors that the error handler received since the last call.
  func takeReported() -> [StoreError] {
    reported.errors.withLock { errors in
      defer { errors = [] }
      return errors
    }
  }
}

@Suite struct `A key that is read through layers` {
  @Test func `reads the highest that has a value, and its own default after all of them`() throws {
    let layered = try LayeredStore(
      ["-a", "2"], managed: #"{"values":{"m":1}}"#, system: #"{"values":{"s":4}}"#, registered: ["r": 5])
    let settings = layered.store
    try settings.set(3, forKey: "u")
    try settings.declare(Key("d", default: 6))
    let keys = ["m", "a", "u", "s", "r", "d", "none"].map { Key($0, default: 7) }
    // Twice: from the store, and from memory.
    for _ in 1...2 { #expect(keys.map { settings[$0] } == [1, 2, 3, 4, 5, 6, 7]) }
    let layers: [Layer?] = [.managed, .arguments, .user, .system, .registered, .declared, nil]
    #expect(try keys.map { try settings.layer(of: $0) } == layers)
    #expect(try keys.map { try settings.contains($0) } == [true, true, true, true, false, false, false])
    #expect(try keys.map { try settings.revision(of: $0) } == [nil, nil, 1, nil, nil, nil, nil])
    #expect(try settings.transaction { transaction in keys.map { transaction[$0] } } == [1, 2, 3, 4, 5, 6, 7])
    #expect(layered.takeReported().isEmpty)
  }

  @Test func `the arguments come before the stored value, and a write does not show, but is stored`() throws {
    let layered = try LayeredStore(["-audio.volume", "-7", "-name", "42"])
    let settings = layered.store
    #expect(settings[.volume] == -7, "a negative number is a value")
    #expect(try settings.set(70, for: .volume) == .arguments)
    #expect(try settings.set(70, forKey: "audio.volume") == .arguments)
    #expect(try settings.set(70, for: Key("free", default: 0)) == nil)
    #expect(settings[.volume] == -7)
    #expect(layered.takeReported().isEmpty)
    settings[.volume] = 71
    #expect(layered.takeReported().map(\.code) == [.shadowed])
    #expect(try settings.transaction { try $0.set(72, for: .volume) } == .arguments)
    let plain = try layered.folder.store()
    #expect(plain[.volume] == 72)
    #expect(
      try settings.updateValue(.volume) { $0 += 1 } == 73, "the value of the command line is not stored")
    #expect(plain[.volume] == 73 && settings[.volume] == -7)
    #expect(try settings.remove(.volume))
    #expect(try settings.contains(.volume) && !settings.remove(.volume))
  }

  @Test func `reads a text as what it asks for`() throws {
    let layered = try LayeredStore([
      "-number", "42", "-on", "YES", "-off", "0", "-real", "7", "-theme", "dark", "-level", "9",
      "-date", "2026-11-21T08:00:00Z", "-frame", #"{"width":3,"since":{"$date":"2026-11-21T08:00:00Z"}}"#,
      "-list", #"["a","b"]"#, "-numbers", "[1,2]", "-data", "AAEC", "-plist", "(a, b)", "-digits", "007",
    ])
    let settings = layered.store
    let date = Date(timeIntervalSince1970: 1_795_248_000)
    // Twice: from the store, and from memory.
    for _ in 1...2 {
      #expect(try settings.value(for: Key<Int?>("number")) == 42)
      #expect(try settings.value(for: Key<UInt8?>("number")) == 42)
      #expect(try settings.value(for: Key<String?>("number")) == "42")
      #expect(try settings.value(for: Key<Double?>("number")) == 42)
      #expect(try settings.value(for: Key<Bool?>("on")) == true)
      #expect(try settings.value(for: Key<String?>("on")) == "YES")
      #expect(try settings.value(for: Key<Bool?>("off")) == false)
      #expect(try settings.value(for: Key<Double>("real", default: 0.5)) == 7)
      #expect(try settings.value(for: Key("theme", default: Theme.system)) == .dark)
      #expect(try settings.value(for: Key("level", default: Level.low)) == .high)
      #expect(try settings.value(for: Key<Date?>("date")) == date)
      #expect(try settings.value(for: Key<Frame?>("frame")) == Frame(width: 3, since: date))
      #expect(try settings.value(for: Key<[String]?>("list")) == ["a", "b"])
      #expect(try settings.value(for: Key<[Int]?>("numbers")) == [1, 2])
      #expect(try settings.value(for: Key<[String]?>("plist")) == ["a", "b"])
      #expect(try settings.value(for: Key<Data?>("data")) == Data([0, 1, 2]))
      #expect(settings[Key("digits", default: "")] == "007")
    }
    #expect(layered.takeReported().isEmpty)
  }

  @Test func `is an error or the default where the text is nothing of the kind, and says which layer it is`() throws {
    let layered = try LayeredStore(["-audio.volume", "loud"], system: #"{"values":{"name":5}}"#)
    let settings = layered.store
    let sentence = #""audio.volume": in the arguments layer: holds a string, not an int"#
    #expect(failure(.wrongType) { _ = try settings.value(for: .volume) } == sentence)
    #expect(settings[.volume] == 50)
    #expect(settings[.name] == nil)
    #expect(
      layered.takeReported().map(\.description)
        == [sentence, #""name": in the system layer: holds an int, not a string"#])
  }

  @Test func `skips what does not fit the declaration, and says so once`() throws {
    let layered = try LayeredStore(["-audio.volume", "loud"])
    let settings = layered.store
    try settings.declare(.volume)
    try settings.set(70, for: .volume)
    #expect(settings[.volume] == 70 && settings[.volume] == 70)
    let reported = layered.takeReported()
    #expect(reported.map(\.code) == [.wrongType] && reported.map(\.key) == ["audio.volume"])
  }

  @Test func `is locked by the administrator, and stays as it is`() throws {
    let layered = try LayeredStore(managed: #"{"values":{"audio.volume":30},"lockedPrefixes":["na"]}"#)
    let settings = layered.store
    #expect(failure(.locked) { try settings.set(1, for: .volume) }.contains("managed.json"))
    _ = failure(.locked) { try settings.remove(.volume) }
    _ = failure(.locked) { try settings.updateValue(.name) { $0 = "Ada" } }
    settings[.name] = "Ada"
    #expect(layered.takeReported().map(\.code) == [.locked])
    #expect(settings[.volume] == 30 && settings[.name] == nil)
    let explanation = try settings.explain(.volume)
    #expect(explanation.isLocked && explanation.layer == .managed && explanation.value == 30)
    #expect(try layered.folder.store().keys() == [], "nothing was stored")
  }

  @Test func `has a registered default before its own, until it is taken back`() throws {
    let layered = try LayeredStore()
    let settings = layered.store
    try settings.register(70, for: .volume)
    #expect(settings[.volume] == 70)
    #expect(try settings.keys() == [])
    try settings.set(60, for: .volume)
    try settings.register(71, for: .volume)
    #expect(settings[.volume] == 60)
    try settings.remove(.volume)
    #expect(settings[.volume] == 71)
    try settings.register(nil, for: Key<Int?>("audio.volume"))
    #expect(settings[.volume] == 50)
    _ = failure(.invalid) { try settings.register(1, for: Key("", default: 1)) }
  }

  @Test func `has the layers of its handle, and not those of another in the process`() throws {
    let layered = try LayeredStore(["-audio.volume", "7"])
    let plain = try Store.open(layered.folder.location)
    try layered.store.register("Ada", for: .name)
    try plain.set(70, for: .volume)
    #expect(layered.store[.volume] == 7 && plain[.volume] == 70)
    #expect(layered.store[.name] == "Ada" && plain[.name] == nil)
    try plain.set("Bob", for: .name)
    #expect(layered.store[.name] == "Bob" && plain[.name] == "Bob")
    layered.store.close()
    #expect(plain[.volume] == 70)
  }
}
