// What a program without an error handler sees of failures: in a debug build, the first one of each kind.

import Foundation
import Kept
import Testing

extension Keys {
  fileprivate static let volume = Key("audio.volume", default: 50)
}

@Suite struct `Errors without a handler` {
  /// Kept's lines in the standard error of a process.
  private func lines(_ process: ExitTest.Result?) throws -> [String] {
    let text = String(decoding: try #require(process).standardErrorContent, as: UTF8.self)
    return text.split(separator: "\n").filter { $0.hasPrefix("kept: ") }.map { String($0.dropFirst("kept: ".count)) }
  }

  @Test func `are printed by a debug build, the first of each kind, with the line that turns it off`() async throws {
    let process = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      for _ in 1...3 {
        let store = Store(storage: MemoryStorage())
        try store.set("loud", forKey: "audio.volume")
        for _ in 1...3 { _ = store[.volume] }
        _ = store[Key("audio.volume", default: true)]
        store.close()
        _ = store[.volume]
      }
    }
    let lines = try lines(process)
    #if DEBUG
    #expect(lines.contains("\"audio.volume\": holds a string, not an int"))
    #expect(!lines.contains("\"audio.volume\": holds a string, not a bool"))
    #expect(lines.filter { $0.contains("StoreOptions(errorHandler: { _ in })") }.count == 2)
    #expect(lines.filter { $0.contains("\"wrong type\"") }.count == 1)
    #expect(lines.filter { $0.contains("\"closed\"") }.count == 1)
    #else
    #expect(lines.isEmpty)
    #endif
  }

  @Test func `are not printed with a handler, even an empty one`() async throws {
    let process = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      for options in [StoreOptions(errorHandler: { _ in }), StoreOptions(errorHandler: { print($0) })] {
        let store = Store(storage: MemoryStorage(), options: options)
        try store.set("loud", forKey: "audio.volume")
        _ = store[.volume]
      }
    }
    #expect(try lines(process).isEmpty)
  }
}
