// Property lists in binary (bplist00): objects side by side, a table of their offsets, and a trailer with the sizes.
//
// Nothing in the file is trusted. Each object is read once, and all together may not have more bytes than the file; what
// is there once and referred to often counts often, up to a limit. So reading takes time in proportion to the file,
// however its objects overlap or contain each other.

/// The objects of a binary property list.
struct BinaryPropertyList {
  let bytes: UnsafeBufferPointer<UInt8>
  /// The bytes of an entry of the table, and of a reference to an object.
  private let offsetSize: Int
  private let referenceSize: Int
  private let root: Int
  private let table: Int
  private var objects: [Object?]
  private var depth = 0
  /// How many bytes objects may still take up.
  private var budget: Int
  /// How many bytes values may have that are there once and stand for many.
  private var expansion: Int
  /// Stands where an object is being read: whoever comes back to it has found a cycle.
  private static var pending: Object { Object(.null, weight: -1) }

  /// An object with everything that it contains.
  struct Object {
    var found: ForeignValue
    /// How many values and bytes it stands for, when what is there once and referred to often is counted often.
    var weight: Int
    /// How many containers stand inside each other.
    var height = 0

    init(_ value: Value, weight: Int = 1, obstacle: String? = nil) {
      found = ForeignValue(value: value, obstacle: obstacle)
      self.weight = weight
    }
  }

  /// Checks the trailer.
  init(_ bytes: UnsafeBufferPointer<UInt8>) throws(StoreError) {
    let trailer = bytes.count - 32
    guard trailer >= 8, bytes.starts(with: "bplist00".utf8) else {
      throw StoreError(.invalid, offset: 0, "the binary property list has no header bplist00, or ends before its trailer")
    }
    self.bytes = bytes
    budget = bytes.count
    expansion = Limits.valueBytes + 64 * bytes.count
    offsetSize = Int(bytes[trailer + 6])
    referenceSize = Int(bytes[trailer + 7])
    guard 1...8 ~= offsetSize, 1...8 ~= referenceSize else {
      throw StoreError(.invalid, offset: trailer + 6, "offsets and references must have 1 to 8 bytes")
    }
    guard let count = Self.number(bytes, at: trailer + 8, size: 8), let root = Self.number(bytes, at: trailer + 16, size: 8),
      let table = Self.number(bytes, at: trailer + 24, size: 8), root < count, 8..<trailer ~= table,
      count <= (trailer - table) / offsetSize, count <= table - 8
    else {
      throw StoreError(
        .invalid, offset: trailer + 8, "the number of objects, the root or the table of offsets does not fit into the file")
    }
    (self.root, self.table) = (root, table)
    objects = Array(repeating: nil, count: count)
  }

  /// The references to the keys and the values of the root; nil if it is no dictionary.
  mutating func rootMembers() throws(StoreError) -> [(key: Int, value: Int)]? {
    let (kind, count, start) = try head(root)
    guard kind == 0xD else { return nil }
    objects[root] = Self.pending
    let references = try references(2 * count, at: start)
    return (0..<count).map { (references[$0], references[count + $0]) }
  }

  /// Reads an object by its number.
  mutating func object(_ number: Int) throws(StoreError) -> ForeignValue {
    let object = try read(number)
    try spend(object.weight)
    return object.found
  }
}

// MARK: - Objects

extension BinaryPropertyList {
  private mutating func read(_ number: Int) throws(StoreError) -> Object {
    if let object = objects[number] {
      guard object.weight >= 0 else {
        throw StoreError(.invalid, offset: try offset(of: number), "an object of the property list contains itself")
      }
      guard depth + object.height <= Limits.nesting else {
        throw StoreError.nestedTooDeeply(at: try offset(of: number))
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
      object.found.losses.insert(.set)
      return object
    case 0xD: return try dictionary(count, at: start)
    default:
      throw StoreError(.invalid, offset: start - 1, "a property list has no object with the marker \(Int(kind) << 4 | count)")
    }
  }

  /// What an object begins with: its kind, its count, and where its content begins.
  private mutating func head(_ number: Int) throws(StoreError) -> (kind: UInt8, count: Int, start: Int) {
    let place = try offset(of: number)
    let marker = try take(1, at: place)[place]
    let (kind, count) = (marker >> 4, Int(marker & 0xF))
    // Only these have as many as follow; with 15 the count is an integer of its own.
    guard count == 0xF, 0x4...0x6 ~= kind || kind >= 0xA else { return (kind, count, place + 1) }
    let size = try take(1, at: place + 1)[place + 1]
    guard size >> 4 == 1, size & 0xF <= 3 else { throw outside(place) }
    let length = 1 << Int(size & 0xF)
    _ = try take(length, at: place + 2)
    guard let count = Self.number(bytes, at: place + 2, size: length), count <= bytes.count else { throw outside(place) }
    return (kind, count, place + 2 + length)
  }

  private func word(_ word: Int, at place: Int) throws(StoreError) -> Object {
    switch word {
    case 0x0: return Object(.null)
    case 0x8: return Object(.bool(false))
    case 0x9: return Object(.bool(true))
    default: throw StoreError(.invalid, offset: place, "a property list has no object with the marker \(word)")
    }
  }

  /// Up to 4 bytes are unsigned, 8 are signed; 16 are written for what is above Int64.max.
  private mutating func integer(size: Int, at start: Int) throws(StoreError) -> Object {
    guard size <= 16 else { throw StoreError(.invalid, offset: start - 1, "an integer has more than 16 bytes") }
    let content = try take(size, at: start)
    let low = content.suffix(8).reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
    guard size == 16 else { return Object(.int(Int64(bitPattern: low))) }
    let high = content.prefix(8).reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
    switch high {
    case 0: return Object(low > Int64.max ? .uint(low) : .int(Int64(low)))
    case .max where low > Int64.max: return Object(.int(Int64(bitPattern: low)))
    default: return Object(.null, obstacle: "an integer has more than 64 bits")
    }
  }

  private mutating func double(size: Int, at start: Int) throws(StoreError) -> Double {
    let bits = try take(size, at: start).reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
    switch size {
    case 4: return Double(Float(bitPattern: UInt32(bits)))
    case 8: return Double(bitPattern: bits)
    default: throw StoreError(.invalid, offset: start - 1, "a real number must have 4 or 8 bytes")
    }
  }

  /// Seconds since 2001-01-01T00:00:00Z.
  private static func date(_ seconds: Double) -> Object {
    let whole = seconds.rounded(.down)
    // False for what is no number, too; the years themselves are the timestamp's affair.
    if abs(whole) < 1e12 {
      let nanoseconds = Int32(min(((seconds - whole) * 1e9).rounded(), 999_999_999))
      if let date = try? Timestamp(seconds: Int64(whole) + 978_307_200, nanoseconds: nanoseconds) {
        return Object(.date(date))
      }
    }
    return Object(.null, obstacle: "a date lies outside the years 1 to 9999")
  }

  private mutating func ascii(_ count: Int, at start: Int) throws(StoreError) -> Object {
    let content = try take(count, at: start)
    guard content.allSatisfy({ $0 < 0x80 }) else {
      throw StoreError(.invalid, offset: start, "a string of ASCII has other bytes too")
    }
    return Object(.string(String(decoding: content, as: UTF8.self)), weight: count + 1)
  }

  private mutating func utf16(_ count: Int, at start: Int) throws(StoreError) -> Object {
    let content = try take(2 * count, at: start)
    var units: [UInt16] = []
    units.reserveCapacity(count)
    for index in 0..<count {
      units.append(UInt16(content[start + 2 * index]) << 8 | UInt16(content[start + 2 * index + 1]))
    }
    let text = String(decoding: units, as: UTF16.self)
    guard text.utf16.elementsEqual(units) else {
      return Object(.null, obstacle: "a string has half of a surrogate pair, which is no character")
    }
    return Object(.string(text), weight: count + 1)
  }
}

// MARK: - Containers

extension BinaryPropertyList {
  private mutating func array(_ count: Int, at start: Int) throws(StoreError) -> Object {
    var elements: [Value] = []
    var object = Object(.null)
    try enter(start)
    for reference in try references(count, at: start) { elements.append(try read(reference).join(&object)) }
    depth -= 1
    object.close(.array(elements))
    return object
  }

  private mutating func dictionary(_ count: Int, at start: Int) throws(StoreError) -> Object {
    var members: [(ExactString, Value)] = []
    var object = Object(.null)
    try enter(start)
    let references = try references(2 * count, at: start)
    for index in 0..<count {
      let key = try read(references[index])
      let name = key.found.asKey
      if name == nil { object.found.obstacle = object.found.obstacle ?? "a dictionary has a key that is no text" }
      object.weight += key.weight
      try spend(key.weight)
      members.append((ExactString(name ?? ""), try read(references[count + index]).join(&object)))
    }
    depth -= 1
    let dictionary = ValueDictionary(members)
    if dictionary.count < count { object.found.losses.insert(.repeatedKey) }
    object.close(.dictionary(dictionary))
    return object
  }

  private mutating func enter(_ start: Int) throws(StoreError) {
    guard depth < Limits.nesting else { throw StoreError.nestedTooDeeply(at: start - 1) }
    depth += 1
  }
}

extension BinaryPropertyList.Object {
  /// Adds what it has to the container that it stands in.
  fileprivate func join(_ container: inout Self) -> Value {
    // Each is at most a little over the limit: see close.
    container.weight += weight
    container.height = max(container.height, height)
    container.found.losses.formUnion(found.losses)
    container.found.obstacle = container.found.obstacle ?? found.obstacle
    return found.value
  }

  /// Ends a container; one that nobody could store is not kept, since its text may be as long as you like.
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
  /// The text that a key can be.
  var asKey: String? { obstacle == nil ? value.asString : nil }
}

// MARK: - Bytes

extension BinaryPropertyList {
  private func offset(of number: Int) throws(StoreError) -> Int {
    let entry = table + number * offsetSize
    guard let offset = Self.number(bytes, at: entry, size: offsetSize), 8..<table ~= offset else {
      throw StoreError(.invalid, offset: entry, "the offset of object \(number) lies outside the objects of the property list")
    }
    return offset
  }

  private mutating func references(_ count: Int, at start: Int) throws(StoreError) -> [Int] {
    guard count <= table / referenceSize else { throw outside(start - 1) }
    let content = try take(count * referenceSize, at: start)
    var references: [Int] = []
    references.reserveCapacity(count)
    for place in stride(from: start, to: start + content.count, by: referenceSize) {
      guard let reference = Self.number(bytes, at: place, size: referenceSize), reference < objects.count else {
        throw StoreError(.invalid, offset: place, "a reference is to an object that the property list has not")
      }
      references.append(reference)
    }
    return references
  }

  /// The bytes of an object, which count against the budget.
  private mutating func take(_ count: Int, at start: Int) throws(StoreError) -> Slice<UnsafeBufferPointer<UInt8>> {
    guard 8...table ~= start, count <= table - start else { throw outside(start) }
    budget -= count
    guard budget >= 0 else {
      throw StoreError(.invalid, offset: start, "the objects of the property list have more bytes than the file: they overlap")
    }
    return bytes[start..<start + count]
  }

  private mutating func spend(_ weight: Int) throws(StoreError) {
    expansion -= weight
    guard expansion >= 0 else {
      throw StoreError(
        .tooLarge, offset: 0, "the property list refers to the same objects so often that its values are far larger than it")
    }
  }

  private func outside(_ offset: Int) -> StoreError {
    StoreError(.invalid, offset: offset, "an object of the property list goes on behind the end of the objects")
  }

  /// A number in big-endian order; nil if it is above Int.max.
  private static func number(_ bytes: UnsafeBufferPointer<UInt8>, at place: Int, size: Int) -> Int? {
    Int(exactly: bytes[place..<place + size].reduce(0 as UInt64) { $0 << 8 | UInt64($1) })
  }
}
