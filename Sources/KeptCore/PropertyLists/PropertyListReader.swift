// The reading position and nesting depth that both kinds of property lists use.

/// A reading position in the text of a property list.
///
/// Each read begins where the previous one ended. A read that fails returns nil; the position is then undefined.
struct PropertyListReader: TextCursor {
  let bytes: UnsafeBufferPointer<UInt8>
  var position = 0
  private var depth = 0
  /// How many containers may be nested.
  private let nesting: Int
  /// The end offsets of dictionaries with a repeated key.
  private(set) var repeats: [Int] = []
  /// Why nothing more is read, although the text may be valid.
  private(set) var shortage: StoreError?
  private var allowance = Allowance(each: 64)
  // The memory for texts.

  init(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int = 0, nesting: Int = Limits.nesting) {
    self.bytes = bytes
    self.nesting = nesting
    position = start
  }

  /// Reads the inside of a container, unless it is nested too deeply.
  mutating func nested(_ read: (inout PropertyListReader) -> Value?) -> Value? {
    guard depth < nesting else { return nil }
    depth += 1
    defer { depth -= 1 }
    return read(&self)
  }

  /// Reserves room for one more element or member; returns false without memory.
  mutating func hasRoom<Element>(in elements: inout [Element]) -> Bool {
    do throws(StoreError) {
      try allowance.take(0, to: "read a property list")
      // The memory of an array or a text beside its element.
      try Memory.makeRoom(in: &elements, to: "read a property list")
      return true
    } catch {
      shortage = error
      return false
    }
  }

  /// Creates the dictionary that ends here; of two members with the same key the later one is kept.
  ///
  /// Returns nil without memory.
  mutating func dictionary(_ members: [ValueDictionary.Member]) -> Value? {
    // The sort copies all members.
    do throws(StoreError) { try Memory.ask(for: 128 * members.count, to: "read a property list") } catch {
      shortage = error
      return nil
    }
    let dictionary = ValueDictionary(members)
    if dictionary.count < members.count { repeats.append(position) }
    return .dictionary(dictionary)
  }
}
