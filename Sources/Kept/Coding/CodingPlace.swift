// What all containers of one encoding or decoding know: where they are, and what the caller handed in.

struct CodingPlace {
  let path: [any CodingKey]
  let userInfo: [CodingUserInfoKey: any Sendable]

  func at(_ key: any CodingKey) -> CodingPlace { CodingPlace(path: path + [key], userInfo: userInfo) }
  func at(_ index: Int) -> CodingPlace { at(StepKey(intValue: index)) }
}

/// A coding key for what has none: an element of an array, and `super`.
struct StepKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(stringValue: String) {
    self.stringValue = stringValue
    intValue = nil
  }

  init(intValue: Int) {
    stringValue = "Index \(intValue)"
    self.intValue = intValue
  }

  /// Under which a class stores its superclass, unless it says otherwise.
  static let superclass = StepKey(stringValue: "super")
}
