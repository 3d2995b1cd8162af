// What both kinds of property lists are read with: a place in the text that moves on, and how deep it is.

/// A place in the text of a property list.
///
/// Each reading begins where the one before ended. What cannot be read is nil; the place is then of no use.
struct PropertyListReader: TextCursor {
  let bytes: UnsafeBufferPointer<UInt8>
  var position = 0
  private var depth = 0
  /// How many containers may stand inside each other.
  private let nesting: Int
  /// Where dictionaries end that have a key twice.
  private(set) var repeats: [Int] = []

  init(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int = 0, nesting: Int = Limits.nesting) {
    self.bytes = bytes
    self.nesting = nesting
    position = start
  }

  /// Reads the inside of a container, if it is not one too many.
  mutating func nested(_ read: (inout PropertyListReader) -> Value?) -> Value? {
    guard depth < nesting else { return nil }
    depth += 1
    defer { depth -= 1 }
    return read(&self)
  }

  /// A dictionary that ends here; of two members with the same key the later one stays.
  mutating func dictionary(_ members: [(ExactString, Value)]) -> Value {
    let dictionary = ValueDictionary(members)
    if dictionary.count < members.count { repeats.append(position) }
    return .dictionary(dictionary)
  }
}
