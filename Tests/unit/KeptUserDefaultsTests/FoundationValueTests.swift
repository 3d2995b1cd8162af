// Foundation's value types in a store.

import Foundation
import Kept
import KeptUserDefaults
@testable import KeptValues
import Testing

extension Keys {
  fileprivate static let width = Key<CGFloat>("width", default: 1.5)
  fileprivate static let number = Key("number", default: NSNumber(value: 5), through: .foundation)
  fileprivate static let date = Key<NSDate?>("date", through: .foundation)
  fileprivate static let home = Key<NSURL?>("home", through: .foundation)
  fileprivate static let id = Key<NSUUID?>("id", through: .foundation)
}

@Suite struct `A value of Foundation's` {
  private let settings = Store(storage: MemoryStorage())

  @Test func `is a double where it is a CGFloat`() throws {
    #expect(settings[.width] == 1.5)
    settings[.width] = 2
    #expect(try settings.json(forKey: "width") == "2.0")
    try settings.setJSON("\"wide\"", forKey: "width")
    #expect(throws: StoreError.self) { try settings.value(for: .width) }
    try settings.setJSON("3", forKey: "width")
    #expect(settings[.width] == 3)
  }

  @Test(arguments: [
    (NSNumber(value: true), "true"), (NSNumber(value: -7), "-7"), (NSNumber(value: 0.5), "0.5"),
    (NSNumber(value: UInt64.max), #"{"$numberULong":"18446744073709551615"}"#), (NSNumber(value: UInt8(200)), "200"),
  ])
  func `is what the number was made as`(_ number: NSNumber, _ json: String) throws {
    #expect(settings[.number] == 5)
    settings[.number] = number
    #expect(try settings.json(forKey: "number") == json)
    #expect(settings[.number] == number)
  }

  @Test func `may be a date, an address or an id`() throws {
    let (date, id) = (NSDate(timeIntervalSince1970: 1.5), NSUUID())
    let home = try #require(NSURL(string: "gopher://example.com/1"))
    (settings[.date], settings[.home], settings[.id]) = (date, home, id)
    #expect(settings[.date] == date && settings[.home] == home && settings[.id] == id)
    #expect(try settings.json(forKey: "date") == #"{"$date":"1970-01-01T00:00:01.5Z"}"#)
  }

  @Test func `of another kind is an error, and stays`() throws {
    try settings.set("text", forKey: "number")
    #expect(throws: StoreError.self) { try settings.value(for: .number) }
    #expect(settings[.number] == 5)
    #expect(try settings.value(forKey: "number") == "text")
  }

  @Test func `is any object of a property list, by name`() throws {
    let object: NSDictionary = [
      "text": NSString(string: "a"), "data": NSData(data: Data([1, 2])), "list": NSArray(array: [1, true, 0.5]),
    ]
    try settings.setObject(object, forKey: "all")
    #expect(
      try settings.json(forKey: "all")
        == #"{"data":{"$binary":{"base64":"AQI=","subType":"00"}},"list":[1,true,0.5],"text":"a"}"#)
    #expect(try settings.object(forKey: "all") == object)
    try settings.setObject(nil, forKey: "all")
    #expect(try settings.object(forKey: "all") == nil)
  }

  @Test func `that a store cannot hold is refused, also inside others`() throws {
    try settings.setObject("kept", forKey: "a")
    for object: Any in [NSObject(), [NSObject()], ["k": NSObject()], [1: 2]] {
      #expect(throws: StoreError.self) { try settings.setObject(object, forKey: "a") }
    }
    #expect(try settings.object(forKey: "a") == NSString(string: "kept"))
  }
}
