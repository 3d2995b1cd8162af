// Migrations with typed keys.

import Kept
import Testing

extension Keys {
  fileprivate static let old = Key("volume", default: 50, .range(0...100))
  fileprivate static let percent = Key("audio.volume", default: 50, .range(0...100))
  fileprivate static let volume = Key("audio.volume", default: 0.5)
  fileprivate static let name = Key<String?>("name")
  fileprivate static let twice = Key<Int??>("twice")
}

@Suite struct `A step with typed keys` {
  let test = TestStore()
  var settings: Store { test.store }

  private func migrate(_ run: @escaping @Sendable (Transaction) throws -> Void) throws {
    try settings.migrate([Migration(to: 1, "test", run)])
  }

  @Test func `renames, and says whether there was anything`() throws {
    try settings.declare(.old)
    try settings.set(70, for: .old)
    try migrate { transaction in
      let isMoved = try transaction.rename(.old, to: .percent)
      let isMovedAgain = try transaction.rename(.old, to: .percent)
      #expect(isMoved && !isMovedAgain && transaction[.percent] == 70)
    }
    #expect(settings[.percent] == 70)
    #expect(try settings.declaration(of: .percent) != nil && settings.declaration(of: .old) == nil)
    #expect(failure(.invalid) { try settings.set(101, for: .percent) }.isEmpty == false)
  }

  @Test(arguments: [true, false]) func `gives a key another type under the same name`(_ isDeclared: Bool) throws {
    if isDeclared { try settings.declare(.percent) }
    try settings.set(70, for: .percent)
    try migrate { try $0.retype(from: .percent, to: .volume) { Double($0) / 100 } }
    #expect(settings[.volume] == 0.7)
    #expect(try settings.declaration(of: .volume)?.json == (isDeclared ? #"{"default":0.5,"type":"number"}"# : nil))
  }

  @Test func `gives another type under another name, if nothing is there`() throws {
    try settings.set(70, for: .old)
    try settings.set(0.1, for: .volume)
    let isInTheWay = #expect(throws: MigrationFailure.self) {
      try migrate { try $0.retype(from: .old, to: .volume) { Double($0) / 100 } }
    }
    #expect((isInTheWay?.reason as? StoreError)?.code == .invalid)
    try settings.remove(.volume)
    try migrate { try $0.retype(from: .old, to: .volume) { Double($0) / 100 } }
    #expect(settings[.volume] == 0.7)
    #expect(try settings.keys() == ["audio.volume"])
  }

  @Test func `passes over missing keys, and keeps keys declared without a value`() throws {
    try settings.set("Ann", for: .name)
    try settings.declare(.percent)
    try migrate { transaction in
      let isOld = try transaction.retype(from: .old, to: .volume) { Double($0) }
      let isPercent = try transaction.retype(from: .percent, to: .volume) { Double($0) }
      #expect(!isOld && isPercent)
      let isDropped = try transaction.drop(.name)
      let isDroppedAgain = try transaction.drop(.name)
      #expect(isDropped && !isDroppedAgain)
    }
    #expect(try settings.keys() == [] && settings.declaration(of: .volume) != nil)
  }

  @Test func `says what it cannot read or convert, and changes nothing`() throws {
    struct Odd: Error {}
    try settings.set("loud", forKey: "volume")
    let wrong = #expect(throws: MigrationFailure.self) {
      try migrate { try $0.retype(from: .old, to: .volume) { Double($0) } }
    }
    #expect((wrong?.reason as? StoreError)?.code == .wrongType)
    try settings.set(7, for: .old)
    let odd = #expect(throws: MigrationFailure.self) {
      try migrate { try $0.retype(from: .old, to: .volume) { _ in throw Odd() } }
    }
    #expect(odd?.reason is Odd && settings[.old] == 7)
    #expect(try settings.keys() == ["volume"] && settings.schemaVersion() == 0)
  }

  @Test func `names itself also when it was a subscript that failed`() throws {
    try settings.set(7, for: .old)
    let failure = #expect(throws: MigrationFailure.self) { try migrate { $0[.twice] = .some(nil) } }
    #expect(failure?.name == "test" && (failure?.reason as? StoreError)?.code == .invalid)
    #expect(try settings.schemaVersion() == 0)
  }
}
