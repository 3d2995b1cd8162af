// The members of a JSON object that are settings: all of them, or the leaves of nested objects.
//
// Values are read as in Kept's own JSON: an array is one value, and so is an object if objects are not split. A form of
// Extended JSON such as {"$date":…} is the value that it stands for.

import KeptCore

extension ForeignText {
  /// Nested: an object is part of its members' keys, unless it is empty or a form of Extended JSON.
  mutating func readJSON(
    _ bytes: UnsafeBufferPointer<UInt8>, from start: Int, isNested: Bool
  ) throws(StoreError) {
    var members = try JSONMembers(bytes, from: start, isForeign: true)
    // The names of the open objects, from the outermost; the text as a whole has none.
    var open: [String?] = [nil]
    while let outer = open.last {
      try checkAccepted()
      guard let key = try members.nextKey() else {
        open.removeLast()
        continue
      }
      let name = naming.join(outer, key)
      // A name that is too long is not extended further: names inside it would be longer still.
      if isNested, name.utf8.count <= Limits.keyBytes, try members.ahead() == .object, try members.open() {
        open.append(name)
      } else {
        try carry(name, try members.part(), isForm: outer != nil && key.utf8.first == UInt8(ascii: "$"))
      }
    }
  }

  private mutating func carry(_ name: String, _ part: JSONPart, isForm: Bool) throws(StoreError) {
    // A name that begins with a dollar sign beside other members of a nested object is not part of a known form.
    if isForm { return leaveOut(name, "a name that begins with $ stands for a form that Kept does not know") }
    do throws(StoreError) {
      try ask(forReading: part.memory / 4)
      carry(name, try part.value())
    } catch {
      // Without memory the value cannot be read.
      guard error.code != .failed else { throw error }
      leaveOut(name, error.message)
    }
  }
}
