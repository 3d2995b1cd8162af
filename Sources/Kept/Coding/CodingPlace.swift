// The state that all containers of one encoding or decoding share: their place, and the caller's `userInfo`.

struct CodingPlace {
  let path: [any CodingKey]
  let userInfo: [CodingUserInfoKey: any Sendable]

  func at(_ key: any CodingKey) -> CodingPlace { CodingPlace(path: path + [key], userInfo: userInfo) }
  func at(_ index: Int) -> CodingPlace { at(StepKey(intValue: index)) }
}

/// A coding key for elements of an array, and for `super`.
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

  /// The default key under which a class stores its superclass.
  static let superclass = StepKey(stringValue: "super")
}
