// The cursor that the readers of both kinds of property lists share: a position in the text, and the depth there.

package import KeptValues

/// A position in the text of a property list.
///
/// Each read begins where the previous one ended. An invalid text gives nil; the position is then undefined.
package struct PropertyListReader: TextCursor {
  package let bytes: UnsafeBufferPointer<UInt8>
  package var position = 0
  private var depth = 0
  /// The limit on nested containers.
  private let nesting: Int
  /// The end positions of dictionaries that have a key twice.
  package private(set) var repeats: [Int] = []
  /// The lack of memory that ended the read, although the text may be valid.
  package private(set) var shortage: StoreError?
  // The memory of texts.
  private var allowance = Allowance(each: 64)

  package init(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int = 0, nesting: Int = Limits.nesting) {
    self.bytes = bytes
    self.nesting = nesting
    position = start
  }

  /// Reads the content of a container, unless it is nested too deeply.
  mutating func nested(_ read: (inout PropertyListReader) -> Value?) -> Value? {
    guard depth < nesting else { return nil }
    depth += 1
    defer { depth -= 1 }
    return read(&self)
  }

  /// Reserves space for one more element or member; returns false if memory is lacking.
  mutating func hasRoom<Element>(in elements: inout [Element]) -> Bool {
    do throws(StoreError) {
      // The overhead of an array or a text.
      try allowance.take(0, to: "read a property list")
      try Memory.makeRoom(in: &elements, to: "read a property list")
      return true
    } catch {
      shortage = error
      return false
    }
  }

  /// Returns a dictionary that ends here; of two members with the same key, the later one is kept.
  ///
  /// Returns nil if memory is lacking.
  mutating func dictionary(_ members: [ValueDictionary.Member]) -> Value? {
    // Sorting makes a copy of all members.
    do throws(StoreError) { try Memory.ask(for: 128 * members.count, to: "read a property list") } catch {
      shortage = error
      return nil
    }
    let dictionary = ValueDictionary(members)
    if dictionary.count < members.count { repeats.append(position) }
    return .dictionary(dictionary)
  }
}
