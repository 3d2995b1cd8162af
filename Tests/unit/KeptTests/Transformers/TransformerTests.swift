// Transformers alone: both directions, chains, and errors.

import Foundation
import Kept
import Testing

private struct Bar: Codable, Equatable { var baz: String }
private enum Level: Int { case low = 1, high }
private struct Refused: Error, Equatable { let by: String }

private struct Named: Codable, Equatable {
  static let key = CodingUserInfoKey(rawValue: "prefix")
  var name: String

  init(name: String) { self.name = name }

  init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    name = String(text.dropFirst(Self.prefix(decoder.userInfo).count))
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(Self.prefix(encoder.userInfo) + name)
  }

  private static func prefix(_ userInfo: [CodingUserInfoKey: Any]) -> String {
    key.flatMap { userInfo[$0] as? String } ?? ""
  }
}

@Suite struct `A transformer` {
  @Test func `goes through a chain and comes back in reverse`() throws {
    let exclaimed = Transformer<Bar, Bar>(
      transform: { Bar(baz: $0.baz + "!") }, untransform: { Bar(baz: String($0.baz.dropLast())) })
    let chain: Transformer<Bar, String> =
      exclaimed.appending(.json).appending(.custom(encode: { $0.base64EncodedString() }, decode: Data.fromBase64))
    let stored = try chain.transform(Bar(baz: "example"))
    #expect(stored == Data(#"{"baz":"example!"}"#.utf8).base64EncodedString())
    #expect(try chain.untransform(stored) == Bar(baz: "example"))
  }

  @Test func `throws the first error of a chain unchanged, in both directions`() throws {
    func refusing(_ name: String) -> Transformer<Int, Int> {
      Transformer(
        transform: { if $0 < 0 { throw Refused(by: name) } else { $0 } },
        untransform: { if $0 < 0 { throw Refused(by: name) } else { $0 } })
    }
    let chain = refusing("first").appending(refusing("second"))
    #expect(throws: Refused(by: "first")) { try chain.transform(-1) }
    #expect(throws: Refused(by: "second")) { try chain.untransform(-1) }
    let test = TestStore()
    let number = try test.store.handle("number", of: Int.self).map(chain)
    #expect(throws: Refused(by: "first")) { try number.set(-1) }
    try test.store.set(-1, forKey: "number")
    #expect(throws: Refused(by: "second")) { try number.get() }
    #expect(number.value == nil)
    #expect(test.takeReported().map(\.code) == [.wrongType])
  }

  @Test func `makes JSON and property lists, with coders and userInfo of one's own`() throws {
    let key = try #require(Named.key)
    let name = Named(name: "Ada")
    let informed = Transformer<[Named], Data>.json(userInfo: [key: "the "])
    #expect(try informed.transform([name]) == Data(#"["the Ada"]"#.utf8))
    #expect(try informed.untransform(Data(#"["the Ada"]"#.utf8)) == [name])
    let (encoder, decoder) = (PropertyListEncoder(), PropertyListDecoder())
    encoder.outputFormat = .xml
    encoder.userInfo[key] = "a "
    decoder.userInfo[key] = "a "
    let list = Transformer<[Named], Data>.propertyList(encoder: encoder, decoder: decoder)
    let text = String(decoding: try list.transform([name]), as: UTF8.self)
    #expect(text.contains("<string>a Ada</string>"))
    #expect(try list.untransform(Data(text.utf8)) == [name])
  }

  @Test func `makes raw values, and refuses invalid ones`() throws {
    let raw = Transformer<Level, Int>.rawValue
    #expect(try raw.transform(.high) == 2 && raw.untransform(1) == .low)
    #expect(failure(.wrongType) { _ = try raw.untransform(3) } == "holds an Int that is not a Level")
  }
}

extension Data {
  /// The bytes of a text in base 64.
  fileprivate static func fromBase64(_ text: String) throws -> Data {
    guard let data = Data(base64Encoded: text) else { throw Refused(by: "base 64") }
    return data
  }
}
