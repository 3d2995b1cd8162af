// Codable values as bytes in a format, in place of a value that C and Python can read.

public import FoundationEssentials

extension Transformer where Input: Codable, Output == Data {
  /// JSON in Foundation's format, with the members of objects ordered by name.
  public static var json: Transformer { .json() }

  /// JSON with your own coders, such as one with a date strategy.
  ///
  /// Do not change them afterwards: other threads may be using them. An encoder without `.sortedKeys` may write the
  /// same value as different bytes the next time, which counts as a change.
  public static func json(encoder: JSONEncoder? = nil, decoder: JSONDecoder = JSONDecoder()) -> Transformer {
    let encoder = encoder ?? .sorting
    return Transformer(
      transform: { try encoder.encode($0) }, untransform: { try decoder.decode(Input.self, from: $0) })
  }

  /// JSON with a `userInfo` for the types' own coding.
  public static func json(userInfo: [CodingUserInfoKey: any Sendable]) -> Transformer {
    let (encoder, decoder) = (JSONEncoder.sorting, JSONDecoder())
    (encoder.userInfo, decoder.userInfo) = (userInfo, userInfo)
    return .json(encoder: encoder, decoder: decoder)
  }

  /// A binary property list.
  public static var propertyList: Transformer { .propertyList() }

  /// A property list with your own coders, for another format or with a `userInfo`.
  ///
  /// Do not change them afterwards: other threads may be using them.
  public static func propertyList(
    encoder: PropertyListEncoder = PropertyListEncoder(), decoder: PropertyListDecoder = PropertyListDecoder()
  ) -> Transformer {
    Transformer(transform: { try encoder.encode($0) }, untransform: { try decoder.decode(Input.self, from: $0) })
  }
}

extension JSONEncoder {
  /// Writes the same value as the same bytes; otherwise writing it again would be a change.
  fileprivate static var sorting: JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return encoder
  }
}
