// A value of a richer format, with what of it Kept has not.

struct ForeignValue {
  var value: Value
  /// Why Kept cannot hold the value; the first reason, if there are several.
  var obstacle: String?
  var losses = Losses()

  /// What a value of Kept does not tell any more.
  struct Losses: Equatable {
    var tuple = false
    var set = false
    var repeatedKey = false

    /// Adds those of another value.
    mutating func add(_ other: Losses) {
      tuple = tuple || other.tuple
      set = set || other.set
      repeatedKey = repeatedKey || other.repeatedKey
    }

    static var repeatedKeySentence: String { "a dictionary has a key twice; the later one counts" }
  }
}
