// Handles of keys whose default is written back: these writes, too, stop once the key is destroyed.

import Foundation
import Kept
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(30))) struct `A handle that writes its default back` {
  let test = TestStore()
  var settings: Store { test.store }

  @Test func `does so, and keeps what it could not read`() throws {
    let volume = try settings.handle(Key("volume", default: 50, persistDefault: .both))
    #expect(try volume.get() == 50)
    #expect(try settings.value(forKey: "volume") == 50)
    try settings.set("loud", forKey: "volume")
    #expect(volume.value == 50)
    #expect(try settings.value(forKey: "volume") == 50)
    #expect(try settings.value(forKey: "volume.quarantined") == "loud")
  }

  @Test func `writes none once it is destroyed, though its default was asked for before`() throws {
    let settings = settings
    for unreadable in [false, true] {
      let place = Mutex<Handle<Int>?>(nil)
      let key = Key(
        "volume",
        default: {
          try? place.withLock { $0 }?.destroy()
          return 50
        }(), persistDefault: .both)
      let volume = try settings.handle(key)
      place.withLock { $0 = volume }
      if unreadable { try settings.set("loud", forKey: "volume") }
      #expect(volume.value == 50)
      #expect(volume.isDestroyed)
      #expect(try settings.keys() == [])
      #expect(!test.takeReported().isEmpty)
    }
  }

  @Test func `writes none while another thread destroys it`() throws {
    let settings = settings
    for _ in 0..<2000 {
      let volume = try settings.handle(Key("volume", default: 50, persistDefault: .whenAbsent))
      DispatchQueue.concurrentPerform(iterations: 2) { thread in
        if thread == 0 { _ = volume.value } else { #expect(throws: Never.self) { try volume.destroy() } }
      }
      #expect(try settings.keys() == [])
    }
  }
}
