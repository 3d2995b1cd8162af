// The default store of the process, which can be set only once: this file has the only test in this process that does.

import InMemoryLogging
import Kept
import KeptValues
import Logging
import Testing

@Suite struct `The process's own store` {
  @Test func `logs that it could not be opened, whenever it is used`() throws {
    let log = InMemoryLogHandler()
    #expect(throws: StoreError.self) {
      try Store.bootstrap("etcd://nowhere", logger: Logger(label: "test") { _ in log })
    }
    #expect(log.entries.isEmpty, "a thrown error is not logged")
    #expect(Store.default[Key("audio.volume", default: 50)] == 50)
    let line = try #require(log.entries.first)
    #expect(line.metadata["kept.store"] == "etcd://nowhere" && line.metadata["kept.code"] == "unsupported")
  }
}
