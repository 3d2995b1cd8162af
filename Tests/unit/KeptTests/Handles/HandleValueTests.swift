// One setting as an object: read, written, removed, described.

import Foundation
import Kept
import Testing

extension Keys {
  fileprivate static let volume = Key("audio.volume", default: 50)
  fileprivate static let name = Key<String?>("name")
}

@Suite struct `A handle` {
  let test = TestStore()
  var settings: Store { test.store }

  @Test func `is a value object for every native type, and containers of them`() throws {
    func check<Value: Storable & Equatable>(_ values: Value...) throws {
      let handle = try settings.handle("\(Value.self)", of: Value.self)
      #expect(handle.value == nil)
      for value in values {
        handle.value = value
        #expect(try handle.get() == value)
      }
      handle << nil
      #expect(handle.value == nil && test.takeReported().isEmpty)
    }
    try check(true, false)
    try check(Int.min, -1, Int.max)
    try check(Int8.min, Int8.max)
    try check(Int16.min, Int16.max)
    try check(Int32.min, Int32.max)
    try check(Int64.min, Int64.max)
    try check(UInt.min, UInt.max)
    try check(UInt8.min, UInt8.max)
    try check(UInt16.min, UInt16.max)
    try check(UInt32.min, UInt32.max)
    try check(UInt64.min, UInt64.max)
    try check(Float.pi, -0.0, .greatestFiniteMagnitude)
    try check(0.1, Double.infinity, .leastNonzeroMagnitude)
    try check("", "\u{0}é👩‍👩‍👧")
    try check(Data(), Data([0, 255]))
    try check(Date(timeIntervalSinceReferenceDate: 0.25))
    try check(#require(URL(string: "kept:any?scheme#of")), URL(filePath: "/tmp"))
    try check(UUID())
    try check([[1, 2], []], [[-3]])
    try check(["a": [Date(timeIntervalSince1970: 1)], "": []])
    try check([1, nil, 3], [])
  }

  @Test func `reads and writes its key, and removing gives the default`() throws {
    let volume = try settings.handle(.volume)
    #expect(volume.value == 50 && volume.isDefault)
    volume.value = 60
    #expect(volume.value == 60 && settings[.volume] == 60 && !volume.isDefault)
    settings[.volume] = 70
    #expect(try volume.get() == 70)
    let (removed, removedAgain) = (try volume.remove(), try volume.remove())
    #expect(removed && !removedAgain && volume.value == 50)
    try volume.set(80)
    #expect(settings[.volume] == 80)
    #expect(test.takeReported().isEmpty)
  }

  @Test func `is removed by nil, assigned or shifted in`() throws {
    let (volume, name) = (try settings.handle(.volume), try settings.handle(.name))
    volume << 60
    name << "Ada"
    #expect(settings[.volume] == 60 && settings[.name] == "Ada")
    volume << nil
    name << nil
    #expect(try settings.keys() == [])
    name.value = "Ada"
    name.value = nil
    #expect(try settings.keys() == [])
    #expect(test.takeReported().isEmpty)
  }

  @Test func `reads the default for a value of another type, says so, and leaves it stored`() throws {
    let volume = try settings.handle(.volume)
    try settings.set("loud", forKey: "audio.volume")
    #expect(volume.value == 50)
    #expect(test.takeReported().map(\.code) == [.wrongType])
    #expect(failure(.wrongType) { _ = try volume.get() } == #""audio.volume": holds a string, not an int"#)
    #expect(try settings.value(forKey: "audio.volume") == "loud")
  }

  @Test func `keeps the old value when a write fails, and says so`() throws {
    let born = try settings.handle(Key("born", default: Date(timeIntervalSince1970: 0)))
    born.value = Date(timeIntervalSince1970: 1)
    born.value = .distantFuture.addingTimeInterval(1e12)
    #expect(born.value == Date(timeIntervalSince1970: 1))
    #expect(test.takeReported().map(\.code) == [.invalid])
  }

  @Test func `with a default reads as it again once removed`() throws {
    let name = try settings.handle(.name).defaulted(to: "nobody")
    let length: Int = name.value.count
    #expect(length == 6)
    name << "Ada"
    #expect(name.value == "Ada" && settings[.name] == "Ada")
    try name.remove()
    #expect(name.value == "nobody" && settings[.name] == nil)
    try settings.set(5, forKey: "name")
    #expect(name.value == "nobody")
    #expect(test.takeReported().map(\.code) == [.wrongType])
  }

  @Test func `prints its type and key, or its label`() throws {
    let volume = try settings.handle(.volume)
    #expect("\(volume)" == #"Handle<Int>(key: "audio.volume")"#)
    #expect(volume.key == "audio.volume")
    #expect("\(try settings.handle("size", of: Int.self))" == #"Handle<Int>(key: "size")"#)
    #expect("\(try settings.handle(.name))" == #"Handle<String>(key: "name")"#)
    #expect("\(try settings.handle("sizes", of: [Int].self).erased())" == #"Handle<Array<Int>>(key: "sizes")"#)
    volume.label = "loudness"
    #expect("\(volume)" == "loudness")
    volume.label = nil
    try volume.destroy()
    #expect("\(volume)" == #"Handle<Int>(key: "audio.volume", destroyed)"#)
  }

  @Test func `goes into a list with handles of other types`() async throws {
    let (volume, name) = (try settings.handle(.volume), try settings.handle(.name))
    let list = [volume.erased(), name.erased()]
    #expect(list.map(\.key) == ["audio.volume", "name"])
    #expect(list.map { "\($0.valueType)" } == ["Int", "Optional<String>"])
    try list[0].set(60)
    #expect(volume.value == 60 && list[0].value as? Int == 60)
    let sentence = failure(.wrongType) { try list[0].set("loud") }
    #expect(sentence == #""audio.volume": the value is of type String, but the handle is of type Int"#)
    #expect(list[0].handle(of: Int.self) === volume && list[0].handle(of: String.self) == nil)
    var received = Received<Int?>()
    let note = received.note
    let subscription = try list[0].observe { note($0 as? Int) }
    volume.value = 70
    #expect(try await received.take() == [70])
    subscription.cancel()
    list[0].value = 80
    #expect(volume.value == 80 && list[0].value as? Int == 80)
    list[0].value = "loud"
    #expect(volume.value == 80)
    #expect(test.takeReported().map(\.description) == [sentence])
    list[1].value = "Ada"
    #expect(name.value == "Ada")
    list[1].value = String?.none
    #expect(try name.value == nil && !settings.contains(.name))
    list[1].label = "who"
    #expect("\(name)" == "who" && "\(list[1])" == "who")
    try list[0].remove()
    #expect(try list[0].get() as? Int == 50)
    try list[1].destroy()
    #expect(name.isDestroyed && list[1].isDestroyed)
  }

  @Test func `that cannot be made is an error or nil, never a trap`() throws {
    #expect(Handle(.volume, in: settings) != nil)
    let text = Key<String?>("audio.volume")
    _ = failure(.typeConflict) { _ = try settings.handle(text) }
    #expect(Handle(text, in: settings) == nil)
    let nameless = Key("", default: 0)
    _ = failure(.invalid) { _ = try settings.handle(nameless) }
    #expect(Handle(nameless, in: settings) == nil)
    settings.close()
    _ = failure(.closed) { _ = try settings.handle(.name) }
    #expect(Handle(.name, in: settings) == nil)
    #expect((try? settings.handle(.name)) == nil)
  }

  @Test func `of a key on disk reads what the index knows`() throws {
    let folder = try SharedFolder()
    let (here, there) = (try folder.store(), try folder.store())
    let (volume, ratio) = (try here.handle(.volume), try here.handle(Key("ratio", default: 0.5)))
    let isOn = try here.handle(Key("on", default: false))
    for round in 1...100 {
      volume.value = round
      there[.volume] += 1
      #expect(volume.value == round + 1)
      ratio.value = Double(round)
      isOn.value.toggle()
      #expect(ratio.value == Double(round) && isOn.value == (round % 2 == 1))
    }
    try volume.destroy()
    there[.volume] = 5
    #expect(volume.value == 50)
  }
}
