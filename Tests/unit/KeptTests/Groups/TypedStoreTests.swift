// Types with a fixed key, and where their value is stored.

import Kept
import Synchronization
import Testing

private struct CameraConfig: Codable, KeyedStorable, Equatable {
  enum Size: Int, Codable { case large, medium, small }
  static let key = "CameraConfig"
  var saveToCameraRoll = true
  var size = Size.medium
}

/// Uses a default for every missing member.
private struct Tolerant: KeyedStorable, Equatable {
  static let key = "tolerant"
  var volume = 50
  var name = "nobody"

  init(volume: Int = 50, name: String = "nobody") { (self.volume, self.name) = (volume, name) }

  init(stored value: Value) throws(StoreError) {
    let members = try [String: Value](stored: value)
    if let volume = members["volume"].flatMap({ try? Int(stored: $0) }) { self.volume = volume }
    if let name = members["name"].flatMap({ try? String(stored: $0) }) { self.name = name }
  }

  func stored() -> Value { ["volume": .int(Int64(volume)), "name": .string(name)] }
  static var schema: Schema? { .object }
}

/// A typed store that a program implements itself.
private final class Recorded: TypedStoring {
  let values = Mutex<[CameraConfig]>([])
  func get() throws(StoreError) -> CameraConfig? { values.withLock(\.last) }
  func set(_ value: CameraConfig) throws(StoreError) { values.withLock { $0.append(value) } }
  func remove() throws(StoreError) { values.withLock { $0 = [] } }
}

private struct Camera {
  let config: AnyTypedStore<CameraConfig>
  func enlarge() throws {
    var changed = try config.get() ?? CameraConfig()
    changed.size = .large
    try config.set(changed)
  }
}

@Suite struct TypedStoreTests {
  @Test func `a type knows its key and how it is stored`() throws {
    let settings = TestStore().store
    let camera = TypedStore<CameraConfig>(in: settings)
    #expect(try camera.get() == nil)
    try camera.set(CameraConfig(size: .small))
    #expect(try settings.value(forKey: "CameraConfig") == ["saveToCameraRoll": true, "size": 2])
    #expect(try TypedStore<CameraConfig>(in: settings).get() == CameraConfig(size: .small))
    try camera.remove()
    #expect(try camera.get() == nil && settings.value(forKey: "CameraConfig") == nil)
  }

  @Test func `a type of its own making reads what it can, and refuses what it cannot`() throws {
    let settings = TestStore().store
    let tolerant = TypedStore<Tolerant>(in: settings)
    try settings.set(["volume": 7, "name": false], forKey: "tolerant")
    #expect(try tolerant.get() == Tolerant(volume: 7))
    try settings.set(5, forKey: "tolerant")
    #expect(failure(.wrongType) { _ = try tolerant.get() } == "\"tolerant\": holds an int, not a dictionary")
    #expect(try settings.value(forKey: "tolerant") == 5)
    try tolerant.set(Tolerant(name: "Ada"))
    #expect(try settings.value(forKey: "tolerant") == ["volume": 50, "name": "Ada"])
  }

  @Test func `an unknown raw value inside is an error, not absence, and stays stored`() throws {
    let settings = TestStore().store
    let stored: Value = ["saveToCameraRoll": true, "size": 9]
    try settings.set(stored, forKey: "CameraConfig")
    let camera = TypedStore<CameraConfig>(in: settings)
    #expect(failure(.wrongType) { _ = try camera.get() }.hasPrefix("\"CameraConfig\": at .size"))
    #expect(try settings.value(forKey: "CameraConfig") == stored)
  }

  @Test func `it is kept in files, in memory, or in a storage of one's own`() throws {
    let folder = try SharedFolder()
    let persistent = TypedStore<CameraConfig>(in: try folder.store())
    try persistent.set(CameraConfig(size: .large))
    #expect(try TypedStore<CameraConfig>(in: try folder.store()).get()?.size == .large, "another process reads it")
    let memory = TypedStore<CameraConfig>(storage: MemoryStorage())
    #expect(try memory.get() == nil)
    try memory.set(CameraConfig(size: .small))
    #expect(try TypedStore<CameraConfig>(storage: MemoryStorage()).get() == nil, "each memory is its own")
    #expect(try persistent.get()?.size == .large)
  }

  @Test func `an erased one replaces any other`() throws {
    let recorded = Recorded()
    let memory = TypedStore<CameraConfig>(storage: MemoryStorage())
    for place in [AnyTypedStore(recorded), AnyTypedStore(memory), AnyTypedStore(AnyTypedStore(recorded))] {
      try Camera(config: place).enlarge()
      #expect(try place.get() == CameraConfig(size: .large))
    }
    #expect(recorded.values.withLock(\.count) == 2)
    try AnyTypedStore(memory).remove()
    #expect(try memory.get() == nil)
    memory.store.close()
    _ = failure(.closed) { try AnyTypedStore(memory).set(CameraConfig()) }
  }

  @Test func `its key is one like others`() throws {
    let camera = TypedStore<CameraConfig>(in: TestStore().store)
    try camera.store.declare(camera.key)
    _ = failure(.wrongType) { try camera.store.set(5, forKey: "CameraConfig") }
    camera.store[camera.key] = CameraConfig(size: .small)
    #expect(try camera.get()?.size == .small)
  }
}
