// A value of a richer format, with what of it Kept has not.

struct ForeignValue {
  var value: Value
  /// Why Kept cannot hold the value; the first reason, if there are several.
  var obstacle: String?
  var losses: Losses = []

  /// What a value of Kept does not tell any more.
  struct Losses: OptionSet {
    let rawValue: UInt8
    static var tuple: Losses { Losses(rawValue: 1) }
    static var set: Losses { Losses(rawValue: 2) }
    static var repeatedKey: Losses { Losses(rawValue: 4) }

    var sentences: [String] {
      var sentences: [String] = []
      if contains(.tuple) { sentences.append("a tuple is carried as an array") }
      if contains(.set) { sentences.append("a set is carried as an array") }
      if contains(.repeatedKey) { sentences.append(Self.repeatedKeySentence) }
      return sentences
    }

    static var repeatedKeySentence: String { "a dictionary has a key twice; the later one counts" }
  }
}
