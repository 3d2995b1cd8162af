// A store with layers: which one decides, which keys are locked, and who is notified when a file changes.

import Foundation
@testable import KeptSystem
@testable import KeptValues
import Testing

@testable import KeptCore

/// A folder with a store and layer files, and the errors that were reported.
private struct Desk {
  let folder: TemporaryFolder
  let reports = Monitor<[StoreError]>([])

  init() throws { folder = try TemporaryFolder() }

  var managed: String { folder.path + "/managed.json" }
  var system: String { folder.path + "/system.json" }

  /// Replaces a file atomically.
  func write(_ text: String, to path: String) throws {
    try text.write(toFile: path, atomically: true, encoding: .utf8)
  }

  func open(_ location: StoreUnderTest, arguments: [String]? = nil, prefix: String? = nil) throws -> Store {
    var options = StoreOptions()
    (options.managed, options.system) = (.path(managed), .path(system))
    (options.arguments, options.environmentPrefix) = (arguments.map { ["program"] + $0 }, prefix)
    options.errorHandler = { [reports] error in reports.update { $0.append(error) } }
    return try location.open(in: folder, options)
  }

  var reported: [String] { reports.read { $0.map(\.description) } }
}

/// The kinds of stores that are read through layers.
enum StoreUnderTest: String, CaseIterable, CustomTestStringConvertible {
  case memory, folder
  var testDescription: String { rawValue }

  func open(in folder: TemporaryFolder, _ options: StoreOptions) throws -> Store {
    switch self {
    case .memory: try Store.open("memory:\(folder.path)", options: options)
    case .folder: try Store.open(folder.path + "/store", options: options)
    }
  }
}

@Suite(.timeLimit(.minutes(30))) struct `A store with layers` {
  private let desk: Desk
  private let received = ReceivedNotices()
  init() throws { desk = try Desk() }

  @Test(arguments: StoreUnderTest.allCases)
  func `refuses to write a locked key, and says who locked it`(_ kind: StoreUnderTest) throws {
    try desk.write(
      #"{"values":{"a":1},"locked":["b"],"lockedPrefixes":["net."]}"#, to: desk.managed)
    let store = try desk.open(kind)
    for key in ["a", "b", "net.proxy"] {
      let error = #expect(throws: StoreError.self) { try store.set(2, forKey: key) }
      #expect(error?.code == .locked && error?.description.contains(desk.managed) == true)
      #expect(throws: StoreError.self) { try store.remove(key) }
      #expect(throws: StoreError.self) { try store.transaction { try $0.set(2, forKey: key) } }
    }
    try store.set(2, forKey: "free")
    #expect(try store.storedKeys(prefix: "").map(\.text) == ["free"])
    #expect(try store.value(forKey: "a") == 1)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `stores a shadowed value, and changes it below the layer`(_ kind: StoreUnderTest) throws {
    let store = try desk.open(kind, arguments: ["-a", "5"])
    let subscription = try store.observe(.key(key("a")), received.add)
    try store.set(1, forKey: "a")
    #expect(try store.value(forKey: "a") == 5 && store.layerHiding(key("a")) == .arguments)
    #expect(try store.entry(for: key("a"))?.value == 1 && store.revision(of: "a") == 1)
    let sum = try store.updateValue("a") { $0 = .int(($0?.asInt64 ?? 0) + 1) }
    #expect(sum == 2, "an update goes on from the stored value")
    try store.set(1, forKey: "b")
    try desk.write(#"{"values":{"a":9}}"#, to: desk.managed)
    #expect(received.first(1)[0].changes.map(\.old) == [5])
    #expect(received.all.map(\.origin) == [.layer], "what does not show is not delivered")
    subscription.cancel()
  }

  @Test func `is told that its folder was removed, while it only waits`() throws {
    let store = try desk.open(.folder)
    try store.set(1, forKey: "a")
    let subscription = try store.observe(.prefix(""), received.add)
    // When all is synced, the store looks at its folder no more until it is used again.
    try #require(store.shared.storage as? LocalStorage).readers.maintenance.awaitIdle()
    try FileManager.default.removeItem(atPath: desk.folder.path + "/store")
    #expect(desk.reports.wait { $0.first }?.code == .unavailable)
    #expect(throws: StoreError.self) { try store.value(forKey: "a") }
    subscription.cancel()
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `delivers each state of a file, and then reads it`(_ kind: StoreUnderTest) throws {
    let store = try desk.open(kind)
    let seen = Monitor<[Value?]>([])
    let subscription = try store.observe(.key(key("a")), initial: true) { _ in
      seen.update { $0.append(try? store.value(forKey: "a")) }
    }
    for number: Int64 in 1...3 {
      try desk.write("{\"values\":{\"a\":\(number)}}", to: desk.system)
      #expect(seen.wait { $0.count > number ? $0[Int(number)] : nil } == .int(number))
    }
    try FileManager.default.removeItem(atPath: desk.system)
    #expect(seen.wait { $0.count == 5 ? true : nil })
    #expect(try store.value(forKey: "a") == nil)
    subscription.cancel()
  }

  @Test func `is not opened without its managed layer, and can be once that is repaired`() throws {
    try desk.write("no", to: desk.managed)
    let error = #expect(throws: StoreError.self) { try desk.open(.folder) }
    #expect(error?.code == .unavailable && error?.message.contains(desk.managed) == true)
    try desk.write(#"{"values":{"a":1}}"#, to: desk.managed)
    #expect(try desk.open(.folder).value(forKey: "a") == 1)
  }

  @Test func `on a storage of one's own locks every key until its managed layer is repaired`() throws {
    try desk.write("no", to: desk.managed)
    let store = Store(storage: MemoryStorage(), options: StoreOptions(managed: .path(desk.managed)))
    #expect(code { try store.set(1, forKey: "a") } == .locked)
    let subscription = try store.observe(.prefix(""), received.add)
    try desk.write(#"{"values":{"b":1}}"#, to: desk.managed)
    _ = received.first(1)
    try store.set(1, forKey: "a")
    subscription.cancel()
  }

  @Test func `moves its count with each change, and has none without files`() throws {
    #expect(try Store.open("memory:").layersAddress == nil)
    let store = try desk.open(.folder)
    let word = try #require(store.layersAddress)
    let before = word.pointee
    let subscription = try store.observe(.prefix(""), received.add)
    try desk.write(#"{"values":{"a":1}}"#, to: desk.system)
    _ = received.first(1)
    #expect(word.pointee > before)
    subscription.cancel()
  }

  @Test func `never shows an older state after a newer one`() throws {
    // A reader races with a writer of the file and a writer of the store.
    try desk.write(#"{"values":{"a":0}}"#, to: desk.system)
    let store = try desk.open(.folder)
    let (isDone, hasEnded) = (Monitor(false), Monitor(false))
    let newest = Monitor<Int64>(0)
    let subscription = try store.observe(.key(key("a"))) { notice in
      newest.update { $0 = notice.changes[0].new?.asInt64 ?? -1 }
    }
    let prepared = PreparedKey(try key("a"))
    let reader = Thread {
      var last: Int64 = 0
      while !isDone.read(\.self) {
        let delivered = newest.read(\.self)
        do {
          // From the view, if the key is cached; otherwise through the store.
          let known = store.known(prepared.prepared) ?? nil
          let value = try store.value(forKey: "a")?.asInt64 ?? -1
          for value in [known?.asInt64, value].compactMap(\.self) {
            if value < last || value < delivered {
              Issue.record("read \(value), delivered \(delivered), read \(last) before")
            }
            last = max(last, value)
          }
        } catch { Issue.record(error) }
      }
      hasEnded.update { $0 = true }
    }
    reader.start()
    for number: Int64 in 1...20 {
      try store.set(.int(number), forKey: "other")
      try desk.write("{\"values\":{\"a\":\(number)}}", to: desk.system)
      if number % 5 == 0 { #expect(newest.wait { $0 == number ? true : nil }) }
    }
    isDone.update { $0 = true }
    #expect(hasEnded.wait { $0 ? true : nil })
    subscription.cancel()
  }

  @Test func `on a storage of one's own reports mistakes in its layers`() throws {
    var options = StoreOptions(managed: .path(desk.managed), environmentPrefix: "")
    options.errorHandler = { [reports = desk.reports] error in reports.update { $0.append(error) } }
    try desk.write(#"{"values":{"a":1}}"#, to: desk.managed)
    let store = Store(storage: MemoryStorage(), options: options)
    #expect(try store.value(forKey: "a") == nil)
    #expect(code { try store.set(1, forKey: "b") } == .locked)
    #expect(desk.reports.read(\.self).map(\.code) == [.invalid])
    options.environmentPrefix = nil
    #expect(try Store(storage: MemoryStorage(), options: options).value(forKey: "a") == 1)
  }

  @Test func `is opened with a standard file by its identifier alone`() throws {
    var options = StoreOptions()
    options.managed = .standard
    let error = #expect(throws: StoreError.self) { try Store.open(desk.folder.path + "/store", options: options) }
    #expect(error?.code == .invalid)
    #expect(LayerFile.standardPath(identifier: "a.b", layer: .managed) == "/etc/kept/a.b/managed.json")
  }
}
