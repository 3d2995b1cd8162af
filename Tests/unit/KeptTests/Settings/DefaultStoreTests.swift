// The default store of the process: chosen once, or named after the program; and failures to open it.

import Foundation
import Kept
import Synchronization
import Testing

extension Keys {
  fileprivate static let volume = Key("default-store.volume", default: 50)
}

private struct Anywhere {
  @Setting(.volume) var volume
  @Setting("default-store.name") var name: String?
  @Setting("default-store.title") var title = "untitled"
}

/// The default store of this process, in memory.
private let ofThisProcess: Store = {
  let store = Store(storage: MemoryStorage())
  #expect(throws: Never.self) { try Store.bootstrap(store) }
  return store
}()

@Suite struct `The default store` {
  @Test func `is the one that was given to bootstrap, and settings that name no store are in it`() {
    let store = ofThisProcess
    #expect(Store.default === store)
    let anywhere = Anywhere()
    anywhere.volume = 70
    anywhere.name = "Ada"
    #expect(anywhere.title == "untitled" && anywhere.$title.store === store)
    #expect(store[.volume] == 70 && anywhere.name == "Ada")
  }

  @Test func `is chosen once, and what comes later is an error`() {
    let store = ofThisProcess
    let words = failure(.invalid) { try Store.bootstrap(Store(storage: MemoryStorage())) }
    #expect(words.contains("call bootstrap once"))
    _ = failure(.invalid) { try Store.bootstrap("memory:") }
    #expect(Store.default === store)
  }

  @Test func `is opened at its first use where none was chosen, the same for all threads`() {
    let chosen = DefaultStore(otherwise: "memory:")
    let stores = Mutex<Set<ObjectIdentifier>>([])
    onThreads(10) { _ in
      let store = chosen.store.takeUnretainedValue()
      _ = stores.withLock { $0.insert(ObjectIdentifier(store)) }
    }
    #expect(stores.withLock { $0.count } == 1)
    _ = failure(.invalid) { try chosen.set(Store(storage: MemoryStorage())) }
    _ = failure(.invalid) { try chosen.open("memory:", StoreOptions()) }
  }

  @Test func `is opened where bootstrap says`() throws {
    let chosen = DefaultStore(otherwise: "memory:")
    let folder = try SharedFolder()
    try chosen.open(folder.location, StoreOptions(tag: "test"))
    chosen.store.takeUnretainedValue()[.volume] = 7
    #expect(try folder.store()[.volume] == 7)
  }

  @Test func `that cannot be opened reads as defaults, and every use says why`() throws {
    let received = Mutex<[StoreError]>([])
    let options = StoreOptions(errorHandler: { error in received.withLock { $0.append(error) } })
    let chosen = DefaultStore(otherwise: "memory:")
    let words = failure(.invalid) { try chosen.open("no identifier", options) }
    let store = chosen.store.takeUnretainedValue()
    let setting = Setting(.volume, in: store)
    #expect(setting.wrappedValue == 50)
    setting.wrappedValue = 70
    #expect(setting.wrappedValue == 50)
    setting.projectedValue.reset()
    #expect(setting.projectedValue.isDefault)
    #expect(received.withLock { $0.map(\.description) }.allSatisfy { $0.hasSuffix(words) })
    #expect(received.withLock { $0.count } == 5)
    _ = failure(.invalid) { _ = try setting.projectedValue.get() }
    _ = failure(.invalid) { try setting.projectedValue.set(1) }
    _ = failure(.invalid) { _ = try setting.projectedValue.observe { _ in } }
    _ = failure(.invalid) { _ = try store.keys() }
    _ = failure(.invalid) { try store.transaction { $0[.volume] = 1 } }
    _ = failure(.invalid) { try store.declare(.volume) }
    _ = failure(.invalid) { try store.flush() }
  }

  @Test func `reads as defaults where none was chosen and it cannot be opened`() {
    let chosen = DefaultStore(otherwise: "no identifier")
    #expect(chosen.store.takeUnretainedValue()[.volume] == 50)
    _ = failure(.invalid) { try chosen.store.takeUnretainedValue().set(1, for: .volume) }
  }
}
