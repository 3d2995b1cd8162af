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
  /// Why nothing more is read, although the text may be sound.
  private(set) var shortage: StoreError?
  // What texts take.
  private var allowance = Allowance(each: 64)

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

  /// Makes room for one more element or member; false without memory.
  mutating func hasRoom<Element>(in elements: inout [Element]) -> Bool {
    do throws(StoreError) {
      // What an array or a text has beside its place.
      try allowance.take(0, to: "read a property list")
      try Memory.makeRoom(in: &elements, to: "read a property list")
      return true
    } catch {
      shortage = error
      return false
    }
  }

  /// A dictionary that ends here; of two members with the same key the later one stays.
  ///
  /// nil without memory.
  mutating func dictionary(_ members: [ValueDictionary.Member]) -> Value? {
    // The sorting has a copy of all.
    do throws(StoreError) { try Memory.ask(for: 128 * members.count, to: "read a property list") } catch {
      shortage = error
      return nil
    }
    let dictionary = ValueDictionary(members)
    if dictionary.count < members.count { repeats.append(position) }
    return .dictionary(dictionary)
  }
}
