// A dictionary whose keys are compared by their bytes, kept in the order of canonical JSON.

/// A value's members, sorted by the UTF-8 bytes of their keys.
public struct ValueDictionary: Sendable, Hashable {
  // Sorted by key, each key once.
  private var members: [Member] = []

  public struct Member: Sendable, Hashable {
    public let key: ExactString
    public var value: Value

    package init(key: ExactString, value: Value) {
      self.key = key
      self.value = value
    }
  }

  public init() {}

  /// Collects pairs; of two with the same key the later one is kept.
  public init(_ pairs: some Sequence<(ExactString, Value)>) {
    self.init(pairs.map { Member(key: $0, value: $1) })
  }

  /// Takes ownership of members; of two with the same key the later one is kept.
  package init(_ given: consuming [Member]) {
    members = given
    // Canonical JSON is already sorted.
    if zip(members, members.dropFirst()).allSatisfy({ $0.key < $1.key }) { return }
    // The sort is stable, so members with the same key stay in order.
    if members.count <= 16 { sortFew() } else { members = members.inOrder(of: \.key) }
    var count = 0
    for index in members.indices {
      if count > 0, members[count - 1].key == members[index].key { count -= 1 }
      if count < index { members[count] = members[index] }
      count += 1
    }
    members.removeLast(members.count - count)
  }

  /// An insertion sort, which takes no memory.
  private mutating func sortFew() {
    for last in members.indices {
      var place = last
      while place > 0, members[place].key < members[place - 1].key {
        members.swapAt(place, place - 1)
        place -= 1
      }
    }
  }

  /// Returns a dictionary with the same keys and transformed values.
  public func mapValues(_ transform: (Value) throws -> Value) rethrows -> ValueDictionary {
    var result = self
    for index in members.indices { result.members[index].value = try transform(members[index].value) }
    return result
  }

  /// The value of a key; setting nil removes the member.
  public subscript(key: ExactString) -> Value? {
    get {
      let place = firstIndex(notBelow: key)
      return place < members.count && members[place].key == key ? members[place].value : nil
    }
    set {
      let place = firstIndex(notBelow: key)
      let isThere = place < members.count && members[place].key == key
      switch (newValue, isThere) {
      case (let value?, true): members[place].value = value
      case (let value?, false): members.insert(Member(key: key, value: value), at: place)
      case (nil, true): members.remove(at: place)
      case (nil, false): break
      }
    }
  }

  private func firstIndex(notBelow key: ExactString) -> Int {
    var low = 0
    var high = members.count
    while low < high {
      let middle = low + (high - low) / 2
      if members[middle].key < key { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension ValueDictionary: RandomAccessCollection {
  public var startIndex: Int { 0 }
  public var endIndex: Int { members.count }
  public subscript(position: Int) -> Member { members[position] }
}

extension ValueDictionary: ExpressibleByDictionaryLiteral {
  public init(dictionaryLiteral elements: (ExactString, Value)...) { self.init(elements) }
}
