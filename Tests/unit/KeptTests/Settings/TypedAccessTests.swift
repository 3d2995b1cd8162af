// Reading and writing through keys: success, and values that are not of the key's type or cannot be stored.

import FoundationEssentials
import Kept
import Testing

private enum Theme: String, Storable { case system, dark }
private struct Frame: Codable, Storable, Equatable { var width: Int }

/// Fails to encode on request.
private struct Moody: Codable, Storable, Equatable {
  struct Refusal: Error {}
  var works: Bool
  func encode(to encoder: any Encoder) throws {
    guard works else { throw Refusal() }
    var container = encoder.singleValueContainer()
    try container.encode("fine")
  }
  init(works: Bool) { self.works = works }
  init(from decoder: any Decoder) throws { works = try decoder.singleValueContainer().decode(String.self) == "fine" }
}

extension Keys {
  fileprivate static let volume = Key("audio.volume", default: 50)
  fileprivate static let small = Key<UInt8>("audio.volume", default: 5)
  fileprivate static let name = Key<String?>("name")
  fileprivate static let theme = Key("theme", default: Theme.system)
  fileprivate static let themes = Key("themes", default: [Theme.system])
  fileprivate static let frame = Key<Frame?>("frame")
  fileprivate static let moody = Key("moody", default: Moody(works: false))
}

@Suite struct TypedAccessTests {
  let test = TestStore()
  var settings: Store { test.store }

  @Test func `a set value is read, contained, and has a revision`() throws {
    #expect(try settings.contains(.volume) == false)
    #expect(try settings.revision(of: .volume) == nil)
    try settings.set(70, for: .volume)
    #expect(try settings.value(for: .volume) == 70)
    #expect(try settings.contains(.volume))
    #expect(try settings.revision(of: .volume) == 1)
    #expect(try settings.value(forKey: "audio.volume") == 70)
  }

  @Test func `removing returns a key to its default and says whether there was something`() throws {
    settings[.volume] = 70
    #expect(try settings.remove(.volume))
    #expect(try !settings.remove(.volume))
    #expect(settings[.volume] == 50)
  }

  @Test func `setting nil removes`() throws {
    settings[.name] = "Ada"
    settings[.name] = nil
    #expect(try settings.keys() == [])
    try settings.set("Ada", for: .name)
    try settings.set(nil, for: .name)
    #expect(try settings.keys() == [])
  }

  @Test func `a value is set only at the revision that was read`() throws {
    let first = try settings.set(60, for: .volume, ifRevision: 0)
    #expect(try settings.set(61, for: .volume, ifRevision: first) > first)
    _ = failure(.conflict) { try settings.set(62, for: .volume, ifRevision: first) }
    _ = failure(.conflict) { try settings.set(62, for: .volume, ifRevision: 0) }
    _ = failure(.invalid) { try settings.set(nil, for: .name, ifRevision: 0) }
    #expect(settings[.volume] == 61)
  }

  @Test func `a member of a stored struct can be changed in place`() {
    settings[.frame]?.width = 9
    #expect(settings[.frame] == nil)
    settings[.frame] = Frame(width: 1)
    settings[.frame]?.width += 1
    #expect(settings[.frame] == Frame(width: 2))
  }

  // MARK: The stored value is not of the key's type

  /// Stores a value, reads it through a key in every way, and expects one error and an unchanged value.
  private func expectMismatch<T: Storable & Equatable>(
    _ key: Key<T>, over stored: Value, _ sentence: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    try settings.set(stored, forKey: key.name)
    #expect(failure(.wrongType) { _ = try settings.value(for: key) } == sentence, sourceLocation: sourceLocation)
    #expect(failure(.wrongType) { try settings.updateValue(key) { _ in } } == sentence, sourceLocation: sourceLocation)
    #expect(test.takeReported().isEmpty, sourceLocation: sourceLocation)

    #expect(settings[key] == key.defaultValue, sourceLocation: sourceLocation)
    #expect(test.takeReported().map(\.description) == [sentence], sourceLocation: sourceLocation)

    #expect(try settings.contains(key), sourceLocation: sourceLocation)
    #expect(try settings.revision(of: key) != nil, sourceLocation: sourceLocation)
    #expect(try settings.value(forKey: key.name) == stored, sourceLocation: sourceLocation)
  }

  @Test func `a value of another kind is an error or the default under every accessor, and untouched`() throws {
    try expectMismatch(.volume, over: "loud", #""audio.volume": holds a string, not an int"#)
    try expectMismatch(.volume, over: true, #""audio.volume": holds a bool, not an int"#)
    try expectMismatch(.volume, over: 3.5, #""audio.volume": holds a double that Int cannot hold exactly"#)
    try expectMismatch(.small, over: 256, #""audio.volume": holds an int that UInt8 cannot hold exactly"#)
    try expectMismatch(.name, over: 1, #""name": holds an int, not a string"#)
    try expectMismatch(Key<Date?>("d"), over: 1, #""d": holds an int, not a date"#)
    try expectMismatch(Key<Data?>("d"), over: "AA==", #""d": holds a string, not bytes"#)
    try expectMismatch(Key("d", default: 0.5), over: false, #""d": holds a bool, not a double"#)
    try expectMismatch(Key("d", default: false), over: 0, #""d": holds an int, not a bool"#)
    try expectMismatch(Key("d", default: [1]), over: ["a": 1], #""d": holds a dictionary, not an array"#)
    try expectMismatch(Key("d", default: ["a": 1]), over: [1], #""d": holds an array, not a dictionary"#)
  }

  @Test func `unknown raw values, alone and in an array, are an error or the default, and untouched`() throws {
    try expectMismatch(.theme, over: "sepia", #""theme": holds a string that is not a Theme"#)
    try expectMismatch(.themes, over: ["dark", "sepia"], #""themes": at [1]: holds a string that is not a Theme"#)
  }

  @Test func `an undecodable Codable is an error or the default, and untouched`() throws {
    try expectMismatch(.frame, over: ["height": 1], #""frame": has no member "width""#)
    try expectMismatch(.frame, over: ["width": "wide"], #""frame": at .width: holds a string, not an int"#)
    try expectMismatch(.frame, over: [640], #""frame": holds an array, not a dictionary"#)
  }

  @Test func `a value of another kind can be replaced and removed`() throws {
    try settings.set("loud", forKey: "audio.volume")
    settings[.volume] = 3
    #expect(try settings.value(forKey: "audio.volume") == 3)
    try settings.set("loud", forKey: "audio.volume")
    #expect(try settings.remove(.volume))
    #expect(test.takeReported().isEmpty)
  }

  // MARK: The given value cannot be stored

  @Test func `a value that cannot be encoded leaves the old one, thrown or reported`() throws {
    settings[.moody] = Moody(works: true)
    let sentence = #""moody": cannot be encoded: Refusal()"#
    #expect(failure(.invalid) { try settings.set(Moody(works: false), for: .moody) } == sentence)
    #expect(failure(.invalid) { try settings.set(Moody(works: false), for: .moody, ifRevision: 1) } == sentence)
    #expect(failure(.invalid) { try settings.updateValue(.moody) { $0.works = false } } == sentence)
    settings[.moody] = Moody(works: false)
    #expect(test.takeReported().map(\.description) == [sentence])
    #expect(try settings.value(forKey: "moody") == "fine")
  }

  @Test func `a value over the limits is refused with its key, and the old one stays`() throws {
    settings[.name] = "Ada"
    let long = String(repeating: "x", count: Limits.valueBytes + 1)
    #expect(failure(.tooLarge) { try settings.set(long, for: .name) }.hasPrefix("\"name\": "))
    #expect(settings[.name] == "Ada")
    let names = Key<[String: Int]>("names", default: [:])
    _ = failure(.invalid) { try settings.set(["a\0b": 1], for: names) }
  }

  // MARK: The store cannot be reached

  @Test func `a closed store throws, and its subscript gives the default and reports`() {
    settings.close()
    _ = failure(.closed) { _ = try settings.value(for: .volume) }
    _ = failure(.closed) { try settings.set(1, for: .volume) }
    _ = failure(.closed) { try settings.updateValue(.volume) { $0 += 1 } }
    #expect(settings[.volume] == 50)
    settings[.volume] = 1
    #expect(test.takeReported().map(\.code) == [.closed, .closed])
  }
}
