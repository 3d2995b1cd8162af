// Enums and Codable types are stored without conversions by the caller, in a readable form.

import FoundationEssentials
import Kept
import Testing

private enum Tab: String, Storable { case home, search }
private struct Activity: Codable, Storable, Equatable {
  var id: UUID
  var name: String
  var since: Date?
}

extension Keys {
  fileprivate static let lastTab = Key("LastTab", default: Tab.home)
  fileprivate static let activity = Key<Activity?>("Activity")
}

@Suite struct RawAndCodableTests {
  @Test func `an enum is set and read as its raw value, and an unknown one is an error or the default`() throws {
    let test = TestStore()
    let settings = test.store
    try settings.set(.search, for: .lastTab)
    #expect(try settings.value(forKey: "LastTab") == "search")
    #expect(try settings.value(for: .lastTab) == .search)
    try settings.set("profile", forKey: "LastTab")
    _ = failure(.wrongType) { _ = try settings.value(for: .lastTab) }
    #expect(settings[.lastTab] == .home && test.takeReported().map(\.code) == [.wrongType])
    #expect(try settings.value(forKey: "LastTab") == "profile", "it stays for the version that knows it")
  }

  @Test func `a Codable value is set and read as an object that every language sees`() throws {
    let settings = TestStore().store
    let activity = Activity(id: UUID(), name: "Reading", since: Date(timeIntervalSince1970: 5))
    try settings.set(activity, for: .activity)
    let stored: Value = [
      "id": .string(activity.id.uuidString), "name": "Reading", "since": .date(try Timestamp(seconds: 5)),
    ]
    #expect(try settings.value(forKey: "Activity") == stored)
    #expect(try settings.value(for: .activity) == activity)
    try settings.set(["id": "none", "name": "x"], forKey: "Activity")
    #expect(
      failure(.wrongType) { _ = try settings.value(for: .activity) }.contains(
        "at .id: holds a string that is not a UUID"))
    #expect(settings[.activity] == nil)
    try settings.set(nil, for: .activity)
    #expect(try settings.value(forKey: "Activity") == nil)
  }
}
