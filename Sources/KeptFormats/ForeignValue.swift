// A value of a richer format, and what Kept cannot represent of it.

import KeptCore

struct ForeignValue {
  var value: Value
  /// Why Kept cannot represent the value; the first reason if there are several.
  var obstacle: String?
  var losses = Losses()

  /// The information that is lost in the converted value.
  struct Losses: Equatable {
    var tuple = false
    var set = false
    var repeatedKey = false

    /// Adds the losses of another value.
    mutating func add(_ other: Losses) {
      tuple = tuple || other.tuple
      set = set || other.set
      repeatedKey = repeatedKey || other.repeatedKey
    }

    static var repeatedKeySentence: String { "a dictionary has a key twice; the later one counts" }
  }
}
