// The container objects of a binary property list, and the reading of each object exactly once.

import KeptCore

extension BinaryPropertyList {
  mutating func read(_ number: Int) throws(StoreError) -> Object {
    if let object = objects[number] {
      guard object.weight >= 0 else {
        throw StoreError(.invalid, offset: try offset(of: number), "an object of the property list contains itself")
      }
      guard depth + object.height <= Self.nesting else {
        throw StoreError.nestedTooDeeply(at: try offset(of: number), limit: Self.nesting)
      }
      return object
    }
    objects[number] = Self.pending
    let object = try readAnew(number)
    objects[number] = object
    return object
  }

  private mutating func readAnew(_ number: Int) throws(StoreError) -> Object {
    let (kind, count, start) = try head(number)
    switch kind {
    case 0x0: return try word(count, at: start - 1)
    case 0x1: return try integer(size: 1 << count, at: start)
    case 0x2: return Object(.double(try double(size: 1 << count, at: start)))
    case 0x3: return Self.date(try double(size: 8, at: start))
    case 0x4: return Object(.bytes(Array(try take(count, at: start))), weight: count + 1)
    case 0x5: return try ascii(count, at: start)
    case 0x6: return try utf16(count, at: start)
    case 0x8: return Object(.null, obstacle: "a UID of a keyed archive has no meaning outside of the archive")
    case 0xA: return try array(count, at: start)
    case 0xB, 0xC:
      var object = try array(count, at: start)
      object.found.losses.set = true
      return object
    case 0xD: return try dictionary(count, at: start)
    default:
      throw StoreError(
        .invalid, offset: start - 1, "no object of a property list has the marker \(Int(kind) << 4 | count)")
    }
  }
}

// MARK: - Containers

extension BinaryPropertyList {
  private mutating func array(_ count: Int, at start: Int) throws(StoreError) -> Object {
    var elements: [Value] = []
    var object = Object(.null)
    try enter(start)
    let references = try references(count, at: start)
    try object.makeRoom(for: count, in: &elements)
    for index in 0..<count {
      let element = try read(try references[index]).join(&object)
      if object.isCarried { elements.append(element) }
    }
    depth -= 1
    object.close(.array(elements))
    return object
  }

  private mutating func dictionary(_ count: Int, at start: Int) throws(StoreError) -> Object {
    var members: [ValueDictionary.Member] = []
    var object = Object(.null)
    try enter(start)
    let references = try references(2 * count, at: start)
    try object.makeRoom(for: count, in: &members)
    // The index of the member for each key object: a repeated key replaces its earlier member, and no other.
    var places: [Int: Int] = [:]
    for index in 0..<count {
      let reference = try references[index]
      let key = try read(reference)
      let name = key.found.asKey
      if name == nil { object.found.obstacle = object.found.obstacle ?? "a dictionary has a key that is no text" }
      object.weight += key.weight
      try spend(key.weight)
      let value = try read(try references[count + index]).join(&object)
      guard object.isCarried else { continue }
      if let place = places[reference] {
        members[place].value = value
      } else {
        places[reference] = members.count
        members.append(ValueDictionary.Member(key: ExactString(name ?? ""), value: value))
      }
    }
    depth -= 1
    guard object.isCarried else {
      object.close(.null)
      return object
    }
    // The sort copies all members and the bytes of their keys; the weight is the sum of the sizes.
    try Memory.ask(for: 128 * members.count + 3 * object.weight, to: "read a property list")
    let dictionary = ValueDictionary(members)
    if dictionary.count < count { object.found.losses.repeatedKey = true }
    object.close(.dictionary(dictionary))
    return object
  }

  /// How many containers may be nested: reading them takes two kilobytes of stack for each.
  private static let nesting = 40

  private mutating func enter(_ start: Int) throws(StoreError) {
    guard depth < Self.nesting else { throw StoreError.nestedTooDeeply(at: start - 1, limit: Self.nesting) }
    depth += 1
  }
}

extension BinaryPropertyList.Object {
  /// Adds the weight and height of this object to the enclosing container.
  fileprivate func join(_ container: inout Self) -> Value {
    // Each weight exceeds the limit by little at most: see close.
    container.weight += weight
    container.height = max(container.height, height)
    container.found.losses.add(found.losses)
    container.found.obstacle = container.found.obstacle ?? found.obstacle
    return found.value
  }

  /// Whether it can still be a storable value.
  fileprivate var isCarried: Bool { found.obstacle == nil && weight <= Limits.valueBytes }

  /// Reserves room for a number of elements or members.
  ///
  /// Throws `failed` if there is not enough memory for them. If their text alone would be too long, nothing is
  /// reserved.
  fileprivate mutating func makeRoom<Element>(for count: Int, in elements: inout [Element]) throws(StoreError) {
    // Each needs at least two bytes of JSON.
    if count > Limits.valueBytes / 2 { weight = Limits.valueBytes + 1 }
    guard isCarried else { return }
    try Memory.ask(for: count * MemoryLayout<Element>.stride, to: "read a property list")
    elements.reserveCapacity(count)
  }

  /// Ends a container.
  ///
  /// One that cannot be stored is not kept, because its text may be arbitrarily long.
  fileprivate mutating func close(_ value: Value) {
    height += 1
    if weight > Limits.valueBytes {
      weight = Limits.valueBytes + 1
      found.obstacle = found.obstacle ?? "the value has more than \(Limits.valueBytes) bytes"
    }
    found.value = found.obstacle == nil ? value : .null
  }
}

extension ForeignValue {
  /// The text, if it can be a key.
  var asKey: String? { obstacle == nil ? value.asString : nil }
}
