// Which members of a JSON object are settings: all of them, or those at the ends of nested objects.
//
// Values are read in Kept's profile: an array, and an object where nesting has no meaning, is one value, and a form of
// Extended JSON such as {"$date":…} is what it stands for.

extension ForeignText {
  /// Nested: an object is a part of the keys of its members, unless it is empty or a form of Extended JSON.
  mutating func readJSON(
    _ bytes: UnsafeBufferPointer<UInt8>, from start: Int, isNested: Bool
  ) throws(StoreError) {
    var members = try JSONMembers(bytes, from: start, isForeign: true)
    // The names of the objects that are open, from the outside; the text as a whole has none.
    var open: [String?] = [nil]
    while let outer = open.last {
      try checkAccepted()
      guard let key = try members.nextKey() else {
        open.removeLast()
        continue
      }
      let name = naming.join(outer, key)
      // A name that is too long is not carried on: names inside of it would be longer yet.
      if isNested, name.utf8.count <= Limits.keyBytes, try members.ahead() == .object, try members.open() {
        open.append(name)
      } else {
        try carry(name, try members.part(), isForm: outer != nil && key.utf8.first == UInt8(ascii: "$"))
      }
    }
  }

  private mutating func carry(_ name: String, _ part: JSONPart, isForm: Bool) throws(StoreError) {
    // What begins with a dollar sign beside other members of a nested object is part of no form that Kept knows.
    if isForm { return leaveOut(name, "a name that begins with $ stands for a form that Kept does not know") }
    do throws(StoreError) {
      try ask(forReading: part.memory / 4)
      carry(name, try part.value())
    } catch {
      // Without memory nothing is known of the value.
      guard error.code != .failed else { throw error }
      leaveOut(name, error.message)
    }
  }
}
