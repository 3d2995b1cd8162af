// The edits of a batch. Most batches have one edit, and some have thousands: a dictionary would cost more in both
// cases.

import CPlatform

extension Batch {
  /// The edits of some keys: one edit for each key, in insertion order.
  public struct Edits: RandomAccessCollection, Sendable {
    // Invariant: no two have the same key.
    private var edits: [(key: KeyName, edit: Edit)] = []
    // A hash table from a key to its edit: the edit's index plus 1, or 0 for an empty slot. At most half of the slots
    // are used. The table is empty while there are so few edits that a linear search is used.
    private var places: [UInt32] = []

    private static let few = 8

    init() {}

    /// Reserves room for a number of edits: growing would temporarily take up to three times as much.
    mutating func reserve(_ count: Int) { edits.reserveCapacity(count) }

    public var startIndex: Int { 0 }
    public var endIndex: Int { edits.count }
    public subscript(index: Int) -> (key: KeyName, edit: Edit) { edits[index] }

    /// The edit of a key.
    public subscript(key: KeyName) -> Edit? { index(of: key).map { edits[$0].edit } }

    /// Adds an edit, or replaces the edit of the key.
    mutating func put(_ key: KeyName, _ edit: Edit) {
      if let index = index(of: key) { return edits[index].edit = edit }
      edits.append((key, edit))
      if edits.count * 2 > Swift.max(places.count, Self.few * 2) {
        makePlaces()
      } else if !places.isEmpty {
        places[freePlace(key)] = UInt32(edits.count)
      }
    }

    /// Removes an edit; slow if there are many.
    mutating func remove(_ key: KeyName) {
      guard let index = index(of: key) else { return }
      edits.remove(at: index)
      guard !places.isEmpty else { return }
      places = Array(repeating: 0, count: places.count)
      for index in edits.indices { places[freePlace(edits[index].key)] = UInt32(index + 1) }
    }

    private func index(of key: KeyName) -> Int? {
      if places.isEmpty { return edits.indices.first { hasEdit($0, of: key) } }
      var place = home(key)
      while places[place] != 0 {
        let index = Int(places[place]) - 1
        if hasEdit(index, of: key) { return index }
        place = (place + 1) & (places.count - 1)
      }
      return nil
    }

    private mutating func makePlaces() {
      // A power of two.
      places = Array(repeating: 0, count: Swift.max(places.count, Self.few * 2) * 2)
      for index in edits.indices { places[freePlace(edits[index].key)] = UInt32(index + 1) }
    }

    private func freePlace(_ key: KeyName) -> Int {
      var place = home(key)
      while places[place] != 0 { place = (place + 1) & (places.count - 1) }
      return place
    }

    @inline(__always)
    private func hasEdit(_ index: Int, of key: KeyName) -> Bool {
      edits[index].key.hash == key.hash && edits[index].key == key
    }

    @inline(__always)
    private func home(_ key: KeyName) -> Int { Int(kept_first_group(key.hash, UInt64(places.count - 1))) }
  }
}
