// Shared by the tests of publishers and of observed settings: a store whose observers are called on a queue, so that a
// test knows when all of them have been called, and a folder that another process writes.

public import Dispatch
import Foundation
public import Kept
import KeptValues
import Synchronization

extension Keys {
  public static let volume = Key("audio.volume", default: 50)
}

/// A store in memory, its unhandled failures, and a queue for its observers.
public final class TestStore: Sendable {
  public let store: Store
  public let queue = DispatchQueue(label: "observers")
  private let received = Notes<StoreError>()

  public init() {
    let received = received
    store = Store(
      storage: MemoryStorage(), options: StoreOptions(errorHandler: { error in received.add(error) }))
    store.callbackQueue = queue
  }

  /// The errors that the error handler received since the last call.
  public func takeReported() -> [StoreError] { received.takeAll() }

  /// Returns when the condition holds, or after a long timeout.
  public func wait(until isDone: () -> Bool) {
    let deadline = DispatchTime.now() + .seconds(10)
    while !isDone() && .now() < deadline { queue.sync {} }
  }

  /// Returns when all observers that a commit notifies have been called: after a commit that one of them waits for, and
  /// as many calls as may still follow each other.
  public func settle() throws {
    let done = DispatchSemaphore(value: 0)
    let last = try store.observe(.key(try KeyName("settled")), queue: queue) { _ in done.signal() }
    try store.set(.int(.random(in: 0 ... .max)), forKey: "settled")
    done.wait()
    last.cancel()
    for _ in 0..<100 { queue.sync {} }
  }
}

extension DispatchSemaphore {
  /// Waits for the signal, with a timeout.
  public var isSignalled: Bool { wait(timeout: .now() + .seconds(10)) == .success }
}

/// What a callback records.
public final class Notes<Element: Sendable>: Sendable {
  private let values = Mutex<[Element]>([])

  public init() {}

  public func add(_ value: Element) { values.withLock { $0.append(value) } }
  public var all: [Element] { values.withLock { $0 } }

  public func takeAll() -> [Element] {
    values.withLock { values in
      defer { values = [] }
      return values
    }
  }
}

/// A store in a folder of its own, which is removed with it.
public final class SharedFolder: Sendable {
  public let location: String

  public init() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "kept-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    location = folder.appending(path: "store").path
  }

  deinit { try? FileManager.default.removeItem(atPath: (location as NSString).deletingLastPathComponent) }

  /// Makes another process set keys to JSON texts, and waits for it.
  public func writeElsewhere(_ words: String...) throws {
    let tests = URL(filePath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
    let writer = try Process.run(
      tests.deletingLastPathComponent().appending(path: "kept-writer"), arguments: [location] + words)
    writer.waitUntilExit()
    guard writer.terminationStatus == 0 else { throw CocoaError(.executableLoad) }
  }
}
