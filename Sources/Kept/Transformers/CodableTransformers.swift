// Codable values as bytes, for those who want the bytes of a format instead of a value that C and Python can read.

public import FoundationEssentials

extension Transformer where Input: Codable, Output == Data {
  /// JSON as Foundation writes it, with the members of objects in the order of their names.
  public static var json: Transformer { .json() }

  /// JSON by your own coders, such as one with a strategy for dates.
  ///
  /// Do not change them afterwards: other threads may be using them. An encoder without `.sortedKeys` may write the
  /// same value in other bytes the next time, which then is a change.
  public static func json(encoder: JSONEncoder? = nil, decoder: JSONDecoder = JSONDecoder()) -> Transformer {
    let encoder = encoder ?? .sorting
    return Transformer(
      transform: { try encoder.encode($0) }, untransform: { try decoder.decode(Input.self, from: $0) })
  }

  /// JSON, with what the types' own coding is to be told.
  public static func json(userInfo: [CodingUserInfoKey: any Sendable]) -> Transformer {
    let (encoder, decoder) = (JSONEncoder.sorting, JSONDecoder())
    (encoder.userInfo, decoder.userInfo) = (userInfo, userInfo)
    return .json(encoder: encoder, decoder: decoder)
  }

  /// A binary property list.
  public static var propertyList: Transformer { .propertyList() }

  /// A property list by your own coders: one with another format, or with something in its `userInfo`.
  ///
  /// Do not change them afterwards: other threads may be using them.
  public static func propertyList(
    encoder: PropertyListEncoder = PropertyListEncoder(), decoder: PropertyListDecoder = PropertyListDecoder()
  ) -> Transformer {
    Transformer(transform: { try encoder.encode($0) }, untransform: { try decoder.decode(Input.self, from: $0) })
  }
}

extension JSONEncoder {
  /// Writes the same value as the same bytes: else writing it again were a change.
  fileprivate static var sorting: JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return encoder
  }
}
